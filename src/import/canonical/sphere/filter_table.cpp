// SPDX-License-Identifier: BSD-2-Clause
// Recognises lists of filters (filter_table.hpp). The points of a few rows bound the cutoff, if the
// grids are the right ones: it is between the largest distance of a point with an entry and the
// least one of a point without. For each basis with as many functions and each normalisation, the
// cutoff in these bounds follows from the values of these rows by the method of Gauss and Newton.
// Then all entries are compared.
#include "import/canonical/sphere/filter_table.hpp"

#include "kernels/sphere/turned_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <ranges>
#include <set>
#include <utility>

namespace tenon {

namespace {

using Entry = FilterTable::Entry;

constexpr double kFilterTolerance = 1e-6; // relative to the largest value: the rounding of float32
constexpr double kLooseTolerance = 1e-3;  // of the fit of the cutoff: the root of the mean square
constexpr double kHopeless = 0.5;         // the same, of the best of a few cutoffs
constexpr int kFew = 8;                   // cutoffs, to begin with
constexpr Index kMaxKernel = 64;          // as of the layer
constexpr const char* kGrids[] = {"poles", "gauss", "cells"};
constexpr const char* kBases[] = {"linear", "harmonic", "morlet", "zernike", "fourierbessel"};
constexpr const char* kNorms[] = {"nodal", "modal", "support", "geometric", "none", "mean"};

// The rows of the output whose entries determine the cutoff.
std::vector<Index> sampledRows(Index rows) {
  const std::set<Index> sampled = {0, rows / 4, rows / 2, rows - 1};
  return {sampled.begin(), sampled.end()};
}

// All entries of a block of rows of both grids, as the table has them.
std::vector<Entry> entriesOf(const TurnedFilterShape& shape, CircleRange fine, CircleRange coarse) {
  const FilterGrids grids(shape);
  const TurnedFilter filter(grids, fine, coarse);
  std::vector<Entry> entries;
  entries.reserve(filter.entries.size());
  const Index functions = grids.basis().size();
  for (Index c = coarse.begin; c < coarse.end; ++c)
    for (Index k = 0; k < functions; ++k) {
      const Index list = (c - coarse.begin) * functions + k;
      for (Index i = filter.first[list]; i < filter.first[list + 1]; ++i) {
        const FilterEntry& e = filter.entries[i];
        const Index point =
            (filter.fineRows[c - coarse.begin].begin + e.row) * shape.fine.columns + e.column;
        entries.push_back({{static_cast<std::int32_t>(c), static_cast<std::int32_t>(k),
                            static_cast<std::int32_t>(point)},
                           e.value});
      }
    }
  return entries;
}

// Calls visit(entry, own value) for all entries of two sorted lists; a missing one is 0.
template <class Visit>
void eachOfBoth(const std::vector<Entry>& table, const std::vector<Entry>& own,
                const Visit& visit) {
  auto a = table.begin(), b = own.begin();
  while (a != table.end() || b != own.end())
    if (b == own.end() || (a != table.end() && a->place < b->place)) {
      visit(*a++, 0.0);
    } else if (a == table.end() || b->place < a->place) {
      visit(Entry{b->place, 0}, b->value);
      ++b;
    } else {
      visit(*a++, b->value);
      ++b;
    }
}

double largestDifference(const std::vector<Entry>& table, const std::vector<Entry>& own) {
  double largest = 0;
  eachOfBoth(table, own, [&](const Entry& entry, double value) {
    largest = std::max(largest, std::abs(entry.value - value));
  });
  return largest;
}

// The entries of one sampled row of the output, and the blocks of rows that they are in.
struct Sample {
  CircleRange fine, coarse;
  std::vector<Entry> entries;
};

class FilterComparison {
public:
  explicit FilterComparison(const FilterTable& table) : table_(table) {
    shape_.isTransposed = table.isTransposed;
    for (const Entry& entry : table.entries)
      largest_ = std::max(largest_, std::abs(entry.value));
    const CircleRange allFine = {0, table.fineRows}, allCoarse = {0, table.coarseRows};
    for (const Index row : sampledRows(table.isTransposed ? table.fineRows : table.coarseRows)) {
      Sample sample{allFine, allCoarse, {}};
      (table.isTransposed ? sample.fine : sample.coarse) = {row, row + 1};
      std::ranges::copy_if(
          table.entries, std::back_inserter(sample.entries), [&](const Entry& entry) {
            return row == (table.isTransposed ? entry.place.point / table.fineColumns
                                              : Index(entry.place.row));
          });
      samples_.push_back(std::move(sample));
    }
  }

