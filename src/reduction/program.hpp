// SPDX-License-Identifier: BSD-2-Clause
// The reduction language (Section 3.3 of the paper named in collective_rule.hpp). A program is a
// list of instructions (slice, form, collective) over a hierarchy x_1 ... x_L with a root, level 0
// of size 1, in front:
//
//   slice       a level 0 <= i <= L; it cuts the devices into groups that share the digits 1 ... i
//   form        InsideGroup   each of these groups acts (digits i+1 ... L vary)
//               Parallel(e)   the first devices of the groups below one instance of the level e < i,
//                             the second devices, ... (digits e+1 ... i vary)
//               Master(e)     of those, only the first devices (digits i+1 ... L are 0)
//   collective  AllReduce, ReduceScatter, AllGather, Reduce, Broadcast
//
// Levels are written by number: "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce),
// (1, InsideGroup, AllGather)" is the usual program of two levels.
#pragma once

#include "machine/price.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

enum class GroupForm { InsideGroup, Parallel, Master };

struct Instruction {
  int slice = 0;
  GroupForm form = GroupForm::InsideGroup;
  int ancestor = 0; // the level e of Parallel and Master
  CollectiveKind collective = CollectiveKind::AllReduce;

  std::string describe() const;
  bool operator==(const Instruction& other) const = default;
};

using Program = std::vector<Instruction>;

std::string describe(const Program& program);
// Blanks do not count. Throws TENON_ERR_ARG, naming the byte, from 0, and what was expected there.
Program parseProgram(std::string_view text);

} // namespace tenon
