// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/from_boxes.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace tenon {

namespace {

std::vector<std::vector<Index>> cutsOf(const std::vector<Box>& boxes, int rank) {
  std::vector<std::vector<Index>> cuts;
  for (int d = 0; d < rank; ++d) {
    std::set<Index> points;
    for (const Box& box : boxes)
      if (cells(box) > 0)
        points.insert({box[d].begin, box[d].end});
    if (*points.begin() != 0)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the boxes of dimension {} begin at {}; global indices begin at 0", d,
                              *points.begin()));
    cuts.emplace_back(points.begin(), points.end());
  }
  return cuts;
}

// The grid cell that a box is, or an error: a box that spans several cells leaves no grid.
int cellOf(const Box& box, const std::vector<std::vector<Index>>& cuts, int r) {
  int cell = 0;
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    const auto low = std::lower_bound(cuts[d].begin(), cuts[d].end(), box[d].begin);
    if (low[1] != box[d].end)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the boxes are no Cartesian grid: rank {} holds {}:{} in dimension "
                              "{}, but another rank's box is cut at {}",
                              r, box[d].begin, box[d].end, d, low[1]));
    cell = cell * static_cast<int>(cuts[d].size() - 1) + static_cast<int>(low - cuts[d].begin());
  }
  return cell;
}

} // namespace

Layout layoutFromBoxes(const std::vector<Box>& boxes) {
  const auto first =
      std::find_if(boxes.begin(), boxes.end(), [](const Box& box) { return cells(box) > 0; });
  if (first == boxes.end())
    throw Error(TENON_ERR_LAYOUT, "every rank's box is empty, so there is no tensor");
  const int rank = static_cast<int>(first->size());
  LayoutSpec spec;
  spec.cuts = cutsOf(boxes, rank);
  std::vector<int> grid;
  std::size_t size = 1;
  for (int d = 0; d < rank; ++d) {
    spec.shape.push_back(spec.cuts[d].back());
    grid.push_back(static_cast<int>(spec.cuts[d].size()) - 1);
    size *= grid.back();
    spec.properties.push_back(Property::shard(d));
    if (size > boxes.size())
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the boxes are no Cartesian grid: their cuts make {} cells up to "
                              "dimension {}, but there are {} ranks",
                              size, d, boxes.size()));
  }
  std::vector<int> ranks(size, -1);
  for (int r = 0; r < static_cast<int>(boxes.size()); ++r) {
    if (cells(boxes[r]) == 0)
      continue;
    int& holder = ranks[cellOf(boxes[r], spec.cuts, r)];
    if (holder >= 0)
      throw Error(TENON_ERR_LAYOUT, fmt::format("ranks {} and {} hold the same box", holder, r));
    holder = r;
  }
  for (std::size_t cell = 0; cell < size; ++cell)
    if (ranks[cell] < 0)
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format(
              "the boxes leave a gap: nobody holds cell {} of the {} grid that their cuts make",
              cell, fmt::join(grid, "x")));
  spec.mesh = Mesh::make(std::move(grid), std::move(ranks));
  return Layout(std::move(spec));
}

} // namespace tenon
