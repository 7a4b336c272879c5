// SPDX-License-Identifier: BSD-2-Clause
#include "sys/random.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace tenon {

namespace {

constexpr std::uint64_t word(std::uint32_t lowHalf, std::uint32_t highHalf) {
  return (static_cast<std::uint64_t>(highHalf) << 32) | lowHalf;
}

// Uniform in [0, bound): numbers below 2^64 mod bound are refused, the rest divide evenly. Moves
// position past the draws that it takes.
std::uint64_t boundedDraw(std::uint64_t seed, std::uint64_t stream, std::uint64_t& position,
                          std::uint64_t bound) {
  const std::uint64_t refused = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t bits = bitsAt(seed, stream, position++);
    if (bits >= refused)
      return bits % bound;
  }
}

} // namespace

double normalAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  const auto draw = drawAt(seed, stream, index);
  const double radius = std::sqrt(-2.0 * std::log1p(-uniformOf(word(draw[0], draw[1]))));
  const double angle = 2.0 * std::numbers::pi * uniformOf(word(draw[2], draw[3]));
  return radius * std::cos(angle);
}

std::vector<Index> permutation(std::uint64_t seed, std::uint64_t stream, Index n) {
  if (n < 0)
    throw Error(TENON_ERR_ARG, fmt::format("the permutation has {} items; it must have >= 0", n));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::uint64_t position = 0;
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[boundedDraw(seed, stream, position, left)]);
  return order;
}

} // namespace tenon
