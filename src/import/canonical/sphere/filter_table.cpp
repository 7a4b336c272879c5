// SPDX-License-Identifier: BSD-2-Clause
// Recognises lists of filters (filter_table.hpp). A few rows of the output tell which grids and
// normalisations are possible; then all entries are compared. Settings of the same values, such as
// nodal and modal of isotropic functions, are not told apart.
#include "import/canonical/sphere/filter_table.hpp"

#include "kernels/sphere/turned_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

namespace tenon {

namespace {

using Entry = FilterTable::Entry;

constexpr double kFilterTolerance = 1e-6; // relative to the largest value: the rounding of float32
// FilterGrids::entries() counts up to 4 times those of hats.
constexpr double kMargin = 8; // between numbers of entries of filters that are compared
constexpr const char* kGrids[] = {"poles", "gauss", "cells"};
constexpr const char* kNorms[] = {"nodal", "modal", "none", "support", "geometric", "mean"};

// All entries of a block of rows of both grids, in order.
std::vector<Entry> entriesOf(const FilterGrids& grids, CircleRange fine, CircleRange coarse) {
  const TurnedFilter filter(grids, fine, coarse);
  std::vector<Entry> entries;
  entries.reserve(filter.entries.size());
  const Index functions = grids.basis().size();
  for (Index c = coarse.begin; c < coarse.end; ++c)
    for (Index k = 0; k < functions; ++k) {
      const Index list = (c - coarse.begin) * functions + k;
      for (Index i = filter.first[list]; i < filter.first[list + 1]; ++i) {
        const FilterEntry& e = filter.entries[i];
        const Index row = filter.fineRows[c - coarse.begin].begin + e.row,
                    point = row * grids.shape().fine.columns + e.column;
        entries.push_back({{static_cast<std::int32_t>(c), static_cast<std::int32_t>(k),
                            static_cast<std::int32_t>(point)},
                           e.value});
      }
    }
  return entries;
}

// The largest difference of two sorted lists; a missing entry is 0.
double largestDifference(const std::vector<Entry>& table, const std::vector<Entry>& own) {
  double largest = 0;
  auto a = table.begin(), b = own.begin();
  while (a != table.end() || b != own.end()) {
    const bool isInTable = b == own.end() || (a != table.end() && a->place <= b->place),
               isInOwn = a == table.end() || (b != own.end() && b->place <= a->place);
    const double value = isInTable ? (a++)->value : 0, ownValue = isInOwn ? (b++)->value : 0;
    largest = std::max(largest, std::abs(value - ownValue));
  }
  return largest;
}

class FilterComparison {
public:
  FilterComparison(const FilterTable& table, const ModelFilterBasis& basis) : table_(table) {
    shape_ = {.fine = {{}, table.fineRows, table.fineColumns},
              .coarse = {{}, table.coarseRows, table.coarseColumns},
              .basis = filterBasisNamed(basis.name),
              .radial = basis.kernel[0],
              .angular = basis.kernel[1],
              .cutoff = basis.cutoff,
              .isTransposed = table.isTransposed};
    for (const Entry& entry : table.entries)
      largest_ = std::max(largest_, std::abs(entry.value));
    takeSamples();
  }

  FilterSearch search() {
    if (shape_.functions() != table_.functions)
      return {std::nullopt,
              fmt::format("which have {} basis functions, while the settings in the file make {}",
                          table_.functions, shape_.functions())};
    // Filters have points in all rows, and in pairs of rows within the cutoff, here estimated: to
    // make a grid takes as long as the square of its rows.
    const double fineRows = double(table_.fineRows), coarseRows = double(table_.coarseRows),
                 pairs = fineRows * coarseRows * std::min(shape_.cutoff / std::numbers::pi, 1.);
    if (entries() < std::max(fineRows, coarseRows) || kMargin * entries() < pairs)
      return {std::nullopt, "whose values are fewer than the rows of the grids need"};
    for (const char* fine : kGrids)
      for (const char* coarse : kGrids)
        if (std::optional<FilterGrids> grids = gridsOf(fine, coarse))
          for (const char* norm : kNorms) {
            grids->setNorm(filterNormNamed(norm));
            if (const double difference = differenceFrom(*grids); difference <= kFilterTolerance)
              return {FilterMatch{fine, coarse, norm, difference}, ""};
          }
    if (std::isinf(nearest_))
      return {std::nullopt, fmt::format("which have {} values, while filters of these settings "
                                        "have many more or fewer on all grids",
                                        table_.entries.size())};
    std::string why = fmt::format(
        "whose values differ by {:.1e} of the largest or more from those on the grids poles "
        "(equiangular), gauss (legendre-gauss) and cells in every normalisation",
        nearest_);
    // The direction of the opposite point is that of 0 / 0.
    if (widenedCutoff(shape_.cutoff) >= std::numbers::pi)
      why +=
          fmt::format("; with a cutoff of {:.3g}, at least pi, those at the point opposite to the "
                      "centre are rounding errors",
                      shape_.cutoff);
    return {std::nullopt, why};
  }

private:
  // The entries of some rows of the output.
  struct Sample {
    CircleRange fine, coarse;
    std::vector<Entry> entries;
  };