  FilterSearch search() {
    std::vector<Index> all(static_cast<std::size_t>(table_.coarseRows));
    std::iota(all.begin(), all.end(), 0);
    for (const char* fine : kGrids)
      for (const char* coarse : kGrids) {
        if ((table_.fineRows < 2 && fine == kGrids[0]) ||
            (table_.coarseRows < 2 && coarse == kGrids[0]))
          continue;
        shape_.fine = {sphereGridNamed(fine), table_.fineRows, table_.fineColumns};
        shape_.coarse = {sphereGridNamed(coarse), table_.coarseRows, table_.coarseColumns};
        if (!boundCutoff(sampledRows(table_.coarseRows)) || !boundCutoff(all))
          continue;
        hasPoints_ = true;
        if (auto match = matchOnGrids()) {
          match->fineGrid = fine;
          match->coarseGrid = coarse;
          return {match, ""};
        }
      }
    return {std::nullopt,
            !hasPoints_ ? "whose points are not those within any distance on rows of latitude of "
                          "the grids poles (equiangular), gauss (legendre-gauss) or cells"
                        : fmt::format("whose values differ by {:.1e} of the largest or more from "
                                      "those of every basis and normalisation",
                                      nearest_)};
  }

private:
  // Sets the bounds of the cutoff by the points of these rows of centres; false if there are none.
  bool boundCutoff(const std::vector<Index>& rowsOfCentres) {
    const std::vector<double> fine = sphereRows(shape_.fine.grid, table_.fineRows).colatitude,
                              coarse = sphereRows(shape_.coarse.grid, table_.coarseRows).colatitude;
    double inside = 0, outside = 2 * std::numbers::pi;
    for (const Index c : rowsOfCentres) {
      std::vector<bool> isInside(static_cast<std::size_t>(table_.fineRows * table_.fineColumns));
      CircleRange rows{table_.fineRows, 0};
      for (auto e = std::ranges::lower_bound(table_.entries, c, {},
                                             [](const Entry& entry) { return entry.place.row; });
           e != table_.entries.end() && e->place.row == c; ++e) {
        isInside[static_cast<std::size_t>(e->place.point)] = true;
        const Index row = e->place.point / table_.fineColumns;
        rows = {std::min(rows.begin, row), std::max(rows.end, row + 1)};
      }
      // Rows further away than the neighbours of these are at larger distances.
      rows = {std::max(rows.begin - 1, Index(0)), std::min(rows.end + 1, table_.fineRows)};
      for (Index f = rows.begin; f < rows.end; ++f)
        for (Index p = 0; p < table_.fineColumns; ++p) {
          const double longitude = 2 * std::numbers::pi * double(p) / double(table_.fineColumns),
                       distance = pointSeenFrom(coarse[c], fine[f], longitude).distance;
          if (isInside[static_cast<std::size_t>(f * table_.fineColumns + p)])
            inside = std::max(inside, distance);
          else
            outside = std::min(outside, distance);
        }
    }
    const double widening = widenedCutoff(1);
    greatest_ = std::min(outside / widening, std::numbers::pi);
    least_ = std::max(inside / widening, 1e-3 * greatest_);
    return inside < outside;
  }

  std::optional<FilterMatch> matchOnGrids() {
    for (const char* basis : kBases) {
      shape_.basis = filterBasisNamed(basis);
      for (shape_.radial = 1; shape_.radial <= kMaxKernel &&
                              filterBasisSize(shape_.basis, shape_.radial, 1) <= table_.functions;
           ++shape_.radial) {
        shape_.angular = angularNumber();
        if (auto match = shape_.angular > 0 ? matchOfKernel() : std::nullopt) {
          match->basis = basis;
          match->kernel = {shape_.radial,
                           shape_.basis == FilterBasisKind::Zernike ? 0 : shape_.angular};
          return match;
        }
      }
    }
    return std::nullopt;
  }

