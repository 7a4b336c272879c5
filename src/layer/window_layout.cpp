// SPDX-License-Identifier: BSD-2-Clause
#include "layer/window_layout.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

void checkWindows(const std::vector<Window>& windows, const std::string& who) {
  if (windows.empty() || windows.size() > kMaxSpatial)
    throw Error(TENON_ERR_ARG, fmt::format("{} has 1 to {} spatial dimensions, not {}", who,
                                           kMaxSpatial, windows.size()));
}

std::string describe(const std::vector<Window>& windows) {
  std::string text;
  for (const Window& w : windows) {
    if (!text.empty())
      text += " x ";
    text += fmt::format("(kernel {} stride {} dilation {} padding {}+{}{}", w.kernel, w.stride,
                        w.dilation, w.padLow, w.padHigh, w.ceil ? " ceil" : "");
    if (w.lowMode != Boundary::None || w.highMode != Boundary::None)
      text += fmt::format(" {}/{}", boundaryName(w.lowMode), boundaryName(w.highMode));
    text += ')';
  }
  return text;
}

const char* spatialLetter(int spatialDim, int spatialRank) {
  static constexpr const char* kLetters[] = {"d", "h", "w"};
  return kLetters[spatialDim + kMaxSpatial - spatialRank];
}

Shape windowOutputShape(const std::vector<Window>& windows, const Layout& input, Index outChannels,
                        const std::string& who) {
  const int spatial = static_cast<int>(windows.size());
  if (input.rank() != spatial + kFirstSpatial)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format(
            "{} wants an input of {} dimensions (batch, channel and {} spatial), but got [{}]", who,
            spatial + kFirstSpatial, spatial, fmt::join(input.shape(), ",")));
  Shape shape = {input.shape()[0], outChannels};
  for (int s = 0; s < spatial; ++s)
    shape.push_back(windowOutput(windows[s], input.shape()[s + kFirstSpatial], s));
  return shape;
}

Layout windowOutputLayout(const std::vector<Window>& windows, const Layout& plainUse,
                          const Shape& shape, const Properties& properties,
                          const std::vector<Index>& channelCuts) {
  LayoutSpec spec{.shape = shape, .mesh = plainUse.meshPtr(), .properties = properties};
  spec.splitAxes.resize(shape.size());
  spec.cuts.resize(shape.size());
  auto follow = [&](int d, std::vector<Index> cuts) {
    spec.splitAxes[d] = plainUse.splitAxes(d);
    spec.cuts[d] = std::move(cuts);
  };
  follow(0, plainUse.cuts(0));
  if (!channelCuts.empty())
    follow(1, channelCuts);
  for (int d = kFirstSpatial; d < plainUse.rank(); ++d)
    follow(d, windowCuts(windows[d - kFirstSpatial], plainUse.cuts(d), shape[d]));
  return Layout(std::move(spec));
}

Layout windowUseLayout(const std::vector<Window>& windows, const Layout& plainUse,
                       const Layout& output) {
  LayoutSpec spec = plainUse.spec();
  for (int d = kFirstSpatial; d < plainUse.rank(); ++d) {
    const Window& window = windows[d - kFirstSpatial];
    Margin margin{.boxes = {}, .low = window.lowMode, .high = window.highMode};
    bool needed = window.ceil && window.padHigh < 0; // else a last window would read on
    for (int part = 0; part < plainUse.parts(d); ++part) {
      const Interval box = windowBox(window, plainUse.shape()[d], output.owned(d, part));
      const Interval owned = plainUse.owned(d, part);
      needed |= !box.empty() && (box.begin < owned.begin || box.end > owned.end);
      margin.boxes.push_back(box);
    }
    if (needed)
      spec.margins[d] = std::move(margin);
  }
  return Layout(std::move(spec));
}

WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out) {
  WindowShape local;
  local.rank = static_cast<int>(windows.size());
  for (int s = 0; s < local.rank; ++s) {
    const int d = s + kFirstSpatial;
    local.in[s] = in[d].size();
    local.out[s] = out[d].size();
    local.kernel[s] = windows[s].kernel;
    local.stride[s] = windows[s].stride;
    local.dilation[s] = windows[s].dilation;
    local.padLow[s] = out[d].empty() ? 0 : in[d].begin - windowInput(windows[s], out[d]).begin;
    local.padEnd[s] = shape[d] + windows[s].padHigh - in[d].begin;
  }
  return local;
}

} // namespace tenon
