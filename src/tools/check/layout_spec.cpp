// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of layouts, written from the definition. The library is compared with it, so it
// shares no code with the library, and its loops are as plain as possible: the tensors under test
// are small.
#include "tools/check/layout_spec.hpp"

#include <algorithm>

namespace tenon::tools {

Index elementsOf(const Box& box) {
  Index cells = 1;
  for (const Interval& i : box)
    cells *= i.size();
  return cells;
}

Index elementsOf(const Indices& shape) {
  return elementsOf(boxOf(shape));
}

Box boxOf(const Indices& shape) {
  Box box;
  for (const Index extent : shape)
    box.push_back({0, extent});
  return box;
}

Index rowMajorOffset(const Indices& cell, const Indices& shape) {
  Index offset = 0;
  for (std::size_t d = 0; d < shape.size(); ++d)
    offset = offset * shape[d] + cell[d];
  return offset;
}

int GridSpec::positionOf(int rank) const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

int GridSpec::coordinate(int position, int axis) const {
  for (int a = axes() - 1; a > axis; --a)
    // Positions are row-major, the last axis fastest.
    position /= extents[a];
  return position % extents[axis];
}

int LayoutSpec::part(int position, int dim) const {
  int part = 0;
  // The axes that split a dimension are listed with the major one first, so their coordinates are
  // the digits of the part.
  for (const int axis : splitAxes[dim])
    part = part * grid.extents[axis] + grid.coordinate(position, axis);
  return part;
}

Interval LayoutSpec::held(int dim, int part) const {
  const auto& halo = halos[dim];
  return halo ? halo->boxes[part] : owned(dim, part);
}

bool LayoutSpec::isActive(int position) const {
  if (position < 0)
    return false;
  for (int axis = 0; axis < grid.axes(); ++axis)
    // Only the root has elements along an R axis.
    if (properties[axis].kind == 'R' && grid.coordinate(position, axis) != 0)
      return false;
  return true;
}

Box LayoutSpec::box(int position) const {
  Box box(shape.size());
  if (isActive(position))
    for (int d = 0; d < ndim(); ++d)
      box[d] = held(d, part(position, d));
  return box;
}

Box LayoutSpec::ownedBox(int position) const {
  return withoutHalos().box(position);
}

bool LayoutSpec::has(char kind) const {
  return std::any_of(properties.begin(), properties.end(),
                     [&](const Property& p) { return p.kind == kind; });
}

bool LayoutSpec::hasHalos() const {
  return std::any_of(halos.begin(), halos.end(), [](const auto& m) { return m.has_value(); });
}

bool LayoutSpec::holdsPartialSums() const {
  return has('P') ||
         std::any_of(halos.begin(), halos.end(), [](const auto& m) { return m && m->isPartial; });
}

bool LayoutSpec::covers(int dim, Index cell) const {
  for (int p = 0; p + 1 < static_cast<int>(cuts[dim].size()); ++p)
    if (owned(dim, p).contains(cell) && held(dim, p).contains(cell))
      return true;
  return false;
}

LayoutSpec LayoutSpec::dual() const {
  LayoutSpec dual = *this;
  for (Property& p : dual.properties)
    // Copies and contributions are exchanged, and so are halos of values and of contributions.
    p.kind = p.kind == 'B' ? 'P' : p.kind == 'P' ? 'B' : p.kind;
  for (auto& halo : dual.halos)
    if (halo)
      halo->isPartial = !halo->isPartial;
  return dual;
}

LayoutSpec LayoutSpec::withoutHalos() const {
  LayoutSpec plain = *this;
  plain.halos.assign(shape.size(), std::nullopt);
  return plain;
}

std::vector<int> axesThatSplit(const LayoutSpec& spec, int dim) {
  std::vector<int> axes;
  for (int axis = 0; axis < spec.grid.axes(); ++axis)
    if (spec.properties[axis] == Property{'S', dim})
      axes.push_back(axis);
  return axes;
}

// Divides each part into `parts`; the first ones are longer by one if the extent is not divisible.
Indices divided(const Indices& cuts, int parts) {
  Indices finer = {0};
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Index extent = cuts[i + 1] - cuts[i];
    for (Index j = 1; j <= parts; ++j)
      finer.push_back(cuts[i] + j * (extent / parts) + std::min(j, extent % parts));
  }
  return finer;
}

