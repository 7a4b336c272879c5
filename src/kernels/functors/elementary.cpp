// SPDX-License-Identifier: BSD-2-Clause
// The zeros of elementary.hpp that must stay hidden from the compiler. They have their own source
// file, since a compiler that sees a constant uses it.
#include "kernels/functors/elementary.hpp"

namespace tenon::functors {

extern const double kHiddenZero = 0;
extern const float kHiddenZeroOfFloat = 0;

} // namespace tenon::functors
