// SPDX-License-Identifier: BSD-2-Clause
// Completes and checks the specification of a layout, and derives other layouts from it. Derived
// data is computed in the constructor and shared by copies. The compared data (`Spread`, cuts,
// halos) is less than the specification, so the texts of equal layouts can differ.
#include "geometry/layout/layout.hpp"

#include "geometry/layout/cuts.hpp"
#include "geometry/layout/shared_values.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

std::vector<int> axesThatSplit(const LayoutSpec& spec, int dim) {
  std::vector<int> axes;
  for (int axis = 0; axis < spec.grid->axes(); ++axis)
    if (!spec.grid->isTrivial(axis) && spec.properties[axis] == Property::shard(dim))
      axes.push_back(axis);
  return axes;
}

// True if the axis exists and has one process; a split order can contain any number.
bool isTrivial(const Grid& grid, int axis) {
  return axis >= 0 && axis < grid.axes() && grid.isTrivial(axis);
}

// Throws unless the size in bytes of that many elements fits into 64 bits. An extent of 0 counts as
// 1, to bound the product of the other extents too.
void checkCount(const Shape& extents, const char* what) {
  Index product = 1;
  for (Index extent : extents) {
    if (extent > kMaxElements / product)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} [{}] has more elements than the {} whose bytes a 64-bit integer counts",
                      what, fmt::join(extents, ","), kMaxElements));
    product *= std::max<Index>(extent, 1);
  }
}

void checkShapeAndProperties(const LayoutSpec& spec) {
  const int rank = static_cast<int>(spec.shape.size());
  if (rank < 1 || rank > kMaxDims)
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("a tensor must have 1 to {} dimensions, but the shape has {}", kMaxDims, rank));
  for (int d = 0; d < rank; ++d)
    if (spec.shape[d] < 0)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("dimension {} of the shape has extent {}; it must be >= 0", d,
                              spec.shape[d]));
  checkCount(spec.shape, "a tensor of shape");
  if (!spec.grid)
    throw Error(TENON_ERR_LAYOUT,
                "the layout has no process grid; create it on one with TenonLayoutCreate()");
  if (static_cast<int>(spec.properties.size()) != spec.grid->axes())
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format(
            "process grid {} has {}, but {} given: \"{}\"; pass one property per grid axis",
            spec.grid->describe(), counted(spec.grid->axes(), "axis", "axes"),
            counted(static_cast<Index>(spec.properties.size()), "property was", "properties were"),
            describe(spec.properties)));
  for (int axis = 0; axis < spec.grid->axes(); ++axis) {
    const Property p = spec.properties[axis];
    if (p.isShard() && (p.dim < 0 || p.dim >= rank))
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format(
              "grid axis {} has the property S{}, but the tensor [{}] has dimensions 0 to {}", axis,
              p.dim, fmt::join(spec.shape, ","), rank - 1));
  }
}

void completeSplit(LayoutSpec& spec, int dim) {
  const std::vector<int> axes = axesThatSplit(spec, dim);
  std::vector<int>& order = spec.splitAxes[dim];
  // A split order can contain axes of one process, which split nothing.
  std::erase_if(order, [&](int axis) { return isTrivial(*spec.grid, axis); });
  if (order.empty())
    order = axes;
  if (!std::is_permutation(order.begin(), order.end(), axes.begin(), axes.end()))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("dimension {} is split by the grid axes {}, but the split order lists "
                            "{}; pass the same axes in any order",
                            dim, fmt::join(axes, ","), fmt::join(order, ",")));
  std::vector<int> parts;
  int product = 1;
  for (int axis : order) {
    parts.push_back(spec.grid->extent(axis));
    product *= parts.back();
  }
  if (spec.cuts[dim].empty())
    spec.cuts[dim] = nestedCuts(spec.shape[dim], parts);
  checkCuts(spec.cuts[dim], spec.shape[dim], product, dim);
}

// Merges runs with equal modes, such that equal layouts compare equal, and checks the rest.
void completeBands(const LayoutSpec& spec, int dim, Halo& halo) {
  std::vector<ModeBand> bands;
  for (const ModeBand& band : halo.bands) {
    if (band.end <= (bands.empty() ? 0 : bands.back().end))
      continue;
    if (!bands.empty() && bands.back().low == band.low && bands.back().high == band.high)
      bands.back().end = band.end;
    else
      bands.push_back(band);
  }
  halo.bands.clear();
  if (bands.empty())
    return;
  halo.low = bands.front().low;
  halo.high = bands.front().high;
  if (dim == kChannelDim || spec.shape.size() <= kChannelDim || spec.halos[kChannelDim])
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the halo of dimension {} has boundary modes by channel, which needs "
                            "channels in dimension {} that have no halo themselves",
                            dim, kChannelDim));
  if (bands.back().end != spec.shape[kChannelDim])
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the halo of dimension {} has boundary modes for {} channels, but "
                            "dimension {} has {}",
                            dim, bands.back().end, kChannelDim, spec.shape[kChannelDim]));
  if (bands.size() == 1)
    return;
  for (const ModeBand& band : bands)
    for (const auto& [mode, first] : {std::pair(band.low, halo.low), {band.high, halo.high}})
      // Without a mode the boxes end with the domain, and boxes are the same for all channels.
      if (mode == Boundary::Linked || (mode == Boundary::None) != (first == Boundary::None))
        throw Error(TENON_ERR_LAYOUT,
                    fmt::format("the halo of dimension {} has boundary modes {} and {} on one side "
                                "of different channels; \"none\" is that of all channels or of no "
                                "channel, and \"linked\" has no channels; use \"zero\"",
                                dim, boundaryName(first), boundaryName(mode)));
  halo.bands = std::move(bands);
}

