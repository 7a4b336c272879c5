// SPDX-License-Identifier: BSD-2-Clause
// Factories of the pooling backends of the host, called by makePooling() with shapes that have been
// checked: plain loops over the definition (Reference), vectorised loops (Loop), loops for maxima
// over windows that tile the input (Tile), and oneDNN for averages of float.
#pragma once

#include "kernels/pooling/pooling.hpp"

namespace tenon {

template <class T>
std::unique_ptr<Pooling<T>> makeReferencePooling(const PoolingShape& shape);
template <class T>
std::unique_ptr<Pooling<T>> makeLoopPooling(const PoolingShape& shape, KernelContextPtr context);

// Whether the windows of a maximum tile the input, as makeTilePooling() requires.
bool isTiled(const PoolingShape& shape);
template <class T>
std::unique_ptr<Pooling<T>> makeTilePooling(const PoolingShape& shape, KernelContextPtr context);

// Whether oneDNN supports this pooling with the same semantics, as makeOneDnnPooling() requires.
bool oneDnnPools(const PoolingShape& shape);
std::unique_ptr<Pooling<float>> makeOneDnnPooling(const PoolingShape& shape,
                                                  KernelContextPtr context);

} // namespace tenon
