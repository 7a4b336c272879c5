// SPDX-License-Identifier: BSD-2-Clause
// Packs a strided box for another core to read, with stores that bypass this core's caches: cache
// lines that two cores would pass back and forth go through memory once instead.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// y = x[i . xs] for all i in the box `extent`, where y is contiguous and row-major, as
// blockCombine(Combine::Copy, ...). The copy is visible to a thread that has seen a later store of
// this thread. Instantiated for float, double and std::int64_t.
template <class T>
void blockStream(KernelContext& context, int rank, const Index* extent, const T* x, const Index* xs,
                 T* y);

} // namespace tenon
