// SPDX-License-Identifier: BSD-2-Clause
// A digest of a tensor's values that does not depend on how the tensor is split: the sum, modulo
// 2^64, over its elements of
//   mix(bits + 0x9E3779B97F4A7C15 (global index + 1)),
// where mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014), a bijection of 64 bits, and
// bits are those of the value (of a float32 the lower half). The digests of parts add up in any
// order.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// The digest of a box, whose element i is at x[i . xs] and has the global index first + i .
// strides. Rank 0 to 8. For float, double and std::int64_t.
template <class T>
std::uint64_t digestBlock(KernelContext& context, int rank, const Index* extent, const T* x,
                          const Index* xs, Index first, const Index* strides);

} // namespace tenon
