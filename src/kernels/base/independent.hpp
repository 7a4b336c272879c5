// SPDX-License-Identifier: BSD-2-Clause
// What loops say to the compiler. TENON_INDEPENDENT_ITERATIONS stands before a loop whose
// iterations do not depend on each other, where the compiler cannot see that and would otherwise
// check, or not vectorise.
#pragma once

#if defined(__clang__)
#define TENON_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TENON_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define TENON_INDEPENDENT_ITERATIONS
#endif

// TENON_ROLLED_LOOP stands before a short loop of constant length within another one. GCC would
// unroll it first, and then look for vectors in the outer loop, whose elements lie apart.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define TENON_ROLLED_LOOP _Pragma("GCC unroll 1")
#else
#define TENON_ROLLED_LOOP
#endif
