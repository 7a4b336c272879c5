// SPDX-License-Identifier: BSD-2-Clause
// Stores the settings of a layout until it is built. Halo widths are stored separately from the
// specification, which has only boxes: boxes depend on the parts, so build() first makes the layout
// without halos to compute its parts.
#include "geometry/layout/layout_draft.hpp"

#include "geometry/layout/cuts.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr const char* kBox = "an end of a box with its halo";

// True if the dimension is split by the same axes, not counting axes of one process.
bool splitsAlike(const Grid* grid, const Properties& a, const Properties& b, std::size_t dim) {
  const Property shard = Property::shard(static_cast<int>(dim));
  if (a.size() != b.size())
    return false;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    // An axis of one process splits nothing, so a change of its property has no effect.
    const bool isIrrelevant = grid && axis < grid->extents().size() && grid->extents()[axis] == 1;
    if (!isIrrelevant && (a[axis] == shard) != (b[axis] == shard))
      return false;
  }
  return true;
}

} // namespace

LayoutDraft::LayoutDraft(GridPtr grid) {
  spec_.grid = std::move(grid);
}

LayoutDraft::LayoutDraft(const Layout& model)
    : spec_(model.spec()), widths_(model.shape().size()), hasProperties_(true) {}

void LayoutDraft::setShape(Shape shape) {
  // Layout checks the same later; the error should be that of the call which sets the shape.
  const std::size_t rank = shape.size();
  if (rank < 1 || rank > kMaxDims)
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("a tensor must have 1 to {} dimensions, but the shape has {}", kMaxDims, rank));
  for (std::size_t d = 0; d < rank; ++d)
    if (shape[d] < 0)
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format("dimension {} of the shape has extent {}; it must be >= 0", d, shape[d]));
  if (rank != spec_.shape.size()) {
    spec_.splitAxes.assign(rank, {});
    spec_.cuts.assign(rank, {});
    spec_.halos.assign(rank, {});
    widths_.assign(rank, {});
  }
  for (std::size_t d = 0; d < spec_.shape.size() && d < rank; ++d) {
    // The order of the splitting axes does not depend on the extent.
    if (spec_.shape[d] == shape[d])
      continue;
    spec_.cuts[d].clear();
    forgetBoxes(d);
  }
  spec_.shape = std::move(shape);
}

// Widths are valid for any parts; boxes are not.
void LayoutDraft::forgetBoxes(std::size_t dim) {
  if (!widths_[dim])
    spec_.halos[dim].reset();
}

void LayoutDraft::forgetParts(std::size_t dim) {
  spec_.splitAxes[dim].clear();
  spec_.cuts[dim].clear();
  forgetBoxes(dim);
}

void LayoutDraft::setProperties(Properties properties) {
  if (hasProperties_)
    for (std::size_t d = 0; d < spec_.shape.size(); ++d)
      // Split orders and cuts refer to the axes that split the dimension.
      if (!splitsAlike(spec_.grid.get(), spec_.properties, properties, d))
        forgetParts(d);
  spec_.properties = std::move(properties);
  hasProperties_ = true;
}

void LayoutDraft::setSplitOrder(int dim, std::vector<int> axes) {
  checkDim(dim);
  spec_.splitAxes[dim] = std::move(axes);
}

void LayoutDraft::setCuts(int dim, std::vector<Index> cuts) {
  checkDim(dim);
  spec_.cuts[dim] = std::move(cuts);
}

void LayoutDraft::stagger(int dim) {
  checkDim(dim);
  ++spec_.shape[dim];
  if (std::vector<Index>& cuts = spec_.cuts[dim]; !cuts.empty())
    cuts = cutsOfExtent(std::move(cuts), spec_.shape[dim]);
  // Boxes of the cells would not include the added point; widths are still valid.
  forgetBoxes(static_cast<std::size_t>(dim));
}

void LayoutDraft::setHaloWidths(int dim, Index low, Index high, Boundary lowMode,
                                Boundary highMode) {
  checkDim(dim);
  spec_.halos[dim] = Halo{.boxes = {}, .low = lowMode, .high = highMode};
  widths_[dim] = {low, high};
}

void LayoutDraft::setHaloBoxes(int dim, std::vector<Interval> boxes, Boundary lowMode,
                               Boundary highMode) {
  checkDim(dim);
  spec_.halos[dim] = Halo{.boxes = std::move(boxes), .low = lowMode, .high = highMode};
  widths_[dim].reset();
}

Layout LayoutDraft::build() const {
  if (spec_.shape.empty() || !hasProperties_)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("the layout has no {} yet; call {}() before TenonLayoutSetUp()",
                    spec_.shape.empty() ? "shape" : "properties",
                    spec_.shape.empty() ? "TenonLayoutSetShape" : "TenonLayoutSetProperties"));
  LayoutSpec spec = spec_;
  spec.halos.clear();
  const Layout plain(spec);
  spec.halos = spec_.halos;
  for (int d = 0; d < plain.ndim(); ++d) {
    const std::optional<Widths>& widths = widths_[d];
    std::optional<Halo>& halo = spec.halos[d];
    if (!widths || !halo)
      continue;
    for (int part = 0; part < plain.parts(d); ++part) {
      const Interval owned = plain.owned(d, part);
      halo->boxes.push_back(owned.empty()
                                ? Interval{}
                                : Interval{checkedDifference(owned.begin, widths->low, kBox),
                                           checkedSum(owned.end, widths->high, kBox)});
    }
  }
  return Layout(std::move(spec));
}

int LayoutDraft::ndim() const {
  if (spec_.shape.empty())
    throw Error(TENON_ERR_STATE,
                "the dimensions are not known before the shape; call TenonLayoutSetShape() first");
  return static_cast<int>(spec_.shape.size());
}

void LayoutDraft::checkDim(int dim) const {
  if (dim < 0 || dim >= ndim())
    throw Error(TENON_ERR_ARG,
                fmt::format("dimension {} is out of range; the tensor has dimensions 0 to {}", dim,
                            ndim() - 1));
}

} // namespace tenon
