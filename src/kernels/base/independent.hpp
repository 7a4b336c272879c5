// SPDX-License-Identifier: BSD-2-Clause
// TENON_INDEPENDENT_ITERATIONS stands before a loop whose iterations do not depend on each other, where the compiler
// cannot see that and would otherwise check, or not vectorise.
#pragma once

#if defined(__clang__)
#define TENON_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TENON_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define TENON_INDEPENDENT_ITERATIONS
#endif
