// SPDX-License-Identifier: BSD-2-Clause
#include "plan/calibration.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Sums over phases of products of two terms, each divided by the seconds that were measured.
struct Products {
  double rr = 0, rb = 0, bb = 0; // rounds and bytes
  double r = 0, b = 0;           // with what is to be explained
};

// The two numbers, at least 0, of least sum of (what - latency rounds - perByte bytes)^2.
std::pair<double, double> fittedLink(const Products& p) {
  const double determinant = p.rr * p.bb - p.rb * p.rb;
  const double ofRounds = p.rr > 0 ? std::max(0., p.r / p.rr) : 0,
               ofBytes = p.bb > 0 ? std::max(0., p.b / p.bb) : 0;
  if (!(determinant > 1e-12 * p.rr * p.bb)) // the phases are all alike
    return {0, ofBytes};
  const double latency = (p.r * p.bb - p.b * p.rb) / determinant,
               perByte = (p.b * p.rr - p.r * p.rb) / determinant;
  if (latency < 0)
    return {0, ofBytes};
  if (perByte < 0)
    return {ofRounds, 0};
  return {latency, perByte};
}

} // namespace

OwnRates fittedRates(const std::vector<MeasuredPhase>& phases, OwnRates rates) {
  double f = 0, ff = 0;
  Products moves;
  for (const MeasuredPhase& phase : phases) {
    if (!(phase.seconds > 0))
      continue;
    const double flops = phase.flops / phase.seconds, rounds = phase.rounds / phase.seconds,
                 bytes = phase.bytes / phase.seconds, left = 1 - phase.rest / phase.seconds;
    f += flops;
    ff += flops * flops;
    moves.rr += rounds * rounds;
    moves.rb += rounds * bytes;
    moves.bb += bytes * bytes;
    moves.r += rounds * left;
    moves.b += bytes * left;
  }
  if (ff > 0)
    rates.flops = ff / f;
  if (moves.bb > 0) {
    const auto [latency, perByte] = fittedLink(moves);
    rates.links.latency = latency;
    if (perByte > 0)
      rates.links.bandwidth = 1 / perByte;
  }
  return rates;
}

} // namespace tenon
