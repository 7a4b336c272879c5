// SPDX-License-Identifier: BSD-2-Clause
// Lists the parallelizations of a layer on the process grid of a field, and makes the layouts of
// tensors on this grid (field_parallelizations.hpp). A field is an input or output of the network
// whose layout the program has fixed, such as the solution of a solver, split over 4 x 2 ranks at
// points that the solver has chosen. A parallelization has a label for each axis of this grid: k if
// the layer is distributed along it as the field is, n, o or i if it splits the batch or channels
// instead.
//
// The split points of a field cannot be computed, so they are stored by dimension and extent: a
// dimension that is split by the field's own axes gets the split points of the first such tensor
// with the same extent.
#include "planner/parallelizations/field_parallelizations.hpp"

#include <algorithm>

namespace tenon {

namespace {

// With the labels k, n and o on each of 5 axes, a layer has 3^5 = 243 parallelizations, and nearly
// as many again with i instead of o. With all four labels, 4 axes have 4^4 = 256. The tables of
// moves grow with the square of such a number (planner/search/cost_tables.hpp).
constexpr int kMaxFieldAxes = 5, kMaxMixedAxes = 4;

// Appends the parallelizations that contain all of the given labels of channels.
void appendParallelizations(const Layout& layout, const std::string& channels,
                            std::string parallelization,
                            std::vector<std::string>& parallelizations) {
  const int axis = static_cast<int>(parallelization.size());
  if (axis == layout.grid().axes()) {
    // Each parallelization is listed once, in the call for the labels that it contains; one without
    // channels is listed in the call for output channels.
    if (channels == "o" || std::ranges::all_of(channels, [&](char channel) {
          return parallelization.find(channel) != std::string::npos;
        }))
      parallelizations.push_back(std::move(parallelization));
    return;
  }
  // 'k' is first: the parallelizations that change least are listed first. If the field's batch is
  // split, 'n' is the same as 'k'.
  for (char label : "kn" + channels)
    if (label == 'k' || (!layout.grid().isTrivial(axis) &&
                         (label != 'n' || !(layout.property(axis) == Property::shard(0)))))
      appendParallelizations(layout, channels, parallelization + label, parallelizations);
}

std::vector<int> sortedAxes(std::vector<int> axes) {
  std::sort(axes.begin(), axes.end());
  return axes;
}

} // namespace

Field::Field(std::string name, const Layout& layout) : name_(std::move(name)), layout_(layout) {
  learn(layout);
}

bool Field::hasEmptyParts() const {
  for (int d = 0; d < layout_.ndim(); ++d)
    if (std::ranges::adjacent_find(layout_.cuts(d)) != layout_.cuts(d).end())
      return true;
  return false;
}

std::vector<std::string> Field::parallelizations(bool inputChannels) const {
  const std::vector<int>& extents = layout_.grid().extents();
  std::vector<std::string> parallelizations;
  const auto axes = std::ranges::count_if(extents, [](int extent) { return extent > 1; });
  if (axes > kMaxFieldAxes) {
    // There are too many mixtures, so a parallelization has the same label on all axes.
    for (char label : {'k', 'n', 'o', 'i'})
      if (label != 'i' || inputChannels) {
        std::string& parallelization = parallelizations.emplace_back();
        for (int extent : extents)
          parallelization += extent > 1 ? label : 'k';
      }
    return parallelizations;
  }
  appendParallelizations(layout_, "o", "", parallelizations);
  if (inputChannels)
    appendParallelizations(layout_, "i", "", parallelizations);
  if (inputChannels && axes <= kMaxMixedAxes)
    appendParallelizations(layout_, "oi", "", parallelizations);
  return parallelizations;
}

bool Field::isLike(const Layout& layout) const {
  return layout.grid() == layout_.grid() && layout.properties() == layout_.properties();
}

void Field::learn(const Layout& layout) {
  for (int d = 0; d < std::min(layout.ndim(), layout_.ndim()); ++d)
    if (layout.splitAxes(d) == layout_.splitAxes(d) && layout.parts(d) > 1)
      // emplace() keeps the first points: the first tensor of an extent is the field itself or the
      // one closest to it.
      cuts_.emplace(std::pair(d, layout.shape()[d]), layout.cuts(d));
}

Layout Field::layout(const Shape& shape, const Properties& properties, const Layout* native) const {
  LayoutSpec spec{.shape = shape, .grid = grid(), .properties = properties};
  spec.splitAxes.resize(shape.size());
  spec.cuts.resize(shape.size());
  for (int axis = 0; axis < grid()->axes(); ++axis)
    if (properties[axis].isShard())
      spec.splitAxes[properties[axis].dim].push_back(axis);
  for (int d = 0; d < std::min(static_cast<int>(shape.size()), layout_.ndim()); ++d) {
    // Split points refer to all axes of a dimension together, and are meaningless if one of them is
    // missing.
    if (spec.splitAxes[d] != sortedAxes(layout_.splitAxes(d)))
      continue;
    spec.splitAxes[d] = layout_.splitAxes(d);
    if (const auto known = cuts_.find({d, shape[d]}); known != cuts_.end())
      spec.cuts[d] = known->second;
  }
  // A native layout (native_layouts.hpp) knows the split points of its own tensor, which are better
  // than those of another tensor of the same extent.
  for (int d = 0; native && native->grid() == *grid() && d < native->ndim(); ++d)
    if (!native->splitAxes(d).empty() &&
        sortedAxes(spec.splitAxes[d]) == sortedAxes(native->splitAxes(d))) {
      spec.splitAxes[d] = native->splitAxes(d);
      spec.cuts[d] = native->cuts(d);
    }
  return Layout(std::move(spec));
}

} // namespace tenon
