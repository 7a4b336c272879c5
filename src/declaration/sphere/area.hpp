// SPDX-License-Identifier: BSD-2-Clause
// Weights by area of the elements of a field on a globe, for sums and means: the setting `area` of
// a type names the grid of latitudes, and the weight of an element is its part of the sphere, the
// same for all elements of a row y,
//
//   q_y = w_y / (2 N),   N longitudes, quadrature weights w_y (kernels/sphere/rows.hpp)
//
// The w_y sum to 2, and the weights of all elements of the sphere to 1. Elements that differ in
// batch, channel or level have the weights of their rows too.
#pragma once

#include "declaration/core/declaration.hpp"
#include "kernels/base/context.hpp"

#include <optional>
#include <vector>

namespace tenon {

inline constexpr OptionSpec kAreaSetting = {"area", OptionSpec::Choice, "none",
                                            "weights of elements by their area on the sphere: "
                                            "none, or the grid of the latitudes: gauss, Gauss "
                                            "points; poles, equidistant rows from pole to pole; "
                                            "cells, the middles of equidistant rows",
                                            "none|gauss|poles|cells"};
inline constexpr OptionSpec kAreaDimSetting = {"area_dim",
                                               OptionSpec::Int,
                                               "2",
                                               "dimension of the latitudes for area, counted "
                                               "from 0; the longitudes are the next one, or the "
                                               "one before if the latitudes are the last",
                                               nullptr,
                                               atLeast(0)};

// The rows of a field with weights by area.
struct AreaRows {
  int dim;                   // of the latitudes
  Index longitudes;          // N
  std::vector<double> share; // w_y / 2 by row, with the sum 1
};

// The rows of an input of this shape; none if the setting is none. Throws TENON_ERR_SHAPE if it has
// no such dimension, or a dimension that the grid cannot have.
std::optional<AreaRows> areaRows(const Declaration& type, const Shape& x);

// The kernels of an instance norm with weights by area (area_moments.cpp), by their names.
struct KernelPlace;
class ArrayKernel;
std::unique_ptr<ArrayKernel> makeAreaMomentKernel(const KernelPlace& at, const AreaRows& area);

// The shares of a block of rows, times a factor, in the memory of a context.
template <class T>
ReadList<T> sharesOf(const AreaRows& rows, Interval block, KernelContext& context,
                     double factor = 1) {
  std::vector<T> shares;
  for (Index row = block.begin; row < block.end; ++row)
    shares.push_back(static_cast<T>(factor * rows.share[row]));
  return ReadList<T>(context, std::move(shares));
}

} // namespace tenon
