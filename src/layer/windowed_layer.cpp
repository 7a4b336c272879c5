// SPDX-License-Identifier: BSD-2-Clause
#include "layer/windowed_layer.hpp"

#include "declaration/window_layout.hpp"
#include "sys/options.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"boundary", OptionSpec::String, "none",
     "boundary mode of the padding: none, zero, periodic, reflect, replicate or values, or "
     "low/high of these; one for all spatial dimensions, or one each, separated by commas"},
    {"boundary_constant", OptionSpec::Real, "0",
     "value used for boundary mode values instead of a second input"},
};
const OptionRegistration kRegistration{{"window", kOptions}};

std::vector<std::string_view> splitAt(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

} // namespace

WindowedLayer::WindowedLayer(CommPtr comm, std::vector<Window> windows)
    : KernelLayer(std::move(comm)), windows_(std::move(windows)) {
  checkWindows(windows_, title());
}

void WindowedLayer::setWindows(std::vector<Window> windows) {
  checkBeforeSetUp("changing the window");
  checkWindows(windows, title());
  if (windows.size() != windows_.size())
    throw Error(TENON_ERR_ARG,
                fmt::format("{2} windows were given, but {0} has {1} spatial dimensions", title(),
                            windows_.size(), windows.size()));
  windows_ = std::move(windows);
}

void WindowedLayer::setBoundaryConstant(double value) {
  checkBeforeSetUp("TenonLayerSetBoundaryConstant()");
  if (!std::isfinite(value))
    throw Error(TENON_ERR_ARG, fmt::format("the boundary constant of {} is {}; it must be finite",
                                           title(), value));
  constant_ = value;
}

void WindowedLayer::setFromOptions() {
  KernelLayer::setFromOptions();
  if (const auto text = options().findString(prefix(), "boundary"))
    readBoundary(*text);
  if (const auto value = options().findReal(prefix(), "boundary_constant"))
    setBoundaryConstant(*value);
}

void WindowedLayer::readBoundary(const std::string& text) {
  const auto words = splitAt(text, ',');
  if (words.size() != 1 && words.size() != windows_.size())
    throw Error(TENON_ERR_OPTION,
                fmt::format("the option boundary \"{}\" has {} modes, but {} has "
                            "{}; give one for all or one each",
                            text, words.size(), title(),
                            counted(static_cast<Index>(windows_.size()), "spatial dimension")));
  std::vector<Window> changed = windows_;
  for (std::size_t d = 0; d < changed.size(); ++d) {
    const auto sides = splitAt(words[words.size() == 1 ? 0 : d], '/');
    if (sides.size() > 2)
      throw Error(TENON_ERR_OPTION, fmt::format("the option boundary \"{}\" of {} has {} modes for "
                                                "one dimension; give one mode or low/high",
                                                text, title(), sides.size()));
    try {
      changed[d].lowMode = parseBoundary(sides.front());
      changed[d].highMode = parseBoundary(sides.back());
    } catch (const Error& error) {
      throw Error(TENON_ERR_OPTION,
                  fmt::format("the option boundary \"{}\" of {}: {}", text, title(), error.text()));
    }
  }
  setWindows(std::move(changed));
}

std::optional<CallersValues> WindowedLayer::callersValues() const {
  const bool has = std::ranges::any_of(windows_, [](const Window& window) {
    return isCallers(window.lowMode) || isCallers(window.highMode);
  });
  return has ? std::optional(CallersValues{constant_}) : std::nullopt;
}

Layout WindowedLayer::boundaryLayout(const Layout& input) const {
  const std::optional<CallersValues> callers = callersValues();
  if (!callers || callers->constant)
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} does not have a second input for boundary values: {}", title(),
            callers ? "it has a boundary constant"
                    : "no side has boundary mode \"values\"; set it with TenonLayerSetBoundary()"));
  return windowPlan(input).use;
}

void WindowedLayer::checkHalo(const Layout& input, const Layout& use) const {
  if (!input.hasMargins())
    return;
  if (callersValues())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the input of {} has halos ({}), but a side of the window has boundary "
                            "mode \"values\"; pass the input without halos",
                            title(), input.describe()));
  if (!holdsAllOf(input, use))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the halos of the input of {} do not hold what its windows read: the "
                            "layout is {}, but {} is needed; widen the halos, with the boundary "
                            "modes of the layer, or pass the input without halos, which the layer "
                            "then adds itself",
                            title(), input.describe(), use.describe()));
}

std::string WindowedLayer::describeWindows() const {
  return tenon::describe(windows_) +
         (constant_ ? fmt::format(", boundary constant {}", *constant_) : "");
}

} // namespace tenon
