// SPDX-License-Identifier: BSD-2-Clause
// Rates fitted to what was measured.
//
//    speed      least squares of the relative errors of kernels by their operations alone
//    kernels    for each kind and pass, the factor by which all of its kernels took longer than
//               predicted
//    links      latencies, bandwidths and copies, then all of them by the factor by which all moves
//               took longer
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

// Measured times as sums of a few parts, and the factors of the parts that explain best what was
// measured.

template <std::size_t N>
struct MeasuredSum {
  std::array<double, N> parts{};
  double seconds = 0;
  double weight = 1; // of the relative error
};

namespace squares {

// The normal equations: row i ends with its right side.
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

// Solves for some of the parts, while the others are 0. There is no solution if these parts are
// alike in all sums, or if a factor would be negative.
template <std::size_t N>
std::optional<std::array<double, N>> solved(Equations<N> a, unsigned chosen) {
  const auto isIn = [&](std::size_t i) { return (chosen >> i & 1) != 0; };
  for (std::size_t i = 0; i < N; ++i) {
    if (!isIn(i))
      continue;
    const double before = a[i][i];
    for (std::size_t k = 0; k < i; ++k)
      if (isIn(k)) {
        const double share = a[i][k] / a[k][k];
        for (std::size_t j = k; j <= N; ++j)
          a[i][j] -= share * a[k][j];
      }
    if (!(a[i][i] > 1e-9 * before))
      return std::nullopt;
  }
  std::array<double, N> factors{};
  for (std::size_t i = N; i-- > 0;) {
    if (!isIn(i))
      continue;
    double left = a[i][N];
    for (std::size_t j = i + 1; j < N; ++j)
      left -= isIn(j) ? a[i][j] * factors[j] : 0;
    factors[i] = left / a[i][i];
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

// Least squares of relative errors by factors of at least 0, over the sums that took any time; none
// if there is no such sum. All subsets of the parts are tried, which for the few parts here is
// exact and cheap.
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

// The least sum of p / m + m / p over the predicted times p and measured times m, for which a time
// that is too long by a factor is as bad as one that is too short. It is found by least squares
// again and again, with weights that give the squares the same derivative at the last solution.
template <std::size_t N>
std::optional<std::array<double, N>> leastRatios(std::vector<MeasuredSum<N>> sums) {
  constexpr int kFits = 8;
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

// Prices as sums of what latencies, bandwidths and the rest (overheads and copies) add to them, and
// the factors of these that explain best what was measured.

// The parts are latencies with the overheads of messages, bandwidths, and copies.
inline constexpr int kPriceParts = 3;
using PriceParts = std::array<double, kPriceParts>;

// A price as seconds by given rates. Prices are linear in the times of rates as long as no other
// way of the same move is cheaper, so that their parts are slopes.
using Price = std::function<double(const LinkRates&)>;
PriceParts partsOfPrice(const LinkRates& rates, const Price& price);
// For many prices at once: calls `visit` with the rates, and then with the rates of each part's
// slope.
void visitSlopes(const LinkRates& rates, const std::function<void(const LinkRates&)>& visit);
double slopeOf(double seconds, double secondsBySlope);
// The rates with their times multiplied by factors.
LinkRates scaledRates(const LinkRates& rates, const PriceParts& factors);

using MeasuredMove = MeasuredSum<kPriceParts>;

// The factors with the least squares of relative errors, at least 0. A part that no measured move
// has keeps the factor 1.
PriceParts fittedFactors(const std::vector<MeasuredMove>& moves);

struct MeasuredKernel {
  std::string kind;
  KernelWork work;
  double seconds = 0;
};

// Fits the rates, by which the parts of the moves must have been found. Rates of which nothing was
// measured stay as they are.
OwnRates fittedRates(const std::vector<MeasuredKernel>& kernels,
                     const std::vector<MeasuredMove>& moves, Index elementBytes, OwnRates rates);

} // namespace tenon