Indices balancedCuts(const LayoutSpec& spec, int dim) {
  Indices cuts = {0, spec.shape[dim]};
  for (const int axis : spec.splitAxes[dim])
    cuts = divided(cuts, spec.grid.extents[axis]);
  return cuts;
}

LayoutSpec everywhere(const Indices& shape, int ranks) {
  LayoutSpec spec{.shape = shape, .grid = {{ranks}, {}}, .properties = {{'B', -1}}};
  for (int r = 0; r < ranks; ++r)
    spec.grid.ranks.push_back(r);
  spec.splitAxes.resize(shape.size());
  spec.halos.resize(shape.size());
  for (const Index extent : shape)
    spec.cuts.push_back({0, extent});
  return spec;
}

namespace {

bool isPole(TenonBoundary mode) {
  return mode >= TENON_BOUNDARY_POLE && mode <= TENON_BOUNDARY_POLE_POINT_VECTOR;
}

// A cell beyond a pole: it is reflected at one pole after the other until it is in the domain. A
// side without a pole is crossed as if it were the other one.
Shown acrossPoles(Index cell, Index extent, TenonBoundary low, TenonBoundary high) {
  const TenonBoundary mode = cell < 0 ? low : high;
  const bool isVector =
      mode == TENON_BOUNDARY_POLE_VECTOR || mode == TENON_BOUNDARY_POLE_POINT_VECTOR;
  Shown shown{cell};
  while (shown.cell < 0 || shown.cell >= extent) {
    const bool isLow = shown.cell < 0;
    TenonBoundary pole = isLow ? low : high;
    if (!isPole(pole))
      pole = isLow ? high : low;
    const bool isOnRow =
        pole == TENON_BOUNDARY_POLE_POINT || pole == TENON_BOUNDARY_POLE_POINT_VECTOR;
    // A cell c is reflected to mirror - c: about row 0 or the last row if the pole is on it, and
    // otherwise about the edge of the domain, which exchanges cells -1 and 0.
    const Index mirror = isLow ? (isOnRow ? 0 : -1) : 2 * extent - (isOnRow ? 2 : 1);
    shown.cell = isOnRow && extent == 1 ? 0 : mirror - shown.cell;
    shown.crossed = !shown.crossed;
    shown.sign = isVector ? -shown.sign : shown.sign;
  }
  return shown;
}

} // namespace

void toOppositeMeridian(Indices& cell, const Indices& shape, int longitudes) {
  cell[longitudes] = (cell[longitudes] + shape[longitudes] / 2) % shape[longitudes];
}

std::optional<Shown> extension(Index cell, Index extent, TenonBoundary low, TenonBoundary high) {
  // An empty domain has no element to repeat.
  if (extent == 0)
    return std::nullopt;
  if (cell >= 0 && cell < extent)
    return Shown{cell};
  // Each side has its own mode, which is applied until the index is in the domain.
  const TenonBoundary mode = cell < 0 ? low : high;
  if (mode == TENON_BOUNDARY_REPLICATE)
    return Shown{cell < 0 ? 0 : extent - 1};
  if (mode == TENON_BOUNDARY_PERIODIC) {
    while (cell < 0)
      cell += extent;
    return Shown{cell % extent};
  }
  if (isPole(mode))
    return acrossPoles(cell, extent, low, high);
  const bool isOdd = mode == TENON_BOUNDARY_ODD || mode == TENON_BOUNDARY_ODD_POINT;
  const bool isBetween = mode == TENON_BOUNDARY_ODD || mode == TENON_BOUNDARY_SYMMETRIC;
  if (!isOdd && !isBetween && mode != TENON_BOUNDARY_REFLECT)
    return std::nullopt;
  Shown shown{cell};
  while (shown.cell < 0 || shown.cell >= extent) { // repeated reflection
    const bool low = shown.cell < 0;
    if (isBetween)
      shown.cell = low ? -1 - shown.cell : 2 * extent - 1 - shown.cell;
    else
      shown.cell = extent == 1 ? 0 : low ? -shown.cell : 2 * (extent - 1) - shown.cell;
    shown.sign = isOdd ? -shown.sign : shown.sign;
  }
  return shown;
}

} // namespace tenon::tools
