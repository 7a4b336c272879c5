// SPDX-License-Identifier: BSD-2-Clause
// Normal numbers and permutations from the counter-based generator of random.hpp. Both are
// functions of (seed, stream, index) without any state, so they do not depend on the number of
// ranks, on threads, or on what was drawn before.
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

// A uniform number in [0, bound), without the bias of a plain remainder: draws below 2^64 mod bound
// are rejected, and the remaining ones divide evenly. Moves position past the draws that it takes.
std::uint64_t boundedDraw(std::uint64_t seed, std::uint64_t stream, std::uint64_t& position,
                          std::uint64_t bound) {
  // 2^64 mod bound, without a 128-bit integer.
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
  // The uniform number u can be 0 but never 1, so log(1 - u) is finite where log(u) would not be.
  const double radius = std::sqrt(-2.0 * std::log1p(-uniformOf(word(draw[0], draw[1]))));
  const double angle = 2.0 * std::numbers::pi * uniformOf(word(draw[2], draw[3]));
  return radius * std::cos(angle);
}

std::vector<Index> permutation(std::uint64_t seed, std::uint64_t stream, Index n) {
  if (n < 0)
    throw Error(TENON_ERR_ARG, fmt::format("the permutation has {} items; it must have >= 0", n));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  // The shuffle of Fisher and Yates, from the last place down. Its draws depend on n alone.
  std::uint64_t position = 0;
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[boundedDraw(seed, stream, position, left)]);
  return order;
}

} // namespace tenon