void completeHalo(LayoutSpec& spec, int dim) {
  std::optional<Halo>& optionalHalo = spec.halos[dim];
  if (!optionalHalo)
    return;
  Halo& halo = *optionalHalo;
  if (halo.boxes.size() + 1 != spec.cuts[dim].size())
    throw Error(TENON_ERR_LAYOUT, fmt::format("dimension {} is split into {} parts, but {} halo "
                                              "boxes were given; pass one box per part",
                                              dim, spec.cuts[dim].size() - 1, halo.boxes.size()));
  if ((halo.low == Boundary::Linked) != (halo.high == Boundary::Linked))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the halo of dimension {} has boundary modes {} and {}; the mode "
                            "\"linked\" is that of both sides or of none",
                            dim, boundaryName(halo.low), boundaryName(halo.high)));
  completeBands(spec, dim, halo);
  const Index extent = spec.shape[dim];
  for (Interval& box : halo.boxes) {
    // A side without a mode has no elements beyond the domain. All empty boxes become the same,
    // such that equal layouts compare equal. The bound keeps sums and differences of indices within
    // 64 bits.
    if (halo.low == Boundary::None)
      box.begin = std::max<Index>(box.begin, 0);
    if (halo.high == Boundary::None)
      box.end = std::min(box.end, extent);
    if (box.empty())
      box = {0, 0};
    if (box.begin < -kMaxElements || box.end > kMaxElements)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the halo of dimension {} has the box {}:{}; expected one between "
                              "{} and {}",
                              dim, box.begin, box.end, -kMaxElements, kMaxElements));
  }
}

bool rises(const std::vector<Interval>& boxes) { // for boxesRise()
  for (std::size_t part = 1; part < boxes.size(); ++part)
    if (boxes[part].begin < boxes[part - 1].begin || boxes[part].end < boxes[part - 1].end)
      return false;
  return true;
}

// Number of empty parts before each part, or an empty list if no part is empty, the usual case.
std::vector<int> emptyBefore(const std::vector<Index>& cuts) {
  if (std::ranges::adjacent_find(cuts) == cuts.end())
    return {};
  std::vector<int> before(cuts.size(), 0);
  for (std::size_t part = 0; part + 1 < cuts.size(); ++part)
    before[part + 1] = before[part] + (cuts[part] == cuts[part + 1]);
  return before;
}

} // namespace

Property Property::dual() const {
  switch (kind) {
  case PropertyKind::Broadcast:
    return partial();
  case PropertyKind::Partial:
    return broadcast();
  case PropertyKind::Shard:
  case PropertyKind::Root:
    break;
  }
  return *this;
}

Layout::Layout(LayoutSpec spec) {
  checkShapeAndProperties(spec);
  const std::size_t rank = spec.shape.size();
  for (std::size_t listSize : {spec.splitAxes.size(), spec.cuts.size(), spec.halos.size()})
    if (listSize != 0 && listSize != rank)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("split orders, split points and halos must be given for all {} "
                              "dimensions or for none, but were given for {}",
                              rank, listSize));
  spec.splitAxes.resize(rank);
  spec.cuts.resize(rank);
  spec.halos.resize(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    // Splits come first: a halo has one box per part.
    completeSplit(spec, static_cast<int>(d));
    completeHalo(spec, static_cast<int>(d));
  }
  completePoles(spec);
  Data data{.shape = std::move(spec.shape),
            .grid = std::move(spec.grid),
            .properties = std::move(spec.properties),
            .splitAxes = std::move(spec.splitAxes),
            .splits = {},
            .margins = {},
            .spread = {},
            .mostOwnedElements = 0};
  Shape maxOwned, maxBoxes; // The largest extents of a part in each dimension.
  for (std::size_t d = 0; d < rank; ++d) {
    data.splits.push_back(shared(Split(std::move(spec.cuts[d]))));
    data.margins.push_back(shared(Margin(std::move(spec.halos[d]))));
    maxOwned.push_back(data.splits[d]->widest);
    maxBoxes.push_back(data.margins[d]->halo ? data.margins[d]->widest : maxOwned[d]);
  }
  // Halos can make a local array larger than the tensor, so its size is checked separately.
  checkCount(maxBoxes, "a part of extents");
  data.mostOwnedElements = elements(maxOwned);
  data.spread = spreadOf(*data.grid, data.properties, data.splitAxes);
  data_ = std::make_shared<const Data>(std::move(data));
}

