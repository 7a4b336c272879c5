// SPDX-License-Identifier: BSD-2-Clause
// Finds the process grid and the cuts of a tensor from the boxes that the ranks own. The begins and
// ends of all boxes in a dimension, sorted, are its cuts; they divide the domain into blocks, and
// each block must be exactly one box. If this is not so, a second search finds the ranks at fault
// for the message: two boxes that overlap, a range without a box, or boxes staggered like bricks.
// boxes[r] is the box of rank r; every rank has all of them and computes the same result.
#include "geometry/layout/from_boxes.hpp"

#include "geometry/layout/box.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

namespace {

using Boxes = std::vector<Box>;

bool isEmpty(const Box& box) {
  return std::any_of(box.begin(), box.end(), [](const Interval& side) { return side.empty(); });
}

std::string textOf(const Box& box) {
  std::string text;
  for (const Interval& side : box)
    text += fmt::format("{}[{},{})", text.empty() ? "" : " x ", side.begin, side.end);
  return text;
}

[[noreturn]] void fail(const std::string& text) {
  throw Error(TENON_ERR_LAYOUT, text);
}

// The rank of the nonempty box that is the smallest in an order.
template <class Less>
std::size_t firstBox(const Boxes& boxes, Less less) {
  std::size_t best = boxes.size();
  for (std::size_t r = 0; r < boxes.size(); ++r)
    if (!isEmpty(boxes[r]) && (best == boxes.size() || less(boxes[r], boxes[best])))
      best = r;
  return best;
}

Shape hullOf(const Boxes& boxes) {
  Shape shape(boxes.front().size(), 0);
  for (const Box& box : boxes)
    for (std::size_t d = 0; d < shape.size() && !isEmpty(box); ++d)
      shape[d] = std::max(shape[d], box[d].end);
  return shape;
}

Box intersect(const Box& a, const Box& b) {
  Box common;
  for (std::size_t d = 0; d < a.size(); ++d)
    common.push_back(intersect(a[d], b[d]));
  return common;
}

bool overlaps(const Box& box, const Box& range) {
  for (std::size_t d = 0; d < box.size(); ++d)
    if (box[d].end <= range[d].begin || box[d].begin >= range[d].end)
      return false;
  return true;
}

bool covers(const Box& box, const Box& range) {
  for (std::size_t d = 0; d < box.size(); ++d)
    if (box[d].begin > range[d].begin || box[d].end < range[d].end)
      return false;
  return true;
}

// Finds two boxes that overlap, or a range without a box, by bisection: a range that is neither
// empty nor inside one box is divided at the median of the box ends inside it, in the dimension in
// which the fuller half has the fewest boxes. The boxes of a grid are halved in this way, apart
// from the few faulty ones, so n boxes cost O(n log n).
class FaultSearch {
public:
  using Ranks = std::vector<std::size_t>;

  explicit FaultSearch(const Boxes& boxes) : boxes_(boxes) {}

  // Stops at the first overlap. `ranks` are the boxes that overlap the range, in the same order.
  void run(const Box& range, const Ranks& ranks) {
    // An overlap is reported before a gap, so after a gap the search goes on, but only where there
    // are boxes that can overlap.
    if (overlap_ || (gap_ && ranks.size() < 2))
      return;
    if (ranks.empty()) {
      gap_ = range;
      return;
    }
    const auto covering = std::find_if(ranks.begin(), ranks.end(),
                                       [&](std::size_t r) { return covers(boxes_[r], range); });
    if (covering != ranks.end()) {
      if (ranks.size() > 1)
        overlap_ = std::minmax(*covering, covering == ranks.begin() ? ranks[1] : ranks[0]);
      return;
    }
    const auto [d, position] = bestCut(range, ranks);
    for (const Interval side : {Interval{range[d].begin, position}, {position, range[d].end}}) {
      Box half = range;
      half[d] = side;
      Ranks inside;
      std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(inside),
                   [&](std::size_t r) { return overlaps(boxes_[r], half); });
      run(half, inside);
    }
  }

