// SPDX-License-Identifier: BSD-2-Clause
// Packs a strided box into a buffer in shared memory for another process on the same node to read.
// The stores bypass the caches of this core: otherwise the two cores would pass each cache line
// back and forth, whereas each line is now written to memory once and read once.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// y = x[i . xs] for all i in the box `extent`, where y is contiguous and row-major, as
// blockCombine(Combine::Copy, ...). The copy is visible to a thread that has seen a later store of
// this thread. Instantiated for float, double, std::int64_t and std::int32_t.
template <class T>
void blockStream(KernelContext& context, int rank, const Index* extent, const T* x, const Index* xs,
                 T* y);

} // namespace tenon