Layout::Split::Split(std::vector<Index> points)
    : cuts(std::move(points)), emptyBefore(tenon::emptyBefore(cuts)), widest(0) {
  for (std::size_t part = 0; part + 1 < cuts.size(); ++part)
    widest = std::max(widest, cuts[part + 1] - cuts[part]);
}

std::size_t Layout::Split::hash() const noexcept {
  std::size_t hash = cuts.size();
  for (const Index cut : cuts)
    hash = mixed(hash, static_cast<std::size_t>(cut));
  return hash;
}

Layout::Margin::Margin(std::optional<Halo> requested) : halo(std::move(requested)) {
  if (!halo)
    return;
  rises = tenon::rises(halo->boxes);
  for (const Interval& box : halo->boxes)
    widest = std::max(widest, box.size());
}

std::size_t Layout::Margin::hash() const noexcept {
  std::size_t hash = halo->isPartial ? 1 : 0;
  for (const Interval& box : halo->boxes)
    hash =
        mixed(mixed(hash, static_cast<std::size_t>(box.begin)), static_cast<std::size_t>(box.end));
  return hash;
}

namespace {

constexpr std::size_t kManyParts = 256; // Equal lists of fewer parts are not worth one object.

} // namespace

// The tables of shared values are never destroyed, since static objects can make layouts.

Layout::SplitPtr Layout::shared(Split split) {
  static auto* sharedSplits = new SharedValues<Split>;
  return split.cuts.size() < kManyParts ? std::make_shared<const Split>(std::move(split))
                                        : sharedSplits->share(std::move(split));
}

Layout::MarginPtr Layout::shared(Margin margin) {
  static auto* sharedMargins = new SharedValues<Margin>;
  static const auto* withoutHalo = new MarginPtr(std::make_shared<const Margin>(std::nullopt));
  if (!margin.halo)
    return *withoutHalo;
  return margin.halo->boxes.size() < kManyParts ? std::make_shared<const Margin>(std::move(margin))
                                                : sharedMargins->share(std::move(margin));
}

Layout::Spread Layout::spreadOf(const Grid& grid, const Properties& properties,
                                std::vector<std::vector<int>> splitAxes) {
  Spread spread;
  std::vector<int> newNumber(grid.axes(), -1);
  for (int axis = 0; axis < grid.axes(); ++axis) {
    if (grid.isTrivial(axis))
      continue;
    newNumber[axis] = static_cast<int>(spread.extents.size());
    spread.extents.push_back(grid.extent(axis));
    spread.properties.push_back(properties[axis]);
  }
  spread.splitOrders = std::move(splitAxes);
  for (std::vector<int>& order : spread.splitOrders)
    // The completed orders have no axes of one process, so every axis has a new number.
    for (int& axis : order)
      axis = newNumber[axis];
  return spread;
}

LayoutSpec Layout::spec() const {
  LayoutSpec spec{.shape = data_->shape,
                  .grid = data_->grid,
                  .properties = data_->properties,
                  .splitAxes = data_->splitAxes};
  for (int d = 0; d < ndim(); ++d) {
    spec.cuts.push_back(cuts(d));
    spec.halos.push_back(halo(d));
  }
  return spec;
}

bool Layout::hasHalos() const noexcept {
  return std::any_of(data_->margins.begin(), data_->margins.end(),
                     [](const auto& m) { return m->halo.has_value(); });
}

bool Layout::hasLinkedHalos() const noexcept {
  return std::any_of(data_->margins.begin(), data_->margins.end(),
                     [](const auto& m) { return m->halo && m->halo->isLinked(); });
}

bool Layout::hasModesByChannel() const noexcept {
  return std::any_of(data_->margins.begin(), data_->margins.end(),
                     [](const auto& m) { return m->halo && !m->halo->bands.empty(); });
}

bool Layout::holdsPartialSums() const noexcept {
  return std::ranges::any_of(data_->spread.properties, &Property::isPartial) ||
         std::any_of(data_->margins.begin(), data_->margins.end(),
                     [](const auto& m) { return m->halo && m->halo->isPartial; });
}

int Layout::part(int position, int dim) const {
  int index = 0;
  for (int axis : data_->splitAxes[dim])
    index = index * grid().extent(axis) + grid().coordinate(position, axis);
  return index;
}

