// SPDX-License-Identifier: BSD-2-Clause
// Queries once which of the compiled instruction sets the processor supports, and stores the set
// that kernels use. A set counts only if all features are present that the compiler uses for it: a
// virtual machine can hide some of them.
#include "kernels/base/instruction_set.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The set is not atomic: only tests and benchmarks change it, while no kernel runs.
InstructionSet& currentSet() {
  static InstructionSet set = instructionSets().back(); // the widest
  return set;
}

} // namespace

const char* instructionSetName(InstructionSet set) {
  constexpr const char* kNames[] = {"baseline", "neon", "avx2", "avx512"};
  return kNames[static_cast<int>(set)];
}

const std::vector<InstructionSet>& instructionSets() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> supported = {InstructionSet::Baseline};
#ifdef TENON_HAS_NEON
    supported.push_back(InstructionSet::Neon);
#endif
#ifdef TENON_HAS_AVX2
    // All features of x86-64-v3 and v4 that the compiler uses for them, not AVX alone.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      supported.push_back(InstructionSet::Avx2);
#ifdef TENON_HAS_AVX512
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512vl"))
        supported.push_back(InstructionSet::Avx512);
#endif
    }
#endif
    return supported;
  }();
  return sets;
}

InstructionSet instructionSet() noexcept {
  return currentSet();
}

void limitInstructionSet(InstructionSet widest) noexcept {
  currentSet() = std::min(widest, instructionSets().back());
}

} // namespace tenon