  // The second number with which the basis has as many functions as the table; 0 if there is none.
  // The size does not decrease with it, and stays once it is the same for two numbers.
  Index angularNumber() const {
    Index before = 0;
    for (Index angular = 1; angular <= kMaxKernel; ++angular) {
      const Index size = filterBasisSize(shape_.basis, shape_.radial, angular);
      if (size == table_.functions)
        return angular;
      if (size > table_.functions || size == before)
        break;
      before = size;
    }
    return 0;
  }

  std::optional<FilterMatch> matchOfKernel() {
    if (!isPossible())
      return std::nullopt;
    for (const char* norm : kNorms) {
      shape_.norm = filterNormNamed(norm);
      const double fitted = shape_.cutoff = fittedCutoff();
      // The mean over all rows takes as long for some of them as for all.
      if (fitted == 0 || (shape_.norm != FilterNorm::Mean && !fitsSamples()))
        continue;
      const double difference = differenceOfAll();
      nearest_ = std::min(nearest_, difference);
      if (difference > kFilterTolerance)
        continue;
      // The default is what the author did not set, if it fits as well.
      shape_.cutoff = largestRowDistance(shape_.coarse);
      const bool isDefault = std::abs(shape_.cutoff - fitted) <= kFilterTolerance * fitted &&
                             differenceOfAll() <= std::max(2 * difference, 1e-12);
      return FilterMatch{
          .normalisation = norm, .cutoff = isDefault ? 0 : fitted, .difference = difference};
    }
    return std::nullopt;
  }

  // -- the cutoff

  // Which entries a factor is fitted to: none, all of a function, or those in one output row.
  enum class Fit { None, Function, Row };

  // The entries of the samples minus those of the filters `shape`, relative to the norm of each
  // function, or of its part that has a factor.
  std::vector<double> residual(const TurnedFilterShape& shape, Fit fit) const {
    struct Sums {
      double vv = 0, ve = 0, ee = 0;
      double scale() const { return ee > 0 ? ve / ee : 0; }
    };
    const auto functions = static_cast<std::size_t>(table_.functions);
    std::vector<Sums> sums(functions * (fit == Fit::Row ? samples_.size() : 1));
    std::vector<std::pair<std::size_t, std::array<double, 2>>> pairs;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      eachOfBoth(samples_[i].entries, entriesOf(shape, samples_[i].fine, samples_[i].coarse),
                 [&](const Entry& entry, double e) {
                   const double v = entry.value;
                   const std::size_t part = (fit == Fit::Row ? i * functions : 0) +
                                            static_cast<std::size_t>(entry.place.function);
                   Sums& s = sums[part];
                   s = {s.vv + v * v, s.ve + v * e, s.ee + e * e};
                   // Only entries of the table: their number is the same at all cutoffs.
                   if (v != 0)
                     pairs.push_back({part, {v, e}});
                 });
    std::vector<double> result;
    for (const auto& [part, pair] : pairs) {
      const double scale = fit == Fit::None ? 1 : sums[part].scale();
      result.push_back((pair[0] - scale * pair[1]) / std::sqrt(sums[part].vv));
    }
    return result;
  }
  // The same of this normalisation, of which a mean over all rows is a factor.
  std::vector<double> residual(double cutoff) const {
    TurnedFilterShape shape = shape_;
    shape.cutoff = cutoff;
    const bool isMean = shape.norm == FilterNorm::Mean;
    if (isMean)
      shape.norm = FilterNorm::None;
    return residual(shape, isMean ? Fit::Function : Fit::None);
  }
  // The root of the mean square of a function's relative residual.
  double errorOf(const std::vector<double>& residual, std::size_t parts = 1) const {
    double sum = 0;
    for (const double r : residual)
      sum += r * r;
    return std::sqrt(sum / (double(table_.functions) * double(parts)));
  }

  // Whether the basis can be the right one with any normalisation, which is a factor of each row
  // and function, and for `modal` a small shift too.
  bool isPossible() const {
    TurnedFilterShape shape = shape_;
    shape.norm = FilterNorm::None;
    if (shape.basis == FilterBasisKind::Harmonic) // which differs by factors that take long
      shape.basis = FilterBasisKind::Morlet;
    for (int i = 0; i < kFew; ++i) {
      shape.cutoff = least_ + (greatest_ - least_) * (i + 0.5) / kFew;
      if (errorOf(residual(shape, Fit::Row), samples_.size()) <= kHopeless)
        return true;
    }
    return false;
  }