std::vector<int> Layout::partCoordinates(int dim, int part) const {
  const std::vector<int>& axes = data_->splitAxes[dim];
  std::vector<int> coordinates(axes.size());
  for (int i = static_cast<int>(axes.size()) - 1; i >= 0; --i) {
    coordinates[i] = part % grid().extent(axes[i]);
    part /= grid().extent(axes[i]);
  }
  return coordinates;
}

int Layout::ownersAmong(int dim, int first, int last) const {
  const std::vector<int>& before = data_->splits[dim]->emptyBefore;
  return last - first - (before.empty() ? 0 : before[last] - before[first]);
}

Interval Layout::owned(int dim, int part) const {
  return {cuts(dim)[part], cuts(dim)[part + 1]};
}

Interval Layout::box(int dim, int part) const {
  const std::optional<Halo>& optionalHalo = halo(dim);
  return optionalHalo ? optionalHalo->boxes[part] : owned(dim, part);
}

bool Layout::isHolder(int position) const {
  if (position < 0)
    return false;
  for (int axis = 0; axis < grid().axes(); ++axis)
    if (property(axis).isRoot() && grid().coordinate(position, axis) != 0)
      return false;
  return true;
}

Box Layout::box(int position) const {
  Box result(ndim());
  if (!isHolder(position))
    return result;
  for (int d = 0; d < ndim(); ++d)
    result[d] = box(d, part(position, d));
  return result;
}

Box Layout::ownedBox(int position) const {
  return withoutHalos().box(position);
}

Layout Layout::dual() const {
  Data data = *data_;
  for (Property& p : data.properties)
    p = p.dual();
  for (Property& p : data.spread.properties)
    p = p.dual();
  for (MarginPtr& margin : data.margins)
    if (margin->halo) {
      Margin dualMargin = *margin;
      dualMargin.halo->isPartial = !dualMargin.halo->isPartial;
      margin = shared(std::move(dualMargin));
    }
  return Layout(std::make_shared<const Data>(std::move(data)));
}

Layout Layout::withoutHalos() const {
  if (!hasHalos())
    return *this;
  Data data = *data_;
  std::ranges::fill(data.margins, shared(Margin(std::nullopt)));
  return Layout(std::make_shared<const Data>(std::move(data)));
}

bool Layout::operator==(const Layout& other) const {
  const Data &a = *data_, &b = *other.data_;
  const auto isSame = [](const auto& x, const auto& y) { return x == y || *x == *y; };
  return &a == &b || (a.spread == b.spread && a.shape == b.shape &&
                      (a.grid == b.grid || a.grid->ranks() == b.grid->ranks()) &&
                      std::ranges::equal(a.splits, b.splits, isSame) &&
                      std::ranges::equal(a.margins, b.margins, isSame));
}

// Layouts with the same memory. Comparison already ignores axes of one process; haveSameMemory()
// also ignores halos that add no elements.

namespace {

bool addsNothing(const Layout& layout, int dim) {
  if (!layout.halo(dim))
    return true;
  for (int part = 0; part < layout.parts(dim); ++part) {
    const Interval box = layout.box(dim, part), owned = layout.owned(dim, part);
    if (!(box == owned) && !(box.empty() && owned.empty()))
      return false;
  }
  return true;
}

Layout withoutIdleHalos(const Layout& layout) {
  if (!layout.hasHalos())
    return layout;
  LayoutSpec spec = layout.spec();
  for (int d = 0; d < layout.ndim(); ++d)
    if (addsNothing(layout, d))
      spec.halos[d].reset();
  return Layout(std::move(spec));
}

} // namespace

bool haveSameMemory(const Layout& a, const Layout& b) {
  if (a == b)
    return true;
  // Layouts without halos can be equal only if their cuts are. In most cases these differ already,
  // so this check avoids making the layouts.
  const auto isCutAlike = [&] {
    for (int d = 0; d < a.ndim(); ++d)
      if (&a.cuts(d) != &b.cuts(d) && a.cuts(d) != b.cuts(d))
        return false;
    return true;
  };
  return (a.hasHalos() || b.hasHalos()) && a.shape() == b.shape() && isCutAlike() &&
         withoutIdleHalos(a) == withoutIdleHalos(b);
}

std::vector<Layout> stopsBetween(const Layout& from, const Layout& to) {
  if (haveSameMemory(from, to))
    return {};
  std::vector<Layout> stops;
  const auto stopAt = [&](const Layout& next) {
    const Layout& last = stops.empty() ? from : stops.back();
    if (!haveSameMemory(last, next) || !(last.grid() == next.grid()))
      stops.push_back(next);
  };
  if (!(from.grid() == to.grid())) {
    stopAt(from.withoutHalos());
    stopAt(to.withoutHalos());
  }
  stopAt(to);
  return stops;
}

} // namespace tenon