  const std::optional<std::pair<std::size_t, std::size_t>>& overlap() const { return overlap_; }
  // The gap, extended until it meets a box or the end of the domain: the range in which the search
  // ended depends on its cuts, which mean nothing to a user.
  std::optional<Box> gap(const Shape& domain) const {
    std::optional<Box> gap = gap_;
    for (std::size_t d = 0; d < domain.size() && gap; ++d) {
      Box column = *gap;
      column[d] = {0, domain[d]};
      Interval free = column[d];
      for (const Box& box : boxes_)
        if (!isEmpty(box) && overlaps(box, column)) {
          if (box[d].end <= (*gap)[d].begin)
            free.begin = std::max(free.begin, box[d].end);
          else
            free.end = std::min(free.end, box[d].begin);
        }
      (*gap)[d] = free;
    }
    return gap;
  }

private:
  // The dimension and the position at which a range is divided. There is one: no box covers the
  // range, so some box begins or ends inside it.
  std::pair<std::size_t, Index> bestCut(const Box& range, const Ranks& ranks) const {
    std::pair<std::size_t, Index> best;
    std::size_t fewest = 2 * ranks.size(); // More than a half can have.
    std::vector<Index> ends;
    for (std::size_t d = 0; d < range.size(); ++d) {
      ends.clear();
      for (std::size_t r : ranks)
        for (Index end : {boxes_[r][d].begin, boxes_[r][d].end})
          if (end > range[d].begin && end < range[d].end)
            ends.push_back(end);
      if (ends.empty())
        continue;
      const auto median = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
      std::nth_element(ends.begin(), median, ends.end());
      std::size_t below = 0, above = 0;
      for (std::size_t r : ranks) {
        below += boxes_[r][d].begin < *median ? 1 : 0;
        above += boxes_[r][d].end > *median ? 1 : 0;
      }
      if (std::max(below, above) < fewest) {
        fewest = std::max(below, above);
        best = {d, *median};
      }
    }
    return best;
  }

  const Boxes& boxes_;
  std::optional<std::pair<std::size_t, std::size_t>> overlap_;
  std::optional<Box> gap_;
};

// Distance of a box from a range in elements (a double, since the sum can overflow), and the number
// of dimensions in which their sides differ.
std::pair<double, int> distance(const Box& range, const Box& box) {
  double elements = 0;
  int different = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    elements += double(
        std::max<Index>({0, range[d].begin - box[d].end + 1, box[d].begin - range[d].end + 1}));
    different += range[d] == box[d] ? 0 : 1;
  }
  return {elements, different};
}

[[noreturn]] void failForOverlap(const Boxes& boxes, std::size_t a, std::size_t b) {
  fail(fmt::format("the boxes of ranks {} and {} overlap: {} and {} both contain {}", a, b,
                   textOf(boxes[a]), textOf(boxes[b]), textOf(intersect(boxes[a], boxes[b]))));
}

[[noreturn]] void failForGap(const Boxes& boxes, const Shape& domain, const Box& gap) {
  const std::size_t near = firstBox(
      boxes, [&](const Box& a, const Box& b) { return distance(gap, a) < distance(gap, b); });
  fail(fmt::format("no rank holds {} of the shape [{}]; the nearest box is {} on rank {}",
                   textOf(gap), fmt::join(domain, ","), textOf(boxes[near]), near));
}

// Throws if a box begins between the ends of another one, in any dimension. Ends need no separate
// check: if each element is owned once, each box ends where another one begins, or with the domain.
void checkBricks(const Boxes& boxes) {
  for (std::size_t d = 0; d < boxes.front().size(); ++d) {
    std::vector<std::pair<Index, std::size_t>> begins;
    for (std::size_t r = 0; r < boxes.size(); ++r)
      if (!isEmpty(boxes[r]))
        begins.emplace_back(boxes[r][d].begin, r);
    std::sort(begins.begin(), begins.end());
    for (std::size_t r = 0; r < boxes.size(); ++r) {
      // The next begin after that of this box: no rank is as large as boxes.size(), so all boxes
      // with the same begin come before this pair.
      const auto cut = std::upper_bound(begins.begin(), begins.end(),
                                        std::pair(boxes[r][d].begin, boxes.size()));
      if (!isEmpty(boxes[r]) && cut != begins.end() && cut->first < boxes[r][d].end)
        fail(fmt::format("the boxes do not form a Cartesian grid: in dimension {} the box "
                         "of rank {}, {}, begins at {}, inside the box of rank {}, {}",
                         d, cut->second, textOf(boxes[cut->second]), cut->first, r,
                         textOf(boxes[r])));
    }
  }
}

