// SPDX-License-Identifier: BSD-2-Clause
#include "sys/random.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace tenon {

namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9; // golden ratio
constexpr std::uint32_t kWeyl1 = 0xBB67AE85; // sqrt(3) - 1
constexpr int kRounds = 10;

constexpr std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
constexpr std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}
constexpr std::uint64_t word(std::uint32_t lowHalf, std::uint32_t highHalf) {
  return (static_cast<std::uint64_t>(highHalf) << 32) | lowHalf;
}
constexpr double uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

PhiloxCounter drawAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  return philox4x32({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
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

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = static_cast<std::uint64_t>(kMultiplier0) * counter[0];
    const std::uint64_t product1 = static_cast<std::uint64_t>(kMultiplier1) * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

std::uint64_t bitsAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  const auto draw = drawAt(seed, stream, index);
  return word(draw[0], draw[1]);
}

double uniformAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  return uniform(bitsAt(seed, stream, index));
}

double normalAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  const auto draw = drawAt(seed, stream, index);
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform(word(draw[0], draw[1]))));
  const double angle = 2.0 * std::numbers::pi * uniform(word(draw[2], draw[3]));
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
