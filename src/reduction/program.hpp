// SPDX-License-Identifier: BSD-2-Clause
// The reduction language (Section 3.3 of the paper cited in collective_rule.hpp). A program is a
// list of instructions (slice, form, collective) over a hierarchy x_1 ... x_L, with a root in
// front, level 0 of size 1:
//
//   slice       a level 0 <= i <= L; devices with equal digits 1 ... i form a unit
//   form        InsideGroup   a group is a unit (digits i+1 ... L vary)
//               Parallel(e)   a group has the first device of each unit below one instance of the
//                             level e < i, another group the second devices, ... (e+1 ... i vary)
//               Master(e)     the group of first devices only (digits i+1 ... L are 0)
//   collective  AllReduce, ReduceScatter, AllGather, Reduce, Broadcast
//
// Levels are denoted by number: "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), (1,
// InsideGroup, AllGather)" is the common program on two levels, such as nodes and their GPUs.
#pragma once

#include "machine/price.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// The forms above.
enum class GroupForm { InsideGroup, Parallel, Master };

// One instruction; see above.
struct Instruction {
  int slice = 0;
  GroupForm form = GroupForm::InsideGroup;
  int ancestor = 0; // level e of Parallel and Master
  CollectiveKind collective = CollectiveKind::AllReduce;

  std::string describe() const;
  bool operator==(const Instruction& other) const = default;
};

using Program = std::vector<Instruction>;

std::string describe(const Program& program);
// Blanks are ignored. Throws TENON_ERR_ARG with the byte offset of an error and what was expected
// there.
Program parseProgram(std::string_view text);

} // namespace tenon
