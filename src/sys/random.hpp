// SPDX-License-Identifier: BSD-2-Clause
// Random numbers by position. Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) is a bijection of
// 128-bit counters under a 64-bit key, so a number is a pure function of (seed, stream, index):
//   key = seed, counter = (index, stream),
// and the element at a global index gets the same number whichever rank asks for it.
#pragma once

#include "sys/types.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept;

// 64 uniform bits.
std::uint64_t bitsAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept;
// Uniform in [0, 1): a multiple of 2^-53.
double uniformAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept;
// Standard normal, by Box-Muller from the two uniforms of this index.
double normalAt(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept;

// 0..n-1 in random order, each order equally likely.
std::vector<Index> permutation(std::uint64_t seed, std::uint64_t stream, Index n);

// A stream's number from its name (FNV-1a, 64 bits): the same on every machine and in every
// release.
constexpr std::uint64_t streamOf(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

} // namespace tenon
