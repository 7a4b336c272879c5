// SPDX-License-Identifier: BSD-2-Clause
// Comparisons of arrays, and choices between them.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

enum class Relation { Greater, GreaterOrEqual, Less, LessOrEqual, Equal, NotEqual };

// y = 1 where `a relation b` holds, and 0 elsewhere; of NaN only NotEqual holds.
template <class T>
void compareElements(KernelContext& context, Relation relation, Index n, const T* a, const T* b,
                     T* y);

// y = a where `which` is not 0, and b elsewhere. a or b may be null, which stands for zeros.
template <class T>
void selectElements(KernelContext& context, Index n, const T* which, const T* a, const T* b, T* y);

} // namespace tenon
