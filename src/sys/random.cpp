// SPDX-License-Identifier: BSD-2-Clause
// Normal numbers and permutations from the counter-based generator of random.hpp. Both are
// stateless functions of (seed, stream, index), independent of ranks, threads and previous draws.
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

// A uniform number in [0, bound), without the bias of a plain remainder: draws less than 2^64 mod
// bound are rejected, and the remaining ones divide evenly. Advances position by the number of
// draws.
std::uint64_t boundedDraw(std::uint64_t seed, std::uint64_t stream, std::uint64_t& position,
                          std::uint64_t bound) {
  // 2^64 mod bound, without 128-bit integers.
  const std::uint64_t rejected = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t bits = bitsAt(seed, stream, position++);
    if (bits >= rejected)
      return bits % bound;
  }
}

} // namespace

double normalAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  const auto draw = drawAt(seed, stream, index);
  // The uniform number u can be 0 but not 1, so log(1 - u) is finite, unlike log(u).
  const double radius = std::sqrt(-2.0 * std::log1p(-uniformOf(word(draw[0], draw[1]))));
  const double angle = 2.0 * std::numbers::pi * uniformOf(word(draw[2], draw[3]));
  return radius * std::cos(angle);
}

std::vector<Index> permutation(std::uint64_t seed, std::uint64_t stream, Index n) {
  if (n < 0)
    throw Error(TENON_ERR_ARG, fmt::format("the permutation has {} items; it must have >= 0", n));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  // Fisher-Yates shuffle: the last position gets one of all items, the one before it one of the
  // rest, and so on. A rejected draw only moves on to the next number of the stream.
  std::uint64_t position = 0;
  for (std::size_t remaining = order.size(); remaining > 1; --remaining)
    std::swap(order[remaining - 1], order[boundedDraw(seed, stream, position, remaining)]);
  return order;
}

} // namespace tenon
