// SPDX-License-Identifier: BSD-2-Clause
// Elementwise comparison of contiguous arrays, with a result of ones and zeros (a mask), and
// selection between two arrays by such a mask.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

enum class Relation { Greater, GreaterOrEqual, Less, LessOrEqual, Equal, NotEqual };

// y = 1 if `a relation b` holds, else 0. For NaN only NotEqual holds.
template <class T>
void compareElements(KernelContext& context, Relation relation, Index n, const T* a, const T* b,
                     T* y);

// y = a where `mask` is not 0, else b. a or b can be null, in which case all of its elements are
// `otherwise`.
template <class T>
void selectElements(KernelContext& context, Index n, const T* mask, const T* a, const T* b, T* y,
                    double otherwise = 0);

} // namespace tenon
