// SPDX-License-Identifier: BSD-2-Clause
// Fits the rates of a machine to measured times, by non-negative least squares of relative errors
// (leastSquares) or of ratios (leastRatios):
//
//    flop rate  minimises the relative errors of kernel times predicted as operations / rate
//    kernels    a factor for each kind and pass: by how much its kernels took longer than predicted
//    links      a factor each for latency, bandwidth and copying; then one for all three, with
//               which the total time of all moves is right. A move is the data movement between
//               two layers.
#pragma once

#include "machine/link.hpp"
#include "planner/prices/own_model.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace tenon {

// A measured time as a sum of a few parts. The fit finds the factors of the parts that explain the
// measured times best.
template <std::size_t N>
struct MeasuredSum {
  std::array<double, N> parts{};
  double seconds = 0;
  double weight = 1; // of the relative error
};

namespace squares {

// The normal equations A f = b of the factors f, as rows [A_i0 ... A_i,N-1, b_i]. With the relative
// parts r_i = weight parts[i] / seconds of each measured sum, A_ij is the sum of r_i r_j over the
// measured sums, and b_i that of r_i weight.
template <std::size_t N>
using Equations = std::array<std::array<double, N + 1>, N>;

template <std::size_t N>
Equations<N> normalEquations(const std::vector<MeasuredSum<N>>& sums) {
  Equations<N> a{};
  for (const MeasuredSum<N>& sum : sums)
    for (std::size_t i = 0; i < N; ++i) {
      const double row = sum.weight * sum.parts[i] / sum.seconds;
      for (std::size_t j = 0; j < N; ++j)
        a[i][j] += row * sum.weight * sum.parts[j] / sum.seconds;
      a[i][N] += row * sum.weight;
    }
  return a;
}

// Solves the normal equations for the parts in the bit mask `chosen` by Gaussian elimination; the
// other factors are 0. There is no solution if these parts are proportional in all sums, or if a
// factor would be negative.
template <std::size_t N>
std::optional<std::array<double, N>> solved(Equations<N> a, unsigned chosen) {
  constexpr double kMinPivot = 1e-9; // relative; less is rounding: the parts are proportional
  const auto isIn = [&](std::size_t i) { return (chosen >> i & 1) != 0; };
  for (std::size_t i = 0; i < N; ++i) {
    if (!isIn(i))
      continue;
    const double before = a[i][i];
    for (std::size_t k = 0; k < i; ++k)
      if (isIn(k)) {
        const double multiple = a[i][k] / a[k][k];
        for (std::size_t j = k; j <= N; ++j)
          a[i][j] -= multiple * a[k][j];
      }
    if (!(a[i][i] > kMinPivot * before))
      return std::nullopt;
  }
  std::array<double, N> factors{};
  for (std::size_t i = N; i-- > 0;) {
    if (!isIn(i))
      continue;
    double rest = a[i][N];
    for (std::size_t j = i + 1; j < N; ++j)
      rest -= isIn(j) ? a[i][j] * factors[j] : 0;
    factors[i] = rest / a[i][i];
    if (factors[i] < 0)
      return std::nullopt;
  }
  return factors;
}

} // namespace squares

template <std::size_t N>
double sumOf(const MeasuredSum<N>& sum, const std::array<double, N>& factors) {
  double all = 0;
  for (std::size_t i = 0; i < N; ++i)
    all += factors[i] * sum.parts[i];
  return all;
}

// Least squares of relative errors with factors of at least 0, over the sums with positive times;
// none if there is no such sum. This is a non-negative least-squares problem, whose optimum is the
// plain solution for some subset of the parts: all subsets are tried, since there are few parts.
template <std::size_t N>
std::optional<std::array<double, N>> leastSquares(std::vector<MeasuredSum<N>> sums) {
  std::erase_if(sums, [](const MeasuredSum<N>& sum) { return !(sum.seconds > 0); });
  const auto equations = squares::normalEquations<N>(sums);
  std::optional<std::array<double, N>> best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned chosen = 1; chosen < 1U << N; ++chosen)
    if (const auto factors = squares::solved<N>(equations, chosen)) {
      double errors = 0;
      for (const MeasuredSum<N>& sum : sums)
        errors += std::pow(sum.weight * (1 - sumOf(sum, *factors) / sum.seconds), 2);
      if (errors < least) {
        least = errors;
        best = factors;
      }
    }
  return best;
}

// The least sum of p / m + m / p over the predicted times p and measured times m, which treats a
// time that is too long by a factor like one that is too short. Iteratively reweighted least
// squares: with w^2 = m (m + p0) / p0^2 at the last solution p0, the derivative of
// w^2 (1 - p / m)^2 at p0 is twice that of p / m + m / p.
template <std::size_t N>
std::optional<std::array<double, N>> leastRatios(std::vector<MeasuredSum<N>> sums) {
  constexpr int kFits = 8; // each with the weights of the last solution
  std::optional<std::array<double, N>> factors;
  for (int fit = 0; fit < kFits; ++fit) {
    factors = leastSquares(sums);
    if (!factors)
      return factors;
    for (MeasuredSum<N>& sum : sums)
      if (const double predicted = sumOf(sum, *factors); predicted > 0)
        sum.weight = std::sqrt(sum.seconds * (sum.seconds + predicted)) / predicted;
  }
  return factors;
}

// The predicted time of a move (its price) has three parts: latency with the overhead of messages,
// transfer, and copying. The fit finds the factors of these parts that explain the measured times
// best.
inline constexpr int kPriceParts = 3;
using PriceParts = std::array<double, kPriceParts>;

// The predicted seconds of a move for given rates. A price is linear in the times of the rates
// while the same algorithm of the move is the cheapest, so each part is a slope.
using Price = std::function<double(const LinkRates&)>;
PriceParts partsOfPrice(const LinkRates& rates, const Price& price);
// For many prices at once: calls `visit` with the rates, and then, for each part, with rates whose
// times of that part are slightly longer. slopeOf() returns the part from the two prices.
void visitSlopes(const LinkRates& rates, const std::function<void(const LinkRates&)>& visit);
double slopeOf(double seconds, double secondsBySlope);
// The rates with their times multiplied by the factors.
LinkRates scaledRates(const LinkRates& rates, const PriceParts& factors);

using MeasuredMove = MeasuredSum<kPriceParts>;

// The factors of at least 0 with the least squares of relative errors. A part that no measured move
// has gets the factor 1.
PriceParts fittedFactors(const std::vector<MeasuredMove>& moves);

struct MeasuredKernel {
  std::string kind;
  KernelWork work;
  double seconds = 0;
};

// Fits the rates. The parts of the moves must have been computed with the same rates. Rates without
// measurements remain unchanged.
OwnRates fittedRates(const std::vector<MeasuredKernel>& kernels,
                     const std::vector<MeasuredMove>& moves, Index elementBytes, OwnRates rates);

} // namespace tenon
