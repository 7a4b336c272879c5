// SPDX-License-Identifier: BSD-2-Clause
// The makers that makePooling() chooses among. The shapes that they get are checked already.
#pragma once

#include "kernels/pooling/pooling.hpp"

namespace tenon {

template <class T>
std::unique_ptr<Pooling<T>> makeReferencePooling(const PoolingShape& shape);
template <class T>
std::unique_ptr<Pooling<T>> makeLoopPooling(const PoolingShape& shape, KernelContextPtr context);

// Whether the windows of a maximum tile the input; only then may this maker be called.
bool isTiled(const PoolingShape& shape);
template <class T>
std::unique_ptr<Pooling<T>> makeTilePooling(const PoolingShape& shape, KernelContextPtr context);

// Whether oneDNN computes this pooling with the same meaning; only then may its maker be called.
bool oneDnnPools(const PoolingShape& shape);
std::unique_ptr<Pooling<float>> makeOneDnnPooling(const PoolingShape& shape,
                                                  KernelContextPtr context);

} // namespace tenon
