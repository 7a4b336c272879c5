// SPDX-License-Identifier: BSD-2-Clause
// A digest of a tensor's values that is independent of the partition: the sum over all elements,
// modulo 2^64, of
//   mix(bits + 0x9E3779B97F4A7C15 (global index + 1)),
// where mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014), a bijection of 64 bits, and
// bits are those of the value (for float32 in the lower half). Each rank computes the digest of its
// block, and the caller adds them in any order, for example by MPI_SUM.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// Digest of a box. Element i is x[i . xs] and has the global index first + i . strides. The rank is
// 0 to 8. Instantiated for float, double, std::int64_t and std::int32_t.
template <class T>
std::uint64_t digestBlock(KernelContext& context, int rank, const Index* extent, const T* x,
                          const Index* xs, Index first, const Index* strides);

} // namespace tenon
