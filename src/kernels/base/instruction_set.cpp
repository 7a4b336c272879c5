// SPDX-License-Identifier: BSD-2-Clause
// Asks the processor once which of the compiled sets of instructions it has. A set counts only with
// all features that the compiler takes for granted when it compiles for it; a virtual machine may
// hide some of them.
#include "kernels/base/instruction_set.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The set is not atomic: only tests and benchmarks change it, while no kernel runs.
InstructionSet& chosen() {
  static InstructionSet set = instructionSets().back();
  return set;
}

} // namespace

const char* instructionSetName(InstructionSet set) {
  constexpr const char* kNames[] = {"baseline", "neon", "avx2", "avx512"};
  return kNames[static_cast<int>(set)];
}

const std::vector<InstructionSet>& instructionSets() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> found = {InstructionSet::Baseline};
#ifdef TENON_HAS_NEON
    found.push_back(InstructionSet::Neon);
#endif
#ifdef TENON_HAS_AVX2
    // All features of x86-64-v3 and v4 that the compiler uses for them, not AVX alone.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      found.push_back(InstructionSet::Avx2);
#ifdef TENON_HAS_AVX512
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512vl"))
        found.push_back(InstructionSet::Avx512);
#endif
    }
#endif
    return found;
  }();
  return sets;
}

InstructionSet instructionSet() noexcept {
  return chosen();
}

void limitInstructionSet(InstructionSet most) noexcept {
  chosen() = std::min(most, instructionSets().back());
}

} // namespace tenon