  // The cutoff at which the basis fits the samples; 0 if there is none. Hats make several minima,
  // so the steps begin at each of the lowest ones of equidistant cutoffs and of the greatest one,
  // which is pi if the filters cover the sphere.
  double fittedCutoff() const {
    constexpr int kAll = 64, kStarts = 4;
    std::map<double, double> errors{{greatest_, errorOf(residual(greatest_))}}; // by cutoff
    const auto scan = [&](int count) {
      for (int i = 0; i < count; ++i) {
        const double cutoff = least_ + (greatest_ - least_) * (i + 0.5) / count;
        errors.emplace(cutoff, errorOf(residual(cutoff)));
      }
      return std::ranges::min(errors | std::views::values);
    };
    if (scan(kFew) > kHopeless)
      return 0;
    for (const int count : {0, kAll}) {
      if (count > 0)
        scan(count);
      std::vector<std::pair<double, double>> starts; // error and cutoff of local minima
      for (auto at = errors.begin(); at != errors.end(); ++at)
        if ((at == errors.begin() || std::prev(at)->second >= at->second) &&
            (std::next(at) == errors.end() || std::next(at)->second >= at->second))
          starts.emplace_back(at->second, at->first);
      std::ranges::sort(starts);
      for (std::size_t i = 0; i < std::min<std::size_t>(starts.size(), kStarts); ++i)
        if (const auto [error, cutoff] = refined(starts[i].second); error <= kLooseTolerance)
          return cutoff;
    }
    return 0;
  }
  // Steps from a cutoff, as long as they reduce the error.
  std::pair<double, double> refined(double cutoff) const {
    constexpr int kSteps = 30;
    std::vector<double> at = residual(cutoff);
    double error = errorOf(at);
    for (int step = 0; step < kSteps; ++step) {
      const double h = 1e-3 * std::min(greatest_ - least_, 1e-3 * cutoff);
      const std::vector<double> above = residual(cutoff + h), below = residual(cutoff - h);
      double product = 0, square = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const double slope = (above[i] - below[i]) / (2 * h);
        product += slope * at[i];
        square += slope * slope;
      }
      if (square == 0)
        break;
      const double next = std::clamp(cutoff - product / square, least_, greatest_);
      std::vector<double> atNext = residual(next);
      if (errorOf(atNext) >= error)
        break;
      cutoff = next;
      at = std::move(atNext);
      error = errorOf(at);
    }
    return {error, cutoff};
  }

  // -- all entries

  bool fitsSamples() {
    double largest = 0;
    for (const Sample& sample : samples_)
      largest = std::max(largest, largestDifference(sample.entries,
                                                    entriesOf(shape_, sample.fine, sample.coarse)));
    const bool fits = largest <= kFilterTolerance * largest_;
    if (!fits)
      nearest_ = std::min(nearest_, largest / largest_);
    return fits;
  }
  double differenceOfAll() const {
    return largestDifference(table_.entries,
                             entriesOf(shape_, {0, table_.fineRows}, {0, table_.coarseRows})) /
           largest_;
  }
  const FilterTable& table_;
  double largest_ = 0; // absolute value of an entry
  std::vector<Sample> samples_;
  TurnedFilterShape shape_{};
  double least_ = 0, greatest_ = 0;                          // of the cutoff
  bool hasPoints_ = false;                                   // whether some grids fit the points
  double nearest_ = std::numeric_limits<double>::infinity(); // difference of any candidate
};

} // namespace

FilterSearch recognisedFilter(FilterTable& table) {
  std::ranges::sort(table.entries, {}, &Entry::place);
  if (std::ranges::adjacent_find(table.entries, {}, &Entry::place) != table.entries.end())
    return {std::nullopt, "which have two values at one place"};
  const auto isFinite = [](const Entry& entry) { return std::isfinite(entry.value); };
  const auto isZero = [](const Entry& entry) { return entry.value == 0; };
  if (!std::ranges::all_of(table.entries, isFinite) || std::ranges::all_of(table.entries, isZero))
    return {std::nullopt, "whose values are all 0, or infinite"};
  return FilterComparison(table).search();
}

} // namespace tenon
