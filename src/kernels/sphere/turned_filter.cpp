// SPDX-License-Identifier: BSD-2-Clause
// The entries of turned_filter.hpp. The point (t', beta) of the fine grid is turned about the axis
// through longitude 90 degrees by -t, which moves the centre (t, 0) to the north pole; distance and
// direction are then its colatitude and longitude. At distance 0 the direction counts as 0, but at
// the south pole, as in torch-harmonics.
// Normalisations are sums over rows of the output, of which a block has all entries, except the
// mean over all latitudes, for which the entries of all are computed once more and not stored.
#include "kernels/sphere/turned_filter.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kSmallest = 1e-9; // of a divisor

// Columns to the east of the centre that can be within the cutoff, or -1 if there are none.
Index columnsWithin(double centre, double colatitude, double cutoff, Index columns) {
  if (std::abs(centre - colatitude) > cutoff)
    return -1;
  const double sines = std::sin(centre) * std::sin(colatitude);
  if (cutoff >= kPi || sines < 1e-12) // at a pole all columns are at one distance
    return columns / 2;
  const double cosine = (std::cos(cutoff) - std::cos(centre) * std::cos(colatitude)) / sines;
  if (cosine <= -1)
    return columns / 2;
  const double width = std::acos(std::min(cosine, 1.)) * double(columns) / (2 * kPi);
  return std::min(columns / 2, static_cast<Index>(width));
}

// Visits (function, row of the coarse grid, row of the fine grid, column, value) for all entries of
// a block.
template <class Visit>
void eachEntry(const FilterGrids& grids, CircleRange fine, CircleRange coarse, const Visit& visit) {
  const TurnedFilterShape& shape = grids.shape();
  const auto colatitude = [&](double t) { return shape.southFirst ? kPi - t : t; };
  const Index columns = shape.fine.columns;
  std::vector<std::pair<Index, FilterPoint>> points;
  for (Index c = coarse.begin; c < coarse.end; ++c) {
    const CircleRange rows = intersect(grids.within()[c], fine);
    for (Index f = rows.begin; f < rows.end; ++f) {
      const double centre = grids.coarse()[c], at = grids.fine()[f];
      const Index reach =
          1 /* for rounding */ + columnsWithin(centre, at, widenedCutoff(shape.cutoff), columns);
      points.clear();
      for (Index p = 0; p < columns; ++p)
        if (std::min(p, columns - p) <= reach)
          points.emplace_back(p, pointSeenFrom(colatitude(centre), colatitude(at),
                                               2 * kPi * double(p) / double(columns)));
      for (Index k = 0; k < grids.basis().size(); ++k)
        for (const auto& [column, point] : points)
          if (double value = 0; grids.basis().evaluate(k, point.distance, point.direction, &value))
            visit(k, c, f, column, value);
    }
  }
}

// Sums over the entries of each function and row of the output.
class FilterNorms {
public:
  FilterNorms(const FilterGrids& grids, CircleRange fine, CircleRange coarse)
      : grids_(grids), shape_(grids.shape()), rows_(shape_.isTransposed ? fine : coarse) {
    const TurnedFilterShape& shape = shape_;
    weights_ = grids.weights();
    for (double& w : weights_)
      w /= 2 * double(shape.fine.columns);
    if (shape.norm == FilterNorm::Mean) {
      fine = {0, shape.fine.rows};
      coarse = {0, shape.coarse.rows};
      rows_ = shape.isTransposed ? fine : coarse;
    }
    sum(fine, coarse);
  }

  // The normalised value of an entry times its quadrature weight.
  double normalised(Index k, Index c, Index f, double value) const {
    const double toCoarse = shape_.isTransposed ? double(shape_.step()) : 1;
    return (value - shift(k, c, f)) / divisor(k, c, f) * weight(c, f) * toCoarse;
  }

private:
  void sum(CircleRange fine, CircleRange coarse) {
    const auto count = static_cast<std::size_t>(functions() * rows_.size());
    if (shape_.norm == FilterNorm::Geometric || shape_.norm == FilterNorm::None)
      return;
    if (shape_.norm == FilterNorm::Modal || shape_.norm == FilterNorm::Support) {
      areas_.assign(count, 0);
      shifts_.assign(count, 0);
      eachEntry(grids_, fine, coarse, [&](Index k, Index c, Index f, Index, double value) {
        areas_[at(k, c, f)] += weight(c, f);
        if (!grids_.basis().isIsotropic(k))
          shifts_[at(k, c, f)] += value * weight(c, f);
      });
      for (std::size_t i = 0; i < count; ++i)
        shifts_[i] = areas_[i] > kSmallest ? shifts_[i] / areas_[i] : 0;
    }
    sums_.assign(count, 0);
    eachEntry(grids_, fine, coarse, [&](Index k, Index c, Index f, Index, double value) {
      sums_[at(k, c, f)] += std::abs(value - shift(k, c, f)) * weight(c, f);
    });
    for (Index k = 0; shape_.norm == FilterNorm::Mean && k < functions(); ++k) {
      const auto begin = sums_.begin() + k * rows_.size(), end = begin + rows_.size();
      double total = 0;
      for (auto i = begin; i != end; ++i)
        total += *i;
      std::fill(begin, end, total / double(rows_.size()));
    }
  }
  Index functions() const { return grids_.basis().size(); }
  std::size_t at(Index k, Index c, Index f) const {
    return static_cast<std::size_t>(k * rows_.size() + (shape_.isTransposed ? f : c) - rows_.begin);
  }
  double weight(Index c, Index f) const { return weights_[shape_.isTransposed ? c : f]; }
  double shift(Index k, Index c, Index f) const {
    return shape_.norm == FilterNorm::Modal ? shifts_[at(k, c, f)] : 0;
  }
  double divisor(Index k, Index c, Index f) const {
    switch (shape_.norm) {
    case FilterNorm::Nodal:
    case FilterNorm::Modal:
    case FilterNorm::Mean:
      return std::max(sums_[at(k, c, f)], kSmallest);
    case FilterNorm::Support:
      return std::max(areas_[at(k, c, f)], kSmallest);
    case FilterNorm::Geometric:
      return std::max((1 - std::cos(shape_.cutoff)) / 4, kSmallest);
    case FilterNorm::None:
      break;
    }
    return 1;
  }

