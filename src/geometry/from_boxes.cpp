// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/from_boxes.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace tenon {

namespace {

std::vector<std::vector<Index>> cutsOf(const std::vector<Box>& boxes, int rank) {
  std::vector<std::vector<Index>> cuts;
  for (int d = 0; d < rank; ++d) {
    std::map<Index, int> points; // and a rank whose box has it
    for (int r = 0; r < static_cast<int>(boxes.size()); ++r)
      if (cells(boxes[r]) > 0)
        for (Index point : {boxes[r][d].begin, boxes[r][d].end})
          points.try_emplace(point, r);
    if (points.begin()->first != 0)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the boxes of dimension {} begin at {}, on rank {}; global indices "
                              "begin at 0",
                              d, points.begin()->first, points.begin()->second));
    cuts.emplace_back();
    for (const auto& [point, holder] : points)
      cuts.back().push_back(point);
  }
  return cuts;
}

// The number of the cut at which a box begins in dimension d.
int cutBelow(const std::vector<Index>& cuts, const Interval& side) {
  return static_cast<int>(std::lower_bound(cuts.begin(), cuts.end(), side.begin) - cuts.begin());
}

// A box that spans several cells leaves no grid.
void checkOneCell(const Box& box, const std::vector<std::vector<Index>>& cuts, int r) {
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    const Index next = cuts[d][cutBelow(cuts[d], box[d]) + 1];
    if (next != box[d].end)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the boxes are no Cartesian grid: rank {} holds {}:{} in dimension "
                              "{}, but another rank's box is cut at {}",
                              r, box[d].begin, box[d].end, d, next));
  }
}

std::vector<std::string> cutTexts(const std::vector<std::vector<Index>>& cuts) {
  std::vector<std::string> texts;
  for (const auto& list : cuts)
    texts.push_back(fmt::format("{}", fmt::join(list, ",")));
  return texts;
}

int cellOf(const Box& box, const std::vector<std::vector<Index>>& cuts) {
  int cell = 0;
  for (std::size_t d = 0; d < cuts.size(); ++d)
    cell = cell * static_cast<int>(cuts[d].size() - 1) + cutBelow(cuts[d], box[d]);
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
  for (int r = 0; r < static_cast<int>(boxes.size()); ++r)
    if (cells(boxes[r]) > 0)
      checkOneCell(boxes[r], spec.cuts, r);
  std::vector<int> grid;
  std::size_t size = 1;
  for (int d = 0; d < rank; ++d) {
    spec.shape.push_back(spec.cuts[d].back());
    grid.push_back(static_cast<int>(spec.cuts[d].size()) - 1);
    size *= grid.back();
    spec.properties.push_back(Property::shard(d));
    if (size > boxes.size())
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format("the boxes leave gaps: their cuts [{}] make more cells than there are "
                      "ranks, {}",
                      fmt::join(cutTexts(spec.cuts), "] x ["), boxes.size()));
  }
  std::vector<int> ranks(size, -1);
  for (int r = 0; r < static_cast<int>(boxes.size()); ++r) {
    if (cells(boxes[r]) == 0)
      continue;
    int& holder = ranks[cellOf(boxes[r], spec.cuts)];
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
