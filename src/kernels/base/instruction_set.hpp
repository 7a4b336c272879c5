// SPDX-License-Identifier: BSD-2-Clause
// The sets of vector instructions for which kernels are compiled, chosen at run time by what the
// processor can do: the library itself is built for any x86-64, or any 64-bit Arm.
#pragma once

#include <vector>

// A build for x86-64 can leave the widest sets out (TENON_INSTRUCTIONS).
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

// Neon: of every 64-bit Arm, so that plain loops have it in the baseline too; Avx2: with FMA
// (x86-64-v3); Avx512: F, BW, CD, DQ and VL (x86-64-v4).
enum class InstructionSet { Baseline, Neon, Avx2, Avx512 };

// "baseline", "neon", "avx2" or "avx512".
const char* instructionSetName(InstructionSet set);

// The sets that are compiled and that this processor has, the widest last.
const std::vector<InstructionSet>& instructionSets();

// The set that kernels use: the widest, unless it is limited.
InstructionSet instructionSet() noexcept;
// Limits the set to `most`, for tests and benchmarks. Must not be called while a kernel runs.
void limitInstructionSet(InstructionSet most) noexcept;

// Plain loops compiled for each set of vector instructions, with all that they call inlined, and
// run with the set that kernels use.

#ifdef TENON_HAS_AVX512
template <class Body>
__attribute__((flatten, target("arch=x86-64-v4"))) void runAvx512(const Body& body) {
  const Body own = body; // so that what it captures by value stays in registers
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

// Runs the body with the set that kernels use, but with none wider than kWidest: loops over
// elements that are not adjacent are slower in the widest.
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
