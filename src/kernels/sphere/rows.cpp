// SPDX-License-Identifier: BSD-2-Clause
// Nodes and weights of the grids of rows.hpp. Gauss nodes are found by Newton's method in the
// colatitude t instead of cos t: near a pole cos t is close to 1, and a step in it would lose
// digits. Weights of equidistant rows integrate the cosines of up to n - 1 waves times sin t.
#include "kernels/sphere/rows.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tenon {

namespace {

constexpr double kPi = std::numbers::pi;

// The Legendre polynomial P_n(cos t) and its derivative with respect to t.
struct LegendreValue {
  double value, slope;
};
LegendreValue legendreAt(Index n, double t) {
  const double x = std::cos(t);
  double before = 1, value = x;
  for (Index l = 2; l <= n; ++l) {
    const double next = (double(2 * l - 1) * x * value - double(l - 1) * before) / double(l);
    before = value;
    value = next;
  }
  return {value, -double(n) * (before - x * value) / std::sin(t)};
}

// The northern half and the equator.
void addGaussRows(Index n, SphereRows& rows) {
  constexpr int kNewtonSteps = 6; // each doubles the digits of Tricomi's approximation
  for (Index y = 0; y < (n + 1) / 2; ++y) {
    double t = kPi * (double(y) + 0.75) / (double(n) + 0.5);
    t += (1 - 1 / double(n)) / (8 * double(n * n) * std::tan(t));
    for (int step = 0; step < kNewtonSteps; ++step) {
      const LegendreValue p = legendreAt(n, t);
      t -= p.value / p.slope;
    }
    if (2 * y + 1 == n)
      t = kPi / 2;
    const double slope = legendreAt(n, t).slope;
    rows.colatitude.push_back(t);
    rows.weight.push_back(2 / (slope * slope));
  }
}

// w_y = (2 / n) sum over even k of 2 c_k cos(k t_y) / (1 - k^2), where c_k is 1/2 for k = 0; with
// poles n - 1 instead of n, c_(n-1) = 1/2, and half of it at the poles.
void addEquidistantRows(Index n, bool hasPoles, SphereRows& rows) {
  const Index steps = hasPoles ? n - 1 : n;
  for (Index y = 0; y < (n + 1) / 2; ++y) {
    const double t =
        2 * y + 1 == n ? kPi / 2 : kPi * (double(y) + (hasPoles ? 0 : 0.5)) / double(steps);
    double sum = 0;
    for (Index k = 0; k < n; k += 2) {
      const bool isHalf = k == 0 || (hasPoles && k == n - 1);
      sum += (isHalf ? 1 : 2) * std::cos(double(k) * t) / (1 - double(k) * double(k));
    }
    const bool isPole = hasPoles && y == 0;
    rows.colatitude.push_back(t);
    rows.weight.push_back((isPole ? 1 : 2) * sum / double(steps));
  }
}

} // namespace

SphereGrid sphereGridNamed(std::string_view name) {
  if (name == "gauss")
    return SphereGrid::Gauss;
  if (name == "poles")
    return SphereGrid::Poles;
  if (name == "cells")
    return SphereGrid::Cells;
  throw Error(TENON_ERR_ARG,
              fmt::format("there is no grid of latitudes '{}'; use 'gauss' (roots of a Legendre "
                          "polynomial), 'poles' or 'cells' (equidistant, with the poles or half a "
                          "row away from them)",
                          name));
}

SphereRows sphereRows(SphereGrid grid, Index rows) {
  const Index least = grid == SphereGrid::Poles ? 2 : 1;
  if (rows < least)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("a grid of {} rows was requested, but it needs at least {}", rows, least));
  SphereRows result;
  if (grid == SphereGrid::Gauss)
    addGaussRows(rows, result);
  else
    addEquidistantRows(rows, grid == SphereGrid::Poles, result);
  for (Index y = rows / 2; y-- > 0;) {
    result.colatitude.push_back(kPi - result.colatitude[y]);
    result.weight.push_back(result.weight[y]);
  }
  return result;
}

} // namespace tenon
