// SPDX-License-Identifier: BSD-2-Clause
// The filters of discrete-continuous convolutions on the sphere as sparse rows. Between a fine and
// a coarse grid of latitudes and longitudes, the basis function k of a filter whose centre is the
// point (c, 0) of the coarse grid has the value psi at points (f, p) of the fine grid:
//
//   z[k, c, x] = sum over f and p of psi[k, c; f, p] u[f, p + s x],   s = longitudes fine / coarse
//
// Points at other longitudes x have the same rows, turned, so the entries of one longitude are
// stored. Only rows f of latitude within the cutoff of c have entries; near a pole these have
// points of all longitudes, those across the pole included. `psi` contains the quadrature weights
// of the grid that is summed over, which sum to 1 over the sphere, and a normalisation.
//
// The transpose maps from the coarse to the fine grid; its rows are summed over the coarse grid.
#pragma once

#include "kernels/sphere/filter_basis.hpp"
#include "kernels/sphere/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <numbers>

namespace tenon {

// How the values of a basis function are normalised at each latitude of the output:
//   Nodal      sum of |psi| q = 1, q the quadrature weights
//   Modal      the same after the mean of each anisotropic function is subtracted
//   Mean       nodal on average over all latitudes
//   Support    by the area of the support on the grid
//   Geometric  by half the area of the cap within the cutoff, as a part of the sphere's
//   None       not
enum class FilterNorm { Nodal, Modal, Mean, Support, Geometric, None };
FilterNorm filterNormNamed(std::string_view name);

// Limits of layers, since filters have lists of rows and columns, and of basis functions. Cutoffs
// beyond pi are those of networks on few rows, whose filters are parts of hats that are wider than
// the sphere.
inline constexpr Index kMaxFilterRows = Index(1) << 15, kMaxFilterColumns = Index(1) << 17,
                       kMaxFilterKernel = 64;
inline constexpr double kMaxFilterCutoff = 4 * std::numbers::pi;

// Rows from `begin` on, up to but excluding `end`.
struct CircleRange {
  Index begin = 0, end = 0;

  Index size() const { return end > begin ? end - begin : 0; }
};
// The rows of both; an empty range if there are none.
inline CircleRange intersect(CircleRange a, CircleRange b) {
  const Index begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// Rows of latitude and columns of longitude of a grid.
struct SphereMesh {
  SphereGrid grid;
  Index rows, columns;

  bool operator==(const SphereMesh&) const = default;
};

struct TurnedFilterShape {
  SphereMesh fine, coarse;
  FilterBasisKind basis;
  Index radial, angular;
  double cutoff;
  FilterNorm norm = FilterNorm::Nodal;
  bool isTransposed = false; // sums over the coarse grid
  bool southFirst = false;   // row 0 of both grids is in the south

  Index functions() const { return filterBasisSize(basis, radial, angular); }
  Index step() const { return fine.columns / coarse.columns; }
  bool operator==(const TurnedFilterShape&) const = default;
};

// A point at a colatitude and a longitude as seen from the centre of a filter at colatitude
// `centre` and longitude 0: its distance and direction, as FilterBasis has them.
struct FilterPoint {
  double distance, direction;
};
FilterPoint pointSeenFrom(double centre, double colatitude, double longitude);

// The largest distance of neighbouring rows of a grid, which has two rows or more: the default
// cutoff of filters with centres on it.
double largestRowDistance(const SphereMesh& mesh);

// The cutoff of the support, which is wider than requested by one part in a thousand: points at the
// cutoff are then inside whatever the rounding.
double widenedCutoff(double cutoff);

// The rows `of` a grid within the widened cutoff of each colatitude `at`, both in increasing order.
// The ends of the intervals do not decrease.
std::vector<CircleRange> rowsWithin(const std::vector<double>& at, const std::vector<double>& of,
                                    double cutoff);

// Both grids of a filter.
class FilterGrids {
public:
  explicit FilterGrids(const TurnedFilterShape& shape);

  const TurnedFilterShape& shape() const noexcept { return shape_; }
  const FilterBasis& basis() const noexcept { return basis_; }
  // Colatitudes, as if row 0 were in the north, which makes no difference to distances.
  const std::vector<double>& fine() const noexcept { return fine_.colatitude; }
  const std::vector<double>& coarse() const noexcept { return coarse_.colatitude; }
  // The quadrature weights of the grid that is summed over.
  const std::vector<double>& weights() const noexcept {
    return (shape_.isTransposed ? coarse_ : fine_).weight;
  }
  // All else is the same for all normalisations.
  void setNorm(FilterNorm norm) noexcept { shape_.norm = norm; }
  // By row of the coarse grid, the rows of the fine grid with entries.
  const std::vector<CircleRange>& within() const noexcept { return within_; }
  // The number of entries of all functions in a block of rows of both grids, at one longitude:
  // exact but for rounding at the cutoff, and for hats an upper bound.
  double entries(CircleRange fine, CircleRange coarse) const;

private:
  TurnedFilterShape shape_;
  SphereRows fine_, coarse_;
  std::vector<CircleRange> within_;
  FilterBasis basis_;
};

// One entry: the row of the fine grid, counted from the first one of its row of the coarse grid,
// and the column.
struct FilterEntry {
  std::int32_t row, column;
  double value;
};
// The entries of a block of rows of the coarse grid with columns of a block of rows of the fine
// grid, by row and function.
struct TurnedFilter {
  std::vector<CircleRange> fineRows; // by row of the coarse block: the rows of the fine grid
  std::vector<Index> first;          // by row and function, then the end
  std::vector<FilterEntry> entries;

  // Of transposed filters, `coarse` must have all rows within the cutoff of `fine`.
  TurnedFilter(const FilterGrids& grids, CircleRange fine, CircleRange coarse);
};

} // namespace tenon
