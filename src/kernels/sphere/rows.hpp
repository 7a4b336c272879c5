// SPDX-License-Identifier: BSD-2-Clause
// Latitudes of fields on the sphere, and the order in which spherical harmonic coefficients are
// stored. A field has `rows` circles of latitude, from the north pole on, at colatitudes t with
// weights w that sum to 2, so the mean over the sphere is the sum of w / 2 times the means over the
// circles. The grids:
//
//   Gauss   the roots of the Legendre polynomial P_n(cos t)      Gauss-Legendre weights
//   Poles   pi y / (n - 1), both poles included                  Clenshaw-Curtis weights
//   Cells   pi (y + 1/2) / n, midpoints of n equal bands         Fejer's first rule
#pragma once

#include "sys/types.hpp"

#include <string_view>
#include <vector>

namespace tenon {

// Where the latitudes of a grid are.
enum class SphereGrid { Gauss, Poles, Cells };

// The grid with this name: "gauss", "poles" or "cells". Throws TENON_ERR_ARG for another name.
SphereGrid sphereGridNamed(std::string_view name);

// The latitudes of a grid and their quadrature weights, from north to south.
struct SphereRows {
  std::vector<double> colatitude, weight;

  // The colatitudes of the northern half and of the equator.
  std::vector<double> northernHalf() const {
    const auto half = static_cast<std::ptrdiff_t>((colatitude.size() + 1) / 2);
    return {colatitude.begin(), colatitude.begin() + half};
  }
};
// Throws TENON_ERR_ARG if the grid has no such number of rows.
SphereRows sphereRows(SphereGrid grid, Index rows);

// The order m at a place of the dimension of orders: 0, M-1, 1, M-2, ... An order m has L - m
// degrees, so two adjacent places together have nearly the same number for all pairs, and blocks of
// equal size have equal work.
constexpr Index orderAtPlace(Index place, Index orders) {
  return place % 2 == 0 ? place / 2 : orders - 1 - place / 2;
}

} // namespace tenon
