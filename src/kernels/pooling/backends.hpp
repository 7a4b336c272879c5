// SPDX-License-Identifier: BSD-2-Clause
// The makers behind makePooling; their shapes are checked already.
#pragma once

#include "kernels/pooling/pooling.hpp"

namespace tenon {

template <class T>
std::unique_ptr<Pooling<T>> makeReferencePooling(const PoolingShape& shape);
template <class T>
std::unique_ptr<Pooling<T>> makeLoopPooling(const PoolingShape& shape, KernelContextPtr context);

// For a context of the device.
template <class T>
std::unique_ptr<Pooling<T>> makeDevicePooling(const PoolingShape& shape, KernelContextPtr context);

// Whether the windows of a maximum tile the input; then this maker may be called.
bool isTiled(const PoolingShape& shape);
template <class T>
std::unique_ptr<Pooling<T>> makeTilePooling(const PoolingShape& shape, KernelContextPtr context);

// Whether oneDNN computes this pooling with the same meaning; then its maker may be called.
bool oneDnnPools(const PoolingShape& shape);
std::unique_ptr<Pooling<float>> makeOneDnnPooling(const PoolingShape& shape,
                                                  KernelContextPtr context);

} // namespace tenon
