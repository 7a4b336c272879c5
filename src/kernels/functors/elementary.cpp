// SPDX-License-Identifier: BSD-2-Clause
// The numbers of elementary.hpp that no other source may know. They are defined in a source of
// their own, since a compiler that saw them would use them.
#include "kernels/functors/elementary.hpp"

namespace tenon::functors {

extern const double kHiddenZero = 0;
extern const float kHiddenZeroOfFloat = 0;

} // namespace tenon::functors
