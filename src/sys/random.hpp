// SPDX-License-Identifier: BSD-2-Clause
// Random numbers by position. Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) is a bijection of
// 128-bit counters with a 64-bit key, so a number is a pure function of (seed, stream, index):
//   key = seed, counter = (index, stream),
// and the element at a global index gets the same number on every rank and partition. For example,
// the initial value of a weight is normalAt(seed, streamOf("conv1.weight"), globalIndex).
#pragma once

#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// The ten rounds of Philox4x32-10: two products of 32-bit words per round, whose halves are
// exchanged and combined with the key by exclusive or.
TENON_DEVICE inline PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85; // golden ratio, sqrt(3) - 1
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0], product1 = kMultiplier1 * counter[2];
    counter = {std::uint32_t(product1 >> 32) ^ counter[1] ^ key[0], std::uint32_t(product1),
               std::uint32_t(product0 >> 32) ^ counter[3] ^ key[1], std::uint32_t(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

// The 128 random bits at an index.
TENON_DEVICE inline PhiloxCounter drawAt(std::uint64_t seed, std::uint64_t stream,
                                         std::uint64_t index) noexcept {
  return philox4x32({std::uint32_t(index), std::uint32_t(index >> 32), std::uint32_t(stream),
                     std::uint32_t(stream >> 32)},
                    {std::uint32_t(seed), std::uint32_t(seed >> 32)});
}
// The first 64 bits at an index.
TENON_DEVICE inline std::uint64_t bitsAt(std::uint64_t seed, std::uint64_t stream,
                                         std::uint64_t index) noexcept {
  const PhiloxCounter draw = drawAt(seed, stream, index);
  return (std::uint64_t(draw[1]) << 32) | draw[0];
}
// Uniform in [0, 1), a multiple of 2^-53.
TENON_DEVICE inline double uniformOf(std::uint64_t bits) noexcept {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}
TENON_DEVICE inline double uniformAt(std::uint64_t seed, std::uint64_t stream,
                                     std::uint64_t index) noexcept {
  return uniformOf(bitsAt(seed, stream, index));
}
// A standard normal number, by Box-Muller from two uniform numbers at this index.
double normalAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept;

// The numbers 0 to n-1 in random order; all orders are equally likely.
std::vector<Index> permutation(std::uint64_t seed, std::uint64_t stream, Index n);

// Number of a named stream (FNV-1a hash, 64 bits): the same on every machine and in every release.
constexpr std::uint64_t streamOf(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

} // namespace tenon