  void takeSamples() {
    const CircleRange allFine = {0, table_.fineRows}, allCoarse = {0, table_.coarseRows};
    const Index rows = table_.isTransposed ? table_.fineRows : table_.coarseRows;
    for (const Index row : std::set<Index>{0, rows / 4, rows / 2, rows - 1}) {
      Sample sample{allFine, allCoarse, {}};
      (table_.isTransposed ? sample.fine : sample.coarse) = {row, row + 1};
      std::ranges::copy_if(
          table_.entries, std::back_inserter(sample.entries), [&](const Entry& entry) {
            return row == (table_.isTransposed ? entry.place.point / table_.fineColumns
                                               : Index(entry.place.row));
          });
      samples_.push_back(std::move(sample));
    }
  }

  double entries() const { return double(table_.entries.size()); }

  // None for a grid that has not so few rows, and for grids between which filters have far more or
  // fewer entries than the table: a comparison takes time for those of both.
  std::optional<FilterGrids> gridsOf(const char* fine, const char* coarse) {
    const auto hasRows = [](const char* grid, Index rows) { return rows > 1 || grid != kGrids[0]; };
    if (!hasRows(fine, table_.fineRows) || !hasRows(coarse, table_.coarseRows))
      return std::nullopt;
    shape_.fine.grid = sphereGridNamed(fine);
    shape_.coarse.grid = sphereGridNamed(coarse);
    FilterGrids grids(shape_);
    double pairs = 0; // of rows, each with a point or more
    for (const CircleRange& rows : grids.within())
      pairs += double(rows.size());
    if (pairs > kMargin * entries())
      return std::nullopt;
    const double own = grids.entries({0, table_.fineRows}, {0, table_.coarseRows});
    if (own > kMargin * entries() || own < entries() / 2)
      return std::nullopt;
    return grids;
  }

  // The largest difference of all entries, relative to the largest value. Where the samples differ,
  // theirs is enough.
  double differenceFrom(const FilterGrids& grids) {
    double difference = 0;
    // The mean over all rows takes as long for some of them as for all.
    if (grids.shape().norm != FilterNorm::Mean)
      for (const Sample& sample : samples_)
        difference =
            std::max(difference, largestDifference(sample.entries,
                                                   entriesOf(grids, sample.fine, sample.coarse)));
    if (difference <= kFilterTolerance * largest_)
      difference = largestDifference(
          table_.entries, entriesOf(grids, {0, table_.fineRows}, {0, table_.coarseRows}));
    nearest_ = std::min(nearest_, difference / largest_);
    return difference / largest_;
  }

  const FilterTable& table_;
  double largest_ = 0; // absolute value of an entry
  std::vector<Sample> samples_;
  TurnedFilterShape shape_{};
  double nearest_ = std::numeric_limits<double>::infinity(); // difference of any candidate
};

} // namespace

FilterSearch recognisedFilter(FilterTable& table, const ModelFilterBasis& basis) {
  std::ranges::sort(table.entries, {}, &Entry::place);
  if (std::ranges::adjacent_find(table.entries, {}, &Entry::place) != table.entries.end())
    return {std::nullopt, "which have two values at one place"};
  const auto isFinite = [](const Entry& entry) { return std::isfinite(entry.value); };
  const auto isZero = [](const Entry& entry) { return entry.value == 0; };
  if (!std::ranges::all_of(table.entries, isFinite) || std::ranges::all_of(table.entries, isZero))
    return {std::nullopt, "whose values are all 0, or infinite"};
  return FilterComparison(table, basis).search();
}

} // namespace tenon