  const FilterGrids& grids_;
  const TurnedFilterShape& shape_;
  CircleRange rows_;            // of the output
  std::vector<double> weights_; // of rows of the grid that is summed over
  std::vector<double> areas_, shifts_, sums_;
};

} // namespace

FilterNorm filterNormNamed(std::string_view name) {
  constexpr std::pair<std::string_view, FilterNorm> kNames[] = {
      {"nodal", FilterNorm::Nodal},         {"modal", FilterNorm::Modal},
      {"mean", FilterNorm::Mean},           {"support", FilterNorm::Support},
      {"geometric", FilterNorm::Geometric}, {"none", FilterNorm::None}};
  for (const auto& [known, norm] : kNames)
    if (known == name)
      return norm;
  throw Error(TENON_ERR_ARG,
              fmt::format("the normalisation of filters '{}' is unknown; use 'nodal', 'modal', "
                          "'mean', 'support', 'geometric' or 'none'",
                          name));
}

FilterPoint pointSeenFrom(double centre, double colatitude, double longitude) {
  const double c = std::cos(centre), s = std::sin(centre), cosine = std::cos(colatitude),
               sine = std::sin(colatitude);
  const double x = c * std::cos(longitude) * sine - cosine * s, y = std::sin(longitude) * sine,
               z = std::cos(longitude) * s * sine + c * cosine, across = std::sqrt(x * x + y * y);
  // At the south pole, where all longitudes are one point, the limit on a meridian.
  if (across < 1e-14 && z > 0) {
    const double atPole = std::atan2(std::sin(longitude), 1 - std::cos(longitude));
    return {0, c > 0 || s > 1e-14 ? 0 : atPole < 0 ? atPole + 2 * kPi : atPole};
  }
  const double direction = std::atan2(y, x);
  return {std::atan2(across, z), direction < 0 ? direction + 2 * kPi : direction};
}

double largestRowDistance(const SphereMesh& mesh) {
  const std::vector<double> rows = sphereRows(mesh.grid, mesh.rows).colatitude;
  double largest = 0;
  for (std::size_t y = 1; y < rows.size(); ++y)
    largest = std::max(largest, rows[y] - rows[y - 1]);
  return largest;
}

double widenedCutoff(double cutoff) {
  return (1 + 1e-3) * cutoff;
}

std::vector<CircleRange> rowsWithin(const std::vector<double>& at, const std::vector<double>& of,
                                    double cutoff) {
  const double reach = widenedCutoff(cutoff);
  std::vector<CircleRange> within;
  for (const double t : at)
    within.push_back({std::ranges::lower_bound(of, t - reach) - of.begin(),
                      std::ranges::upper_bound(of, t + reach) - of.begin()});
  return within;
}

FilterGrids::FilterGrids(const TurnedFilterShape& shape)
    : shape_(shape), fine_(sphereRows(shape.fine.grid, shape.fine.rows)),
      coarse_(sphereRows(shape.coarse.grid, shape.coarse.rows)),
      within_(rowsWithin(coarse(), this->fine(), shape.cutoff)),
      basis_(shape.basis, shape.radial, shape.angular, widenedCutoff(shape.cutoff)) {}

double FilterGrids::entries(CircleRange fine, CircleRange coarse) const {
  double points = 0;
  for (Index c = coarse.begin; c < coarse.end; ++c) {
    const CircleRange rows = intersect(within_[c], fine);
    for (Index f = rows.begin; f < rows.end; ++f) {
      const Index reach = columnsWithin(coarse_.colatitude[c], fine_.colatitude[f],
                                        widenedCutoff(shape_.cutoff), shape_.fine.columns);
      points += double(std::min(shape_.fine.columns, 2 * reach + 1));
    }
  }
  // A point is within two hats in each direction.
  const Index most = shape_.basis != FilterBasisKind::Linear ? basis_.size()
                     : shape_.angular > 1                    ? 4
                                                             : 2;
  return points * double(std::min(most, basis_.size()));
}

TurnedFilter::TurnedFilter(const FilterGrids& grids, CircleRange fine, CircleRange coarse) {
  const FilterNorms norms(grids, fine, coarse);
  std::vector<std::vector<FilterEntry>> ofRow(static_cast<std::size_t>(grids.basis().size()));
  first.push_back(0);
  for (Index c = coarse.begin; c < coarse.end; ++c) {
    fineRows.push_back(intersect(grids.within()[c], fine));
    const Index begin = fineRows.back().begin;
    eachEntry(grids, fine, {c, c + 1}, [&](Index k, Index, Index f, Index p, double value) {
      ofRow[k].push_back({static_cast<std::int32_t>(f - begin), static_cast<std::int32_t>(p),
                          norms.normalised(k, c, f, value)});
    });
    for (std::vector<FilterEntry>& list : ofRow) {
      entries.insert(entries.end(), list.begin(), list.end());
      first.push_back(static_cast<Index>(entries.size()));
      list.clear();
    }
  }
}

} // namespace tenon
