// SPDX-License-Identifier: BSD-2-Clause
// The rules of the collectives (Figure 8 of the paper named in device_state.hpp): what a group of
// devices must hold before, and holds after. With s_i the state of member i and rows(s) the rows
// that s holds:
//
//   AllReduce      rows(s_i) alike, and in each row no contributor twice  ->  all hold the union
//   ReduceScatter  the same; the rows are divisible by the members        ->  i holds its i-th share
//   Reduce         the same                        ->  the first holds the union, the others nothing
//   AllGather      |rows(s_i)| alike, no row twice                        ->  all hold the union
//   Broadcast      s_i <= s_0, and for some i s_i < s_0                   ->  all hold s_0
//
// The paper leaves open whether a group in which nobody holds anything may act. Here it may not:
// every step must bring the reduction further. (So is its remark on Broadcast; this choice gives
// the numbers of programs that the paper prints.)
#pragma once

#include "machine/price.hpp"
#include "reduction/device_state.hpp"

#include <span>

namespace tenon {

enum class Refusal {
  None,
  NobodyHolds,       // all states are empty
  RowsDiffer,        // members of a sum hold different chunks
  AddedTwice,        // a contributor would be added twice
  Indivisible,       // rows by members
  RowCountsDiffer,   // members of a gather hold different numbers of chunks
  RowTwice,          // two members of a gather hold the same chunk
  FirstKnowsLess,    // a member has something that the root of a broadcast has not
  NothingToBroadcast // all members have what the root has
};

// A sentence; "" for None.
const char* sentenceOf(Refusal refusal);

// "AllReduce", "ReduceScatter", ...: the words of the reduction language.
const char* wordOf(CollectiveKind kind);

// The states of a group's members, in their order.
using GroupStates = std::span<const DeviceState* const>;

Refusal refusalOf(CollectiveKind kind, GroupStates group);
// What the members hold after a collective that is not refused.
std::vector<DeviceState> statesAfter(CollectiveKind kind, GroupStates group);

} // namespace tenon
