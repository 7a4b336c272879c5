// SPDX-License-Identifier: BSD-2-Clause
// A strided box packed for another core to read next, past the caches of this one: lines that two
// caches would hand to and fro go through memory once instead.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// y, contiguous and row-major, becomes x[i . xs] for every i in the box `extent`, as by
// blockCombine(Combine::Copy, ...). Complete for other threads once a later store of this one is
// seen. For float, double and std::int64_t.
template <class T>
void blockStream(KernelContext& context, int rank, const Index* extent, const T* x, const Index* xs,
                 T* y);

} // namespace tenon
