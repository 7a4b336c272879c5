// SPDX-License-Identifier: BSD-2-Clause
// The layouts that sliding windows (convolution, pooling) read and write, and the division of a
// rank's outputs into an interior and strips (windowPieces). For a window of 3 with padding 1 on 8
// elements split at 0, 4, 8, rank 0 computes outputs 0 to 3:
//
//   owned inputs    0 1 2 3            plain layout, without halos
//   inputs read     0 1 2 3 | 4        use layout: the halo is element 4
//   outputs         0 1 2 | 3          interior, and a strip above it, which waits for element 4
//
// A halo is added only in a dimension in which some block reads elements that it does not own: an
// unused halo would turn a local read into an exchange. The other functions are checks and texts of
// windows, and the labels of image dimensions.
#include "declaration/core/window_layout.hpp"

#include "geometry/schedule/refill.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

namespace tenon {

namespace {

// Position of outputs of a block in one dimension, relative to the block's interior: at smaller
// indices, inside, at larger indices, or anywhere.
enum Zone { kBelow, kInside, kAbove, kAll };

// The outputs of one block in one dimension, by zone.
using PartOutputs = std::array<Interval, 4>;

// The outputs of all blocks of a dimension by zone.
std::vector<PartOutputs> cutParts(const Window& window, const Layout& plain, const Layout& output,
                                  int dim) {
  std::vector<PartOutputs> parts;
  for (int part = 0; part < plain.parts(dim); ++part) {
    const Interval all = output.owned(dim, part);
    const Interval inside =
        interiorOutputs(window, plain.shape()[dim], plain.owned(dim, part), all);
    parts.push_back(
        {Interval{all.begin, inside.begin}, inside, Interval{inside.end, all.end}, all});
  }
  return parts;
}

// Divides the outputs of all blocks into interiors and strips, and finds the input that each reads.
class Cutter {
public:
  Cutter(const std::vector<Window>& windows, const Layout& plain, const Layout& output)
      : windows_(windows), plain_(plain), output_(output) {
    for (int d = kFirstSpatial; d < plain.ndim(); ++d)
      parts_.push_back(cutParts(windows[d - kFirstSpatial], plain, output, d));
  }

  // Whether some block has outputs in this zone.
  bool exists(int dim, Zone where) const {
    return std::ranges::any_of(partsOf(dim),
                               [=](const PartOutputs& part) { return !part[where].empty(); });
  }

  // The outputs of one rank that are in zone `where` of `dim`, inside in the dimensions before it
  // and anywhere in those after it, which makes strips of different dimensions disjoint at corners.
  Box outputs(int position, int dim, Zone where) const {
    Box box = output_.box(position);
    // A rank that is not in the grid, or has no batch entries or channels, has no strips.
    if (elements(box) == 0)
      return box;
    for (int d = kFirstSpatial; d < plain_.ndim(); ++d)
      box[d] = partsOf(d)[plain_.part(position, d)][whereIn(d, dim, where)];
    return box;
  }

  std::vector<Box> allOutputs(int dim, Zone where) const {
    std::vector<Box> boxes;
    for (int position = 0; position < output_.grid().size(); ++position)
      boxes.push_back(outputs(position, dim, where));
    return boxes;
  }

  // The input layout that these outputs read.
  Layout use(int dim, Zone where) const {
    LayoutSpec spec = plain_.spec();
    for (int d = kFirstSpatial; d < plain_.ndim(); ++d)
      spec.halos[d] = halo(d, whereIn(d, dim, where));
    return Layout(std::move(spec));
  }

private:
  // The zone in dimension d of the strip that is in zone `where` of dimension `dim`.
  static Zone whereIn(int d, int dim, Zone where) {
    return d < dim ? kInside : d == dim ? where : kAll;
  }
  const std::vector<PartOutputs>& partsOf(int dim) const { return parts_[dim - kFirstSpatial]; }

