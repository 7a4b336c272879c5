// SPDX-License-Identifier: BSD-2-Clause
// Hints of loops to the compiler. TENON_INDEPENDENT_ITERATIONS precedes a loop whose iterations are
// independent in a way that the compiler cannot prove: it vectorises without a run-time check.
#pragma once

#if defined(__clang__)
#define TENON_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TENON_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define TENON_INDEPENDENT_ITERATIONS
#endif

// TENON_ROLLED_LOOP precedes a short loop of constant length inside another loop. GCC would unroll
// the short loop first and then vectorise the outer one, whose elements are not adjacent.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define TENON_ROLLED_LOOP _Pragma("GCC unroll 1")
#else
#define TENON_ROLLED_LOOP
#endif
