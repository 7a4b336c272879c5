// SPDX-License-Identifier: BSD-2-Clause
// Plain loops compiled for each set of vector instructions, with all that they call inlined, and run with
// the set that kernels use.
#pragma once

#include "kernels/instruction_set.hpp"

namespace tenon {

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

// With no set wider than kWidest: loops over cells that lie apart are slower in the widest.
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
