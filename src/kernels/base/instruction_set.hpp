// SPDX-License-Identifier: BSD-2-Clause
// Vector instruction sets for which kernels are compiled, selected at run time by the features of
// the processor: the library itself is built for any x86-64, or any 64-bit Arm.
#pragma once

#include <vector>

// TENON_INSTRUCTIONS can exclude the widest sets from a build for x86-64.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(TENON_WITHOUT_AVX2)
#define TENON_HAS_AVX2
#ifndef TENON_WITHOUT_AVX512
#define TENON_HAS_AVX512
#endif
#endif
#if defined(__aarch64__) && defined(__GNUC__)
#define TENON_HAS_NEON
#endif

namespace tenon {

// Neon: part of every 64-bit Arm, hence also of the baseline. Avx2: with FMA (x86-64-v3). Avx512:
// F, BW, CD, DQ and VL (x86-64-v4).
enum class InstructionSet { Baseline, Neon, Avx2, Avx512 };

// "baseline", "neon", "avx2" or "avx512".
const char* instructionSetName(InstructionSet set);

// The sets that are compiled in and supported by this processor, in increasing width.
const std::vector<InstructionSet>& instructionSets();

// The set that kernels use: the widest, unless it is limited.
InstructionSet instructionSet() noexcept;
// Limits the set to `widest`, for tests and benchmarks. Must not be called while a kernel runs.
void limitInstructionSet(InstructionSet widest) noexcept;

// runAvx512() and runAvx2() compile a loop for one instruction set, with all functions that it
// calls inlined.

#ifdef TENON_HAS_AVX512
template <class Body>
__attribute__((flatten, target("arch=x86-64-v4"))) void runAvx512(const Body& body) {
  const Body own = body; // a local copy keeps values captured by value in registers
  own();
}
#endif
#ifdef TENON_HAS_AVX2
template <class Body>
__attribute__((flatten, target("arch=x86-64-v3"))) void runAvx2(const Body& body) {
  const Body own = body;
  own();
}
#endif

// Runs the body with the current set, or with kWidest if that is narrower: loops over elements that
// are not adjacent are slower with the widest vectors.
template <InstructionSet kWidest = InstructionSet::Avx512, class Body>
void vectorised(const Body& body) {
#ifdef TENON_HAS_AVX512
  if constexpr (kWidest == InstructionSet::Avx512)
    if (instructionSet() == InstructionSet::Avx512)
      return runAvx512(body);
#endif
#ifdef TENON_HAS_AVX2
  if (instructionSet() >= InstructionSet::Avx2)
    return runAvx2(body);
#endif
  body();
}

} // namespace tenon
