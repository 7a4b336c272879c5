// SPDX-License-Identifier: BSD-2-Clause
// forEachSet(body): calls body() once for each vector instruction set that is compiled in and
// supported by this processor (baseline, AVX2, ...), while kernels are limited to that set.
#pragma once

#include "kernels/base/instruction_set.hpp"

#include <gtest/gtest.h>

namespace tenon::test {

template <class Body>
void forEachSet(const Body& body) {
  for (InstructionSet set : instructionSets()) {
    SCOPED_TRACE(instructionSetName(set));
    limitInstructionSet(set);
    body();
  }
  limitInstructionSet(instructionSets().back());
}

} // namespace tenon::test
