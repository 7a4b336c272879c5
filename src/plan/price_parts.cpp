// SPDX-License-Identifier: BSD-2-Clause
#include "plan/price_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tenon {

namespace {

constexpr double kStep = 1e-3;              // of a rate, for slopes
constexpr double kLeastOfABandwidth = 1e-6; // factor of its times, so that it stays finite

// Solves the normal equations of some of the parts; none if these are alike in all moves.
std::optional<PriceParts> leastSquares(const std::vector<MeasuredMove>& moves, unsigned chosen) {
  double a[kPriceParts][kPriceParts + 1] = {};
  for (const MeasuredMove& move : moves)
    for (int i = 0; i < kPriceParts; ++i) {
      const double row = move.parts[i] / move.seconds;
      for (int j = 0; j < kPriceParts; ++j)
        a[i][j] += row * move.parts[j] / move.seconds;
      a[i][kPriceParts] += row;
    }
  PriceParts factors{};
  const auto isIn = [&](int i) { return (chosen >> i & 1) != 0; };
  for (int i = 0; i < kPriceParts; ++i) {
    if (!isIn(i))
      continue;
    const double before = a[i][i];
    for (int k = 0; k < i; ++k)
      if (isIn(k)) {
        const double share = a[i][k] / a[k][k];
        for (int j = k; j <= kPriceParts; ++j)
          a[i][j] -= share * a[k][j];
      }
    if (!(a[i][i] > 1e-9 * before))
      return std::nullopt;
  }
  for (int i = kPriceParts; i-- > 0;) {
    if (!isIn(i))
      continue;
    double left = a[i][kPriceParts];
    for (int j = i + 1; j < kPriceParts; ++j)
      left -= isIn(j) ? a[i][j] * factors[j] : 0;
    factors[i] = left / a[i][i];
    if (factors[i] < 0)
      return std::nullopt;
  }
  return factors;
}

double squaredErrors(const std::vector<MeasuredMove>& moves, const PriceParts& factors) {
  double sum = 0;
  for (const MeasuredMove& move : moves) {
    double predicted = 0;
    for (int i = 0; i < kPriceParts; ++i)
      predicted += factors[i] * move.parts[i];
    sum += std::pow(1 - predicted / move.seconds, 2);
  }
  return sum;
}

} // namespace

LinkRates scaledRates(const LinkRates& rates, const PriceParts& factors) {
  LinkRates scaled = rates;
  scaled.latency *= factors[0];
  scaled.overhead *= factors[0];
  const double transfers = std::max(factors[1], kLeastOfABandwidth);
  scaled.bandwidth /= transfers;
  scaled.copyBandwidth /= std::max(factors[2], kLeastOfABandwidth);
  for (LevelRates& level : scaled.levels) {
    level.latency *= factors[0];
    level.bandwidth /= transfers;
  }
  return scaled;
}

void visitSlopes(const LinkRates& rates, const std::function<void(const LinkRates&)>& visit) {
  visit(rates);
  for (int i = 0; i < kPriceParts; ++i) {
    PriceParts factors = {1, 1, 1};
    factors[i] += kStep;
    visit(scaledRates(rates, factors));
  }
}

double slopeOf(double seconds, double secondsBySlope) {
  return std::max(0., (secondsBySlope - seconds) / kStep);
}

PriceParts partsOfPrice(const LinkRates& rates, const Price& price) {
  std::vector<double> seconds;
  visitSlopes(rates, [&](const LinkRates& some) { seconds.push_back(price(some)); });
  PriceParts parts{};
  for (int i = 0; i < kPriceParts; ++i)
    parts[i] = slopeOf(seconds[0], seconds[1 + i]);
  return parts;
}

PriceParts fittedFactors(const std::vector<MeasuredMove>& given) {
  std::vector<MeasuredMove> moves;
  PriceParts most{};
  for (const MeasuredMove& move : given) {
    if (!(move.seconds > 0))
      continue;
    moves.push_back(move);
    for (int i = 0; i < kPriceParts; ++i)
      most[i] = std::max(most[i], move.parts[i] / move.seconds);
  }
  PriceParts best = {1, 1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned chosen = 1; chosen < 1U << kPriceParts; ++chosen)
    if (const auto factors = leastSquares(moves, chosen))
      if (const double errors = squaredErrors(moves, *factors); errors < least) {
        least = errors;
        best = *factors;
      }
  for (int i = 0; i < kPriceParts; ++i)
    if (most[i] == 0)
      best[i] = 1;
  return best;
}

} // namespace tenon
