// SPDX-License-Identifier: BSD-2-Clause
// Draws layouts, creates the library's objects from specifications, and writes specifications as
// text. Only values that differ from the default are set, which tests the defaults as well. The
// boxes of every object are compared with the definition: a wrong layout is found before the
// operator on it. The specifications (LayoutSpec) are in layout_spec.hpp.
#include "tools/check/layout_make.hpp"

#include "tools/check/layout_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon::tools {

namespace {

Property drawProperty(Draw& draw, int ndim) {
  // Splits are drawn more often than all other properties together, since most of the library is
  // about them.
  const int kind = draw.upTo(6); // 0 to 3: S; 4 to 6: B, P and R
  if (kind <= 3)
    return {'S', draw.upTo(ndim - 1)};
  return {"BPR"[kind - 4], -1};
}

// Draws the `count` split points of a dimension, which include 0 and the extent.
Indices drawCuts(Draw& draw, Index extent, std::size_t count) {
  Indices cuts = {0, extent};
  // Any split points: parts can be empty.
  while (cuts.size() < count)
    cuts.push_back(draw.upTo(static_cast<int>(extent)));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

// A halo box without elements outside the domain, at the sides where the mode is none.
Interval clipped(Interval box, const HaloSpec& halo, Index extent) {
  if (halo.low == TENON_BOUNDARY_NONE)
    box.begin = std::max<Index>(box.begin, 0);
  if (halo.high == TENON_BOUNDARY_NONE)
    box.end = std::min(box.end, extent);
  return box.size() == 0 ? Interval{} : box;
}

// Draws the boxes of a halo whose modes are set.
HaloSpec withBoxes(Draw& draw, const LayoutSpec& spec, int dim, HaloSpec halo) {
  // Occasionally a side is narrowed instead of widened.
  const int least = draw.chance(25) ? -2 : 0;
  if (draw.chance(50))
    halo.widths = Interval{draw.between(least, 3), draw.between(least, 3)};
  for (int part = 0; part + 1 < static_cast<int>(spec.cuts[dim].size()); ++part) {
    const Interval owned = spec.owned(dim, part);
    Interval box;
    // Widths extend non-empty parts only; with explicit boxes empty parts can have elements, too.
    if (halo.widths && owned.size() > 0)
      box = {owned.begin - halo.widths->begin, owned.end + halo.widths->end};
    if (!halo.widths)
      box = {owned.begin - draw.between(least, 4), owned.end + draw.between(least, 4)};
    halo.boxes.push_back(clipped(box, halo, spec.shape[dim]));
  }
  return halo;
}

HaloSpec drawHalo(Draw& draw, const LayoutSpec& spec, int dim, bool isPartial) {
  HaloSpec halo{.boxes = {}, .widths = {}, .isPartial = isPartial};
  halo.low = static_cast<TenonBoundary>(draw.upTo(TENON_BOUNDARY_ODD_POINT));
  halo.high =
      draw.chance(50) ? halo.low : static_cast<TenonBoundary>(draw.upTo(TENON_BOUNDARY_ODD_POINT));
  return withBoxes(draw, spec, dim, std::move(halo));
}

TenonBoundary drawPole(Draw& draw) {
  return static_cast<TenonBoundary>(
      draw.between(TENON_BOUNDARY_POLE, TENON_BOUNDARY_POLE_POINT_VECTOR));
}

// Makes a globe of some layouts: halos with poles in one dimension, and periodic ones in another
// one, of even extent, which names it the longitudes if no other dimension is periodic.
void drawPoles(Draw& draw, LayoutSpec& spec, bool isPartial) {
  const int first = spec.ndim() < 4 ? 0 : 2, dims = spec.ndim() - first; // without batch, channels
  if (dims < 2 || !draw.chance(30))
    return;
  const int at = draw.upTo(dims - 1), y = first + at,
            x = first + (at + draw.between(1, dims - 1)) % dims;
  if (spec.shape[y] < 2 || spec.shape[x] % 2 != 0)
    return;
  for (int d = 0; d < spec.ndim(); ++d)
    if (auto& halo = spec.halos[d]; halo && halo->low == TENON_BOUNDARY_PERIODIC)
      halo->low = TENON_BOUNDARY_ZERO;
  HaloSpec rows{.isPartial = isPartial, .longitudes = x};
  rows.low = drawPole(draw);
  rows.high = draw.chance(75) ? drawPole(draw) : TENON_BOUNDARY_ZERO;
  HaloSpec columns{
      .low = TENON_BOUNDARY_PERIODIC, .high = TENON_BOUNDARY_PERIODIC, .isPartial = isPartial};
  spec.halos[y] = withBoxes(draw, spec, y, std::move(rows));
  spec.halos[x] = withBoxes(draw, spec, x, std::move(columns));
}

} // namespace

GridSpec drawGrid(Draw& draw, int ranks) {
  GridSpec grid;
  const int axes = draw.between(1, 3);
  int remaining = ranks, size = 1;
  for (int axis = 0; axis < axes; ++axis) {
    // Half of the axes use all remaining ranks, so few ranks are idle.
    const int most = axis + 1 == axes ? remaining : std::min(remaining, 4);
    grid.extents.push_back(draw.chance(50) ? most : draw.between(1, most));
    remaining /= grid.extents.back();
    size *= grid.extents.back();
  }
  // The last axis got the rest; after shuffling any axis can be the longest.
  draw.shuffle(grid.extents);
  for (int r = 0; r < ranks; ++r)
    grid.ranks.push_back(r);
  if (draw.chance(50))
    draw.shuffle(grid.ranks);
  // The remaining ranks are not in the grid, but must take part in every collective call.
  grid.ranks.resize(size);
  return grid;
}

Indices drawShape(Draw& draw, int minDims, int maxDims, int maxExtent) {
  Indices shape(draw.between(minDims, maxDims));
  for (Index& extent : shape)
    // Rarely an extent is 0: tensors without elements are legal, and easily forgotten.
    extent = draw.chance(4) ? 0 : draw.between(1, maxExtent);
  return shape;
}

void resplit(LayoutSpec& spec, int dim) {
  spec.splitAxes[dim] = axesThatSplit(spec, dim);
  spec.cuts[dim] = balancedCuts(spec, dim);
}

LayoutSpec drawLayout(Draw& draw, const Indices& shape, const GridSpec& grid) {
  LayoutSpec spec = everywhere(shape, 1);
  spec.grid = grid;
  spec.properties.resize(grid.axes());
  for (Property& p : spec.properties)
    p = drawProperty(draw, spec.ndim());
  for (int d = 0; d < spec.ndim(); ++d) {
    // Any order of the axes, and any split points, in addition to the defaults.
    spec.splitAxes[d] = axesThatSplit(spec, d);
    if (draw.chance(30))
      draw.shuffle(spec.splitAxes[d]);
    spec.cuts[d] = balancedCuts(spec, d);
    if (draw.chance(40))
      spec.cuts[d] = drawCuts(draw, shape[d], spec.cuts[d].size());
  }
  return spec;
}

LayoutSpec drawValues(Draw& draw, const Indices& shape, const GridSpec& grid) {
  LayoutSpec spec = drawLayout(draw, shape, grid);
  for (Property& p : spec.properties)
    p.kind = p.kind == 'P' ? 'B' : p.kind;
  return spec;
}

LayoutSpec withHalos(Draw& draw, LayoutSpec spec, int partialPercent) {
  // At least one dimension has a halo; otherwise there is nothing to exchange.
  const int required = draw.upTo(spec.ndim() - 1);
  for (int d = 0; d < spec.ndim(); ++d)
    if (d == required || draw.chance(40))
      spec.halos[d] = drawHalo(draw, spec, d, draw.chance(partialPercent));
  drawPoles(draw, spec, draw.chance(partialPercent));
  return spec;
}

LayoutSpec drawAnyLayout(Draw& draw, const Indices& shape, const GridSpec& grid) {
  LayoutSpec spec = drawLayout(draw, shape, grid);
  // Of the layouts with halos, two in five have only halos of values, two only halos of sums, and
  // one has both kinds.
  return draw.chance(40) ? withHalos(draw, spec, draw.of<int>({0, 0, 50, 100, 100})) : spec;
}

namespace {

// Names of the boundary modes, by TenonBoundary.
constexpr const char* kModes[] = {
    "none", "zero",      "periodic", "reflect", "replicate",  "values",      "symmetric",
    "odd",  "odd_point", "linked",   "pole",    "pole_point", "pole_vector", "pole_point_vector"};

void setHalo(TenonLayout layout, int dim, const HaloSpec& halo) {
  // A halo can be set by widths or by boxes; the call that was drawn is used, so both are tested.
  if (halo.widths) {
    require(
        TenonLayoutSetHalo(layout, dim, halo.widths->begin, halo.widths->end, halo.low, halo.high));
  } else {
    Indices low, high;
    for (const Interval& box : halo.boxes) {
      low.push_back(box.begin);
      high.push_back(box.end);
    }
    require(TenonLayoutSetHaloBoxes(layout, dim, static_cast<int>(low.size()), low.data(),
                                    high.data(), halo.low, halo.high));
  }
}

void setHalos(TenonLayout layout, const LayoutSpec& spec) {
  for (int d = 0; d < spec.ndim(); ++d)
    if (const auto& halo = spec.halos[d])
      setHalo(layout, d, *halo);
}

// Sets what differs from the defaults of a new layout.
void set(TenonLayout layout, const LayoutSpec& spec) {
  require(TenonLayoutSetShape(layout, spec.ndim(), spec.shape.data()));
  require(TenonLayoutSetProperties(layout, spec.propertyText().c_str()));
  for (int d = 0; d < spec.ndim(); ++d) {
    const std::vector<int>& axes = spec.splitAxes[d];
    if (axes != axesThatSplit(spec, d))
      require(TenonLayoutSetSplitOrder(layout, d, static_cast<int>(axes.size()), axes.data()));
    if (spec.cuts[d] != balancedCuts(spec, d))
      require(TenonLayoutSetCuts(layout, d, static_cast<int>(spec.cuts[d].size()),
                                 spec.cuts[d].data()));
  }
  setHalos(layout, spec);
}

// The specification with only its halos of partial sums, or with only those of values.
LayoutSpec withSomeHalos(LayoutSpec spec, bool partial) {
  for (auto& halo : spec.halos)
    if (halo && halo->isPartial != partial)
      halo.reset();
  return spec;
}

Layout layoutOf(TenonPartition partition, const LayoutSpec& spec) {
  const LayoutSpec sums = withSomeHalos(spec, /*partial=*/true),
                   values = withSomeHalos(spec, /*partial=*/false);
  Layout layout;
  if (sums.hasHalos()) {
    // Halos of partial sums are those of the dual of a layout whose halos hold values.
    const Layout model = layoutOf(partition, sums.dual());
    require(TenonLayoutGetDual(model, layout.out()));
    if (!values.hasHalos())
      return layout;
    const Layout dual = std::move(layout);
    require(TenonLayoutCreateLike(dual, layout.out()));
    setHalos(layout, values);
  } else {
    require(TenonLayoutCreate(partition, layout.out()));
    set(layout, spec);
  }
  require(TenonLayoutSetUp(layout));
  return layout;
}

Box boxFrom(const Indices& low, const Indices& high) {
  Box box;
  for (std::size_t d = 0; d < low.size(); ++d)
    box.push_back({low[d], high[d]});
  return box;
}

void compare(const char* what, const Box& got, const Box& expected) {
  // Empty boxes are equal regardless of their position.
  if (elementsOf(got) == 0 && elementsOf(expected) == 0)
    return;
  if (got != expected)
    throw std::runtime_error(
        fmt::format("{} is {}, expected {}", what, boxText(got), boxText(expected)));
}

std::string haloText(int dim, const HaloSpec& m) {
  std::string boxes;
  for (const Interval& box : m.boxes)
    boxes += boxText({box});
  return fmt::format(" halo {}: {} {}|{}{}", dim, boxes, kModes[m.low], kModes[m.high],
                     m.isPartial ? " partial sums" : "");
}

} // namespace

Layout makeLayout(MPI_Comm comm, const LayoutSpec& spec) {
  Partition partition;
  require(TenonPartitionCreateFromRanks(comm, spec.grid.axes(), spec.grid.extents.data(),
                                        spec.grid.ranks.data(), partition.out()));
  Layout layout = layoutOf(partition, spec);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int position = spec.grid.positionOf(rank);
  Indices low(spec.shape.size()), high(spec.shape.size());
  // Checks every layout of every configuration, at this rank's position.
  require(TenonLayoutGetBox(layout, low.data(), high.data()));
  compare("the box of the layout", boxFrom(low, high), spec.box(position));
  require(TenonLayoutGetOwnedBox(layout, low.data(), high.data()));
  compare("the owned box of the layout", boxFrom(low, high), spec.ownedBox(position));
  return layout;
}

std::string listText(const Indices& list) {
  return fmt::format("({})", fmt::join(list, ","));
}

std::string boxText(const Box& box) {
  std::string text;
  for (const Interval& i : box)
    text += fmt::format("{}[{},{})", text.empty() ? "" : "x", i.begin, i.end);
  return text;
}

std::string LayoutSpec::propertyText() const {
  std::string text;
  for (const Property& p : properties) {
    text += text.empty() ? "" : ",";
    text += p.kind;
    if (p.kind == 'S')
      text += std::to_string(p.dim);
  }
  return text;
}

std::string LayoutSpec::text() const {
  std::string text =
      fmt::format("[{}] {} on process grid {} (ranks {})", fmt::join(shape, ","), propertyText(),
                  fmt::join(grid.extents, "x"), fmt::join(grid.ranks, ","));
  for (int d = 0; d < ndim(); ++d) {
    if (splitAxes[d] != axesThatSplit(*this, d))
      text += fmt::format(" order {}: {}", d, fmt::join(splitAxes[d], ","));
    if (cuts[d] != balancedCuts(*this, d))
      text += fmt::format(" cuts {}: {}", d, fmt::join(cuts[d], ","));
    if (const auto& halo = halos[d])
      text += haloText(d, *halo);
  }
  return text;
}

} // namespace tenon::tools