  // The halo that these outputs read, or none if every block reads exactly the elements it owns.
  std::optional<Halo> halo(int dim, Zone where) const {
    const Window& window = windows_[dim - kFirstSpatial];
    Halo halo = haloOf(window, plain_.shape()[kChannelDim]);
    bool isNeeded = false;
    for (int part = 0; part < plain_.parts(dim); ++part) {
      const Interval owned = plain_.owned(dim, part);
      Interval box = windowBox(window, plain_.shape()[dim], partsOf(dim)[part][where]);
      if (box.empty())
        box = {owned.begin, owned.begin};
      isNeeded |= !(box == owned);
      halo.boxes.push_back(box);
    }
    return isNeeded ? std::optional(std::move(halo)) : std::nullopt;
  }

  const std::vector<Window>& windows_;
  const Layout& plain_;
  const Layout& output_;
  std::vector<std::vector<PartOutputs>> parts_; // by spatial dimension
};

} // namespace

std::vector<FormPiece> windowPieces(const std::vector<Window>& windows, const Layout& plain,
                                    const Layout& output) {
  const Cutter cutter(windows, plain, output);
  std::vector<FormPiece> pieces = {{plain, cutter.allOutputs(plain.ndim(), kInside)}};
  for (int d = kFirstSpatial; d < plain.ndim(); ++d)
    for (Zone where : {kBelow, kAbove})
      if (cutter.exists(d, where))
        pieces.push_back({cutter.use(d, where), cutter.allOutputs(d, where)});
  return pieces;
}

Halo haloOf(const Window& window, Index channels) {
  Halo halo{.boxes = {}, .low = window.lowMode, .high = window.highMode, .bands = window.bands};
  if (window.longitudes >= 0)
    halo.longitudes = window.longitudes + kFirstSpatial;
  for (ModeBand& band : halo.bands)
    band.end = std::min(band.end, channels);
  return halo;
}

bool hasUserMode(const Window& window) {
  return isUserSupplied(window.lowMode) || isUserSupplied(window.highMode) ||
         std::ranges::any_of(window.bands, [](const ModeBand& band) {
           return isUserSupplied(band.low) || isUserSupplied(band.high);
         });
}

void checkWindows(const std::vector<Window>& windows, const std::string& who) {
  if (windows.empty() || windows.size() > kMaxSpatial)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} must have 1 to {} spatial dimensions, but {} were given", who,
                            kMaxSpatial, windows.size()));
}

namespace {

// The texts of all dimensions, "3x3", or one text if all are equal.
template <class TextOf>
std::string acrossDims(const std::vector<Window>& windows, const char* separator, TextOf textOf) {
  std::vector<std::string> texts;
  for (const Window& w : windows)
    texts.push_back(textOf(w));
  const bool equal =
      std::adjacent_find(texts.begin(), texts.end(), std::not_equal_to<>()) == texts.end();
  return equal ? texts.front() : joined(texts, separator);
}

std::string sidesText(const std::string& low, const std::string& high, const char* separator) {
  return low == high ? low : low + separator + high;
}

} // namespace

std::string describe(const std::vector<Window>& windows) {
  std::string text = "kernel ";
  for (const Window& w : windows)
    text += fmt::format("{}{}", &w == &windows.front() ? "" : "x", w.kernel);
  const auto number = [](Index Window::*field) {
    return [field](const Window& w) { return std::to_string(w.*field); };
  };
  text += ", stride " + acrossDims(windows, "x", number(&Window::stride));
  const std::string dilation = acrossDims(windows, "x", number(&Window::dilation));
  const std::string padding = acrossDims(windows, " x ", [](const Window& w) {
    return sidesText(std::to_string(w.padLow), std::to_string(w.padHigh), " + ");
  });
  const std::string modes = acrossDims(windows, ",", [](const Window& w) {
    return sidesText(boundaryName(w.lowMode), boundaryName(w.highMode), "/");
  });
  const std::string ceil =
      acrossDims(windows, ",", [](const Window& w) { return std::string(w.ceil ? "up" : "down"); });
  text += dilation == "1" ? "" : ", dilation " + dilation;
  text += padding == "0" ? "" : ", padding " + padding;
  text += modes == "none" || haveModesByChannel(windows) ? "" : ", boundary " + modes;
  return text + (ceil == "down" ? "" : ", output rounded " + ceil);
}

