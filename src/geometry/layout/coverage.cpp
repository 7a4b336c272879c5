// SPDX-License-Identifier: BSD-2-Clause
// Complement of a product of intervals. An element outside the product can be in gaps of several
// dimensions; it is listed for the first of them only, which makes the boxes disjoint.
#include "geometry/layout/coverage.hpp"

#include <algorithm>

namespace tenon {

Coverage coverage(std::vector<Interval> runs, Interval range) {
  std::erase_if(runs, [](const Interval& run) { return run.empty(); });
  std::sort(runs.begin(), runs.end(),
            [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
  // In the order of their beginnings, one pass finds the range covered up to `at` and the gaps.
  Coverage result;
  Index at = range.begin;
  for (const Interval& run : runs) {
    if (run.begin > at)
      result.gaps.push_back({at, run.begin});
    if (run.begin > at || result.covered.empty())
      result.covered.push_back(run);
    else
      result.covered.back().end = std::max(result.covered.back().end, run.end);
    at = std::max(at, run.end);
  }
  if (at < range.end)
    result.gaps.push_back({at, range.end});
  return result;
}

namespace {

// Appends all products of one interval per dimension to `boxes`.
void addProducts(const std::vector<std::vector<Interval>>& choices,
                 std::vector<ElementBox>& boxes) {
  std::vector<ElementBox> products(1);
  for (const auto& intervals : choices) {
    std::vector<ElementBox> longer;
    for (const ElementBox& box : products)
      for (const Interval& interval : intervals) {
        longer.push_back(box);
        longer.back().begin.push_back(interval.begin);
        longer.back().extent.push_back(interval.size());
      }
    products = std::move(longer);
  }
  boxes.insert(boxes.end(), products.begin(), products.end());
}

} // namespace

std::vector<ElementBox> gapsOf(const std::vector<Coverage>& dims) {
  std::vector<ElementBox> boxes;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::vector<std::vector<Interval>> choices;
    for (std::size_t e = 0; e < dims.size(); ++e) {
      // Dimensions after d are unrestricted: their covered runs and their gaps are both included.
      choices.push_back(e == d ? dims[e].gaps : dims[e].covered);
      if (e > d)
        choices.back().insert(choices.back().end(), dims[e].gaps.begin(), dims[e].gaps.end());
    }
    addProducts(choices, boxes);
  }
  return boxes;
}

std::vector<ElementBox> without(const std::vector<ElementBox>& boxes,
                                const std::vector<Coverage>& dims) {
  std::vector<ElementBox> rest;
  for (const ElementBox& box : boxes) {
    std::vector<Coverage> within;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const Interval range{box.begin[d], box.begin[d] + box.extent[d]};
      std::vector<Interval> runs;
      for (const Interval& run : dims[d].covered)
        runs.push_back(intersect(run, range));
      within.push_back(coverage(std::move(runs), range));
    }
    const std::vector<ElementBox> outside = gapsOf(within);
    rest.insert(rest.end(), outside.begin(), outside.end());
  }
  return rest;
}

} // namespace tenon
