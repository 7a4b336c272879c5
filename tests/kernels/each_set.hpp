// SPDX-License-Identifier: BSD-2-Clause
// Each set of instructions in turn.
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
