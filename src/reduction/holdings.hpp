// SPDX-License-Identifier: BSD-2-Clause
// What each device holds before and after each step of a program, for those who move the data or
// count it. The data of a reduction among k devices is cut into k chunks, or rows, numbered from 0;
// all begin with all rows. Who has contributed to a row does not matter here: of a program that
// reduces, the rows follow from the steps alone.
//
//   AllReduce      rows stay                  ReduceScatter  member i keeps the i-th of equal shares
//   Reduce         the first keeps its rows, the others none
//   AllGather      all hold the rows of all   Broadcast      all hold the rows of the first
#pragma once

#include "reduction/grouping.hpp"

#include <map>
#include <utility>

namespace tenon {

struct RowRange {
  int begin = 0, end = 0;
  bool operator==(const RowRange& other) const = default;
};

// Ascending, with gaps between.
using RowSet = std::vector<RowRange>;

int rowsIn(const RowSet& rows);

// The rows of each device.
using Holdings = std::vector<RowSet>;

Holdings initialHoldings(int devices);
// What devices hold after a collective of each of the groups, whose first member is the root.
Holdings holdingsAfter(CollectiveKind kind, const DeviceGroups& groups, const Holdings& before);

// What single devices hold along a program that reduces, without following all of them. An
// AllGather in the groups of the last ReduceScatter that has not been undone leaves a device what
// it held before that; so in a program of scatters and their gathers a device needs nobody else's
// holdings. Where another AllGather gathers, the members of the device's group are followed as
// well.
class FollowedHoldings {
public:
  // With `firstKeeps` the sum is for the first device alone: only the first of a group keeps what
  // it gets, but for shares.
  FollowedHoldings(Hierarchy hierarchy, Program program, bool firstKeeps);

  // Before the instruction of this number; after all, before that of the program's size.
  const RowSet& before(std::size_t instruction, int device);

private:
  RowSet after(std::size_t instruction, int device);

  const Hierarchy hierarchy_;
  const Program program_;
  const bool firstKeeps_;
  std::vector<int> undone_; // by each AllGather: the number of a ReduceScatter, or -1
  std::map<std::pair<std::size_t, int>, RowSet> known_;
};

} // namespace tenon