// The shape, or the smallest that contains all boxes. Throws TENON_ERR_LAYOUT, with rank and
// dimension, if all boxes are empty or one is outside the shape.
Shape checkedDomain(const Boxes& boxes, const std::optional<Shape>& shape) {
  if (std::all_of(boxes.begin(), boxes.end(), isEmpty)) {
    // The first dimension in which no box has an index; the boxes can also be empty in different
    // dimensions.
    std::size_t d = 0;
    while (d < boxes.front().size() &&
           std::ranges::any_of(boxes, [&](const Box& box) { return box[d].size() > 0; }))
      ++d;
    fail(fmt::format("every rank's box is empty{}, so there is no tensor; a box has the indices "
                     "from low to high - 1, high is excluded",
                     d < boxes.front().size() ? fmt::format(" in dimension {}", d) : ""));
  }
  Shape domain = shape ? *shape : hullOf(boxes);
  for (std::size_t d = 0; d < domain.size(); ++d) {
    const std::size_t low =
        firstBox(boxes, [&](const Box& a, const Box& b) { return a[d].begin < b[d].begin; });
    const std::size_t high =
        firstBox(boxes, [&](const Box& a, const Box& b) { return a[d].end > b[d].end; });
    if (const Index begin = boxes[low][d].begin; begin != 0)
      fail(fmt::format("the boxes begin at {} in dimension {}, where rank {} holds {}; global "
                       "indices begin at 0",
                       begin, d, low, textOf(boxes[low])));
    if (boxes[high][d].end > domain[d])
      fail(fmt::format("the box of rank {}, {}, ends past the shape [{}] in dimension {}", high,
                       textOf(boxes[high]), fmt::join(domain, ","), d));
  }
  return domain;
}

// Throws TENON_ERR_LAYOUT with the reason why boxes in the domain are not the blocks of a grid, and
// the ranks and boxes at fault: two boxes overlap, a range has no owner, or the boxes are staggered
// like bricks. Each check relies on those before it.
[[noreturn]] void throwBoxFault(const Boxes& boxes, const Shape& domain) {
  Box whole;
  for (Index extent : domain)
    whole.push_back({0, extent});
  FaultSearch::Ranks ranks;
  for (std::size_t r = 0; r < boxes.size(); ++r)
    if (!isEmpty(boxes[r]))
      ranks.push_back(r);
  FaultSearch search(boxes);
  search.run(whole, ranks);
  if (const auto& overlap = search.overlap())
    failForOverlap(boxes, overlap->first, overlap->second);
  if (const auto gap = search.gap(domain))
    failForGap(boxes, domain, *gap);
  checkBricks(boxes);
  throw Error(TENON_ERR_INTERNAL, "boxes without a fault are not a grid");
}

using Cuts = std::vector<std::vector<Index>>;

// The ends of the domain and of all boxes, in each dimension.
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

// Index of a box in the grid of the cuts, or nothing if the box is not one block of it.
std::optional<std::vector<std::size_t>> placeOf(const Box& box, const Cuts& cuts) {
  std::vector<std::size_t> place;
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    place.push_back(std::lower_bound(cuts[d].begin(), cuts[d].end(), box[d].begin) -
                    cuts[d].begin());
    if (cuts[d][place[d] + 1] != box[d].end)
      return {};
  }
  return place;
}

// The rank of each block of the grid, row-major, or nothing unless each block has exactly one.
std::optional<std::vector<int>> holdersOf(const std::vector<Box>& boxes, const Cuts& cuts) {
  std::vector<std::pair<std::vector<std::size_t>, int>> owners;
  for (int r = 0; r < static_cast<int>(boxes.size()); ++r) {
    if (isEmpty(boxes[r]))
      continue;
    auto place = placeOf(boxes[r], cuts);
    if (!place)
      return {};
    owners.emplace_back(std::move(*place), r);
  }
  // The loop stops once there are more blocks than boxes, so the product cannot overflow.
  std::size_t size = 1;
  for (const auto& points : cuts)
    if (size *= points.size() - 1; size > owners.size())
      return {};
  std::sort(owners.begin(), owners.end());
  const auto isSameBlock = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (size != owners.size() ||
      std::adjacent_find(owners.begin(), owners.end(), isSameBlock) != owners.end())
    return {};
  std::vector<int> ranks;
  for (const auto& [place, rank] : owners)
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
  spec.grid = Grid::make(std::move(grid), std::move(*ranks));
  return Layout(std::move(spec));
}

} // namespace tenon
