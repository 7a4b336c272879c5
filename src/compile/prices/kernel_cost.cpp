// SPDX-License-Identifier: BSD-2-Clause
// Operations and bytes of a layer's kernels, and their seconds by a machine's rates, on the slowest
// process (kernel_cost.hpp). 10 rows and 7 columns on a grid of 3 x 2 have blocks of 4, 3, 3 rows
// and of 4, 3 columns: the process at position (0,0), with 4 x 4, is the slowest, and the others
// need not be priced. If input and output are split differently, the largest blocks of both can be
// on two processes; then both are priced.
//
// Apply and the adjoint are separate passes, and if blocks are uneven, each can have another
// slowest process.
#include "compile/prices/kernel_cost.hpp"

#include "declaration/core/kernel_maps.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

// The work of a kernel grows with the extents that it reads and writes. The slowest position is
// therefore among those that no other position exceeds in all extents. An extent depends on the
// coordinates along the axes that split its dimension. Axes that no dimension relates vary
// independently, and each group of related axes is searched separately.
class LargestPositions {
public:
  explicit LargestPositions(const Form& form) : grid_(form.output.grid()), group_(grid_.axes()) {
    std::iota(group_.begin(), group_.end(), 0);
    add(form.output);
    for (const Layout& use : form.uses)
      add(use);
    for (const ParameterForm& parameter : form.parameters)
      add(parameter.use);
  }

  std::vector<int> find() const {
    std::vector<std::vector<int>> all = {std::vector<int>(grid_.axes(), 0)};
    for (int group = 0; group < grid_.axes(); ++group) {
      const std::vector<Extent> extents = extentsOf(group);
      // If the first part of each dimension is the largest, as in most layouts, coordinate 0 is
      // sufficient.
      if (std::ranges::all_of(extents, [&](const Extent& extent) { return firstIsMost(extent); }))
        continue;
      const std::vector<int> axes = axesOf(group);
      const std::vector<int> largest = largestAlong(axes, extents);
      std::vector<std::vector<int>> combined;
      for (const std::vector<int>& coordinates : all)
        for (int index : largest)
          combined.push_back(with(coordinates, axes, index));
      all = std::move(combined);
    }
    std::vector<int> positions;
    for (const std::vector<int>& coordinates : all)
      positions.push_back(grid_.positionAt(coordinates));
    return positions;
  }

private:
  struct Extent {
    const Layout* layout;
    int dim;
  };

  // Coordinate 0 of an R axis has at least the elements of all others, so R axes are not recorded.
  void add(const Layout& layout) {
    for (int dim = 0; dim < layout.ndim(); ++dim) {
      const std::vector<int>& axes = layout.splitAxes(dim);
      if (axes.empty())
        continue;
      extents_.push_back({&layout, dim});
      const int joined = group_[axes.front()];
      for (int axis : axes)
        std::ranges::replace(group_, int(group_[axis]), joined);
    }
  }

  // The extents that depend on the axes of a group, and these axes.
  std::vector<Extent> extentsOf(int group) const {
    std::vector<Extent> related;
    for (const Extent& extent : extents_)
      if (group_[extent.layout->splitAxes(extent.dim).front()] == group)
        related.push_back(extent);
    return related;
  }

  std::vector<int> axesOf(int group) const {
    std::vector<int> axes;
    for (int axis = 0; axis < grid_.axes(); ++axis)
      if (group_[axis] == group)
        axes.push_back(axis);
    return axes;
  }

  static bool firstIsMost(const Extent& extent) {
    const auto [layout, dim] = extent;
    const Index first = layout->box(dim, 0).size();
    for (int part = 1; part < layout->parts(dim); ++part)
      if (layout->box(dim, part).size() > first)
        return false;
    return true;
  }

