// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/from_boxes.hpp"

#include "geometry/box_faults.hpp"

#include <algorithm>

namespace tenon {

namespace {

using Cuts = std::vector<std::vector<Index>>;

// The ends of the domain and of all boxes in each dimension.
Cuts cutsOf(const std::vector<Box>& boxes, const Shape& domain) {
  Cuts cuts;
  for (std::size_t d = 0; d < domain.size(); ++d) {
    std::vector<Index> points = {0, domain[d]};
    for (const Box& box : boxes)
      if (!isEmpty(box))
        points.insert(points.end(), {box[d].begin, box[d].end});
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    cuts.push_back(std::move(points));
  }
  return cuts;
}

// The place of a box in the grid of the cuts; nothing if it is not one cell of it.
std::optional<std::vector<std::size_t>> cellOf(const Box& box, const Cuts& cuts) {
  std::vector<std::size_t> cell;
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    cell.push_back(std::lower_bound(cuts[d].begin(), cuts[d].end(), box[d].begin) -
                   cuts[d].begin());
    if (cuts[d][cell[d] + 1] != box[d].end)
      return {};
  }
  return cell;
}

// The rank that holds each cell of the grid, row-major; nothing unless each has one.
std::optional<std::vector<int>> holdersOf(const std::vector<Box>& boxes, const Cuts& cuts) {
  std::vector<std::pair<std::vector<std::size_t>, int>> held;
  for (int r = 0; r < static_cast<int>(boxes.size()); ++r) {
    if (isEmpty(boxes[r]))
      continue;
    auto cell = cellOf(boxes[r], cuts);
    if (!cell)
      return {};
    held.emplace_back(std::move(*cell), r);
  }
  std::size_t size = 1;
  for (const auto& points : cuts)
    if (size *= points.size() - 1; size > held.size())
      return {};
  std::sort(held.begin(), held.end());
  const auto sameCell = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (size != held.size() || std::adjacent_find(held.begin(), held.end(), sameCell) != held.end())
    return {};
  std::vector<int> ranks;
  for (const auto& [cell, rank] : held)
    ranks.push_back(rank);
  return ranks;
}

} // namespace

Layout layoutFromBoxes(const std::vector<Box>& boxes, const std::optional<Shape>& shape) {
  const Shape domain = checkedDomain(boxes, shape);
  LayoutSpec spec;
  spec.shape = domain;
  spec.cuts = cutsOf(boxes, domain);
  auto ranks = holdersOf(boxes, spec.cuts);
  if (!ranks)
    throwBoxFault(boxes, domain);
  std::vector<int> grid;
  for (std::size_t d = 0; d < domain.size(); ++d) {
    grid.push_back(static_cast<int>(spec.cuts[d].size()) - 1);
    spec.properties.push_back(Property::shard(static_cast<int>(d)));
  }
  spec.mesh = Mesh::make(std::move(grid), std::move(*ranks));
  return Layout(std::move(spec));
}

} // namespace tenon
