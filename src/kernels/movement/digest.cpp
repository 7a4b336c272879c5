// SPDX-License-Identifier: BSD-2-Clause
// Digests of tensors, by which a checkpoint file is verified (formula in digest.hpp): sums the
// mixed bits of the elements, each combined with its global index (its salt). Integer addition
// modulo 2^64 is associative, so neither the threads nor the partition affect the result.
#include "kernels/movement/digest.hpp"

#include "kernels/base/instruction_set.hpp"
#include "kernels/walks/block.hpp"

#include <atomic>
#include <bit>
#include <type_traits>

namespace tenon {

namespace {

// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

template <class T>
std::uint64_t bitsOf(T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(value);
}

// The sum for a contiguous row, vectorised: element i has the salt `salt + i next`, computed from i
// instead of accumulated, so no element depends on the previous one.
template <class T>
std::uint64_t contiguousRow(Index n, const T* x, std::uint64_t salt, std::uint64_t next) {
  std::uint64_t row = 0;
  vectorised([=, &row] {
    std::uint64_t sum = 0;
    for (Index i = 0; i < n; ++i)
      sum += mixed(bitsOf(x[i]) + salt + static_cast<std::uint64_t>(i) * next);
    row = sum;
  });
  return row;
}

} // namespace

template <class T>
std::uint64_t digestBlock(KernelContext& context, int rank, const Index* extent, const T* x,
                          const Index* xs, Index first, const Index* strides) {
  // The factor of the global index, of splitmix64 too: 2^64 divided by the golden ratio.
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
  // Threads can add rows in any order: the sum modulo 2^64 does not depend on it.
  std::atomic<std::uint64_t> sum = 0;
  const Block block = normaliseBlock(rank, extent, xs, strides);
  forEachRowInParts(context, block, [&](Index n, Index at, Index step, Index global, Index stride) {
    std::uint64_t salt = kGolden * static_cast<std::uint64_t>(first + global + 1), row = 0;
    const std::uint64_t next = kGolden * static_cast<std::uint64_t>(stride);
    if (step == 1)
      row = contiguousRow(n, x + at, salt, next);
    else
      for (Index i = 0; i < n; ++i, salt += next)
        row += mixed(bitsOf(x[at + i * step]) + salt);
    sum.fetch_add(row, std::memory_order_relaxed);
  });
  return sum;
}

template std::uint64_t digestBlock<float>(KernelContext&, int, const Index*, const float*,
                                          const Index*, Index, const Index*);
template std::uint64_t digestBlock<double>(KernelContext&, int, const Index*, const double*,
                                           const Index*, Index, const Index*);
template std::uint64_t digestBlock<std::int32_t>(KernelContext&, int, const Index*,
                                                 const std::int32_t*, const Index*, Index,
                                                 const Index*);
template std::uint64_t digestBlock<std::int64_t>(KernelContext&, int, const Index*,
                                                 const std::int64_t*, const Index*, Index,
                                                 const Index*);

} // namespace tenon