  // The coordinates with those along `axes` replaced by the digits of `index`.
  std::vector<int> with(std::vector<int> coordinates, const std::vector<int>& axes,
                        int index) const {
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      coordinates[*axis] = index % grid_.extent(*axis);
      index /= grid_.extent(*axis);
    }
    return coordinates;
  }

  // The combinations of coordinates along these axes that no other one exceeds; the first of equal
  // ones.
  std::vector<int> largestAlong(const std::vector<int>& axes,
                                const std::vector<Extent>& extents) const {
    struct Candidate {
      int index;
      std::vector<Index> sizes;
    };
    const auto exceeds = [](const Candidate& a, const Candidate& b) {
      return std::ranges::equal(a.sizes, b.sizes, std::ranges::greater_equal());
    };
    std::vector<Candidate> largest;
    for (int index = 0; index < grid_.extentOf(axes); ++index) {
      const int position = grid_.positionAt(with(std::vector<int>(grid_.axes(), 0), axes, index));
      Candidate candidate{.index = index, .sizes = {}};
      for (const auto& [layout, dim] : extents)
        candidate.sizes.push_back(layout->box(dim, layout->part(position, dim)).size());
      if (std::ranges::any_of(largest,
                              [&](const Candidate& other) { return exceeds(other, candidate); }))
        continue;
      std::erase_if(largest, [&](const Candidate& other) { return exceeds(candidate, other); });
      largest.push_back(std::move(candidate));
    }
    std::vector<int> indices;
    for (const Candidate& candidate : largest)
      indices.push_back(candidate.index);
    return indices;
  }

  const Grid& grid_;
  std::vector<int> group_; // by axis: the number of an axis of its group
  std::vector<Extent> extents_;
};

// The number of rows of the loops: the operations divided by the length of an output row (the last
// dimension). Pooling has no operations, so it is counted by the elements that its windows read.
double rowsOf(const Box& output, const KernelWork& work) {
  const double length = output.empty() ? 1 : double(std::max<Index>(1, output.back().size()));
  return (work.flops > 0 ? work.flops : work.columns) / length;
}

// The cost of the process at one position of the form's grid.
KernelCost costAt(int position, const Declaration& layer, const Form& form, bool hasCotangent,
                  Index elementBytes, const KernelRates& rates) {
  const Work work = layer.work(form, position);
  const KernelElements elements = kernelElements(form, position);
  const double each = double(elementBytes);
  const Box output = form.output.box(position);
  // The gradients of the parameters and the cotangent of the input are one product each, and each
  // gathers the columns.
  const int products = (form.parameters.empty() ? 0 : 1) + (hasCotangent ? 1 : 0);
  KernelCost cost;
  cost.apply = {.flops = work.forward,
                .bytes = each * (elements.inputs + elements.parameters + elements.output),
                .columns = work.columns};
  cost.apply.rows = rowsOf(output, cost.apply);
  // Both products read the output's cotangent and the inputs, and write the parameters' gradients.
  // The inputs' cotangents also read the parameters and write an array of the inputs' size. A layer
  // that needs neither has no adjoint.
  if (products > 0) {
    cost.adjoint = {.pass = hasCotangent ? KernelPass::Adjoint : KernelPass::Parameters,
                    .flops = work.adjointParameters + (hasCotangent ? work.adjoint : 0),
                    .bytes = each * (elements.output + elements.inputs + elements.parameters +
                                     (hasCotangent ? elements.inputs + elements.parameters : 0)),
                    .columns = products * work.columns};
    cost.adjoint.rows = rowsOf(output, cost.adjoint);
  }
  const std::string kind = layer.kernelKind();
  cost.applySeconds = rates.seconds(kind, elementBytes, cost.apply);
  cost.adjointSeconds = rates.seconds(kind, elementBytes, cost.adjoint);
  return cost;
}

} // namespace

KernelCost kernelCost(const Declaration& layer, const Form& form, bool hasCotangent,
                      Index elementBytes, const KernelRates& rates) {
  KernelCost largest;
  for (int position : LargestPositions(form).find()) {
    const KernelCost cost = costAt(position, layer, form, hasCotangent, elementBytes, rates);
    if (cost.applySeconds > largest.applySeconds) {
      largest.apply = cost.apply;
      largest.applySeconds = cost.applySeconds;
    }
    if (cost.adjointSeconds > largest.adjointSeconds) {
      largest.adjoint = cost.adjoint;
      largest.adjointSeconds = cost.adjointSeconds;
    }
  }
  return largest;
}

} // namespace tenon