const char* spatialLabel(int spatialDim, int spatialRank) {
  static constexpr const char* kLabels[] = {"d", "h", "w"};
  return kLabels[spatialDim + kMaxSpatial - spatialRank];
}

SignatureTable imageTable(int spatialRank, bool linear) {
  SignatureTable table = elementwiseTable(spatialRank + kFirstSpatial, linear);
  table[0].label = "n";
  table[1].label = "c";
  for (int s = 0; s < spatialRank; ++s)
    table[s + kFirstSpatial].label = spatialLabel(s, spatialRank);
  return table;
}

int spatialRankOf(const Shape& input, const std::string& who) {
  const int spatial = static_cast<int>(input.size()) - kFirstSpatial;
  if (spatial < 1 || spatial > kMaxSpatial)
    throw Error(TENON_ERR_SHAPE, fmt::format("the input has shape [{1}], but {0} needs batch, "
                                             "channel and 1 to {2} spatial dimensions",
                                             who, fmt::join(input, ","), kMaxSpatial));
  return spatial;
}

Index numberPerDimension(const std::vector<Index>& numbers, int spatialDim, int spatialRank,
                         std::string_view name, const std::string& who) {
  if (numbers.size() != 1 && static_cast<int>(numbers.size()) != spatialRank)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} of {} has {}, but the input has {} spatial dimensions; give one "
                            "for all or one each",
                            name, who, counted(static_cast<Index>(numbers.size()), "number"),
                            spatialRank));
  return numbers.size() == 1 ? numbers.front() : numbers[spatialDim];
}

Shape windowOutputShape(const std::vector<Window>& windows, const Shape& input, Index outChannels,
                        const std::string& who) {
  const int spatial = static_cast<int>(windows.size());
  if (static_cast<int>(input.size()) != spatial + kFirstSpatial)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has shape [{3}], but {0} needs {1} dimensions (batch, "
                            "channel and {2} spatial)",
                            who, spatial + kFirstSpatial, spatial, fmt::join(input, ",")));
  Shape shape = {input[0], outChannels};
  Index taps = 1;
  for (int s = 0; s < spatial; ++s) {
    try {
      shape.push_back(windowOutput(windows[s], input[s + kFirstSpatial], s));
    } catch (const Error& error) { // a window does not know its layer: add the name
      throw Error(error.code(), fmt::format("{}: {}", who, error.text()), error.where());
    }
    taps = checkedProduct(taps, windows[s].kernel, "the number of elements of a window");
  }
  return shape;
}

Layout windowOutputLayout(const std::vector<Window>& windows, const Layout& plainUse,
                          const Shape& shape, const TensorSignature& requested,
                          const std::vector<Index>& channelCuts, OutputCuts cuts) {
  LayoutSpec spec{.shape = shape, .grid = plainUse.gridPtr(), .properties = requested.properties};
  spec.splitAxes.resize(shape.size());
  spec.cuts.resize(shape.size());
  auto follow = [&](int d, std::vector<Index> where) {
    spec.splitAxes[d] = plainUse.splitAxes(d);
    spec.cuts[d] = std::move(where);
  };
  // Batch and space follow the input, so each output is computed where its window is read. Channels
  // of the output are not those of the input, and follow them only if the type says how.
  spec.splitAxes[1] = splitOrder(requested, 1);
  follow(0, plainUse.cuts(0));
  if (!channelCuts.empty())
    follow(1, channelCuts);
  for (int d = kFirstSpatial; d < plainUse.ndim(); ++d)
    // A dimension without split points is balanced.
    follow(d, cuts == OutputCuts::Balanced
                  ? std::vector<Index>()
                  : windowCuts(windows[d - kFirstSpatial], plainUse.cuts(d), shape[d]));
  return Layout(std::move(spec));
}

Layout withHalosOf(const Layout& computedHalo, const Layout& plain) {
  LayoutSpec spec = plain.spec();
  for (int d = 0; d < plain.ndim(); ++d)
    if (d != kChannelDim)
      spec.halos[d] = computedHalo.halo(d);
  return Layout(std::move(spec));
}

