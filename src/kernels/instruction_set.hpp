// SPDX-License-Identifier: BSD-2-Clause
// The sets of vector instructions for which kernels are compiled, chosen at run time by what the processor
// can do: the library itself is built for any x86-64.
#pragma once

#include <vector>

// Of an x86-64 the build can leave the widest sets out (TENON_INSTRUCTIONS).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(TENON_WITHOUT_AVX2)
#define TENON_HAS_AVX2
#ifndef TENON_WITHOUT_AVX512
#define TENON_HAS_AVX512
#endif
#endif

namespace tenon {

// Avx2: with FMA (x86-64-v3); Avx512: F, BW, CD, DQ and VL (x86-64-v4).
enum class InstructionSet { Baseline, Avx2, Avx512 };

// "baseline", "avx2" or "avx512".
const char* instructionSetName(InstructionSet set);

// Those that are compiled and that this processor has, the widest last.
const std::vector<InstructionSet>& instructionSets();

// The one that kernels use: the widest, unless it is limited.
InstructionSet instructionSet() noexcept;
// For tests and benchmarks: none above `most` is used. Not while a kernel runs.
void limitInstructionSet(InstructionSet most) noexcept;

} // namespace tenon