Layout windowUseLayout(const std::vector<Window>& windows, const Layout& plainUse,
                       const Layout& output) {
  LayoutSpec spec = plainUse.spec();
  for (int d = kFirstSpatial; d < plainUse.ndim(); ++d) {
    const Window& window = windows[d - kFirstSpatial];
    Halo halo = haloOf(window, plainUse.shape()[kChannelDim]);
    // Rounded up, the last window can extend past the elements that negative padding leaves. The
    // box of a halo ends there, so the kernel does not read the elements that are skipped.
    bool isNeeded = window.ceil && window.padHigh < 0;
    for (int part = 0; part < plainUse.parts(d); ++part) {
      const Interval outputs = output.box(d, part);
      const Interval box = windowBox(withHighPaddingFor(window, outputs, output.shape()[d]),
                                     plainUse.shape()[d], outputs);
      const Interval owned = plainUse.owned(d, part);
      isNeeded |= !box.empty() && (box.begin < owned.begin || box.end > owned.end);
      halo.boxes.push_back(box);
    }
    if (isNeeded)
      spec.halos[d] = std::move(halo);
  }
  return Layout(std::move(spec));
}

bool holdsAllOf(const Layout& filled, const Layout& use) {
  if (!(filled.withoutHalos() == use.withoutHalos()))
    return false;
  for (int d = 0; d < use.ndim(); ++d) {
    const Boundary none = Boundary::None;
    const auto &from = filled.halo(d), &to = use.halo(d);
    // Contributions are not values until they are summed.
    if (from && from->isPartial)
      return false;
    for (int part = 0; part < use.parts(d); ++part) {
      const Interval heldBox = filled.box(d, part), usedBox = use.box(d, part);
      if (usedBox.empty())
        continue;
      const bool leavesDomain =
          to && !to->bands.empty() && (usedBox.begin < 0 || usedBox.end > use.shape()[d]);
      // Outside the domain a value depends on the boundary mode of its side, so the modes must
      // agree where elements are read there. `to` exists there: an owned box ends with the domain.
      if (usedBox.begin < heldBox.begin || usedBox.end > heldBox.end ||
          (usedBox.begin < 0 && to->low != (from ? from->low : none)) ||
          (usedBox.end > use.shape()[d] && to->high != (from ? from->high : none)) ||
          (leavesDomain && !(from && from->bands == to->bands)) ||
          (from && to && from->longitudes != to->longitudes))
        return false;
    }
  }
  return true;
}

void checkFilledHalo(const Layout& input, const Layout& use, const std::string& who) {
  if (input.hasHalos() && !holdsAllOf(input, use) && !canRefill(input, use))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the halos of the input of {} do not hold what its windows read: the "
                            "layout is {}, but {} is needed; widen the halos, with the boundary "
                            "modes of the layer, or pass the input without halos, which the layer "
                            "then adds itself",
                            who, input.describe(), use.describe()));
}

// Translates a window from global indices to indices in the arrays of this rank. For example, a
// kernel of 3 elements with padding 1 on elements [4,8) of 8, with a halo of 1 below: in = [3,8),
// out = [4,8), padLow = 0 (the halo replaces the padding), padEnd = 8 + 1 - 3 = 6.
WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out) {
  WindowShape local;
  local.rank = static_cast<int>(windows.size());
  for (int s = 0; s < local.rank; ++s) {
    const int d = s + kFirstSpatial;
    const Window window =
        withHighPaddingFor(windows[s], out[d], windowOutput(windows[s], shape[d], s));
    local.in[s] = in[d].size();
    local.out[s] = out[d].size();
    local.kernel[s] = windows[s].kernel;
    local.stride[s] = windows[s].stride;
    local.dilation[s] = windows[s].dilation;
    local.padLow[s] = out[d].empty() ? 0 : in[d].begin - windowInput(windows[s], out[d]).begin;
    local.padEnd[s] = shape[d] + window.padHigh - in[d].begin;
  }
  return local;
}

} // namespace tenon
