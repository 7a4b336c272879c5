// SPDX-License-Identifier: BSD-2-Clause
// The rows that each device holds before and after each step of a reduction program (a list of
// collectives in groups of devices), for code that communicates the data or counts it. The data of
// a reduction among k devices is divided into k chunks, called rows, numbered from 0. Initially
// every device holds all rows. It is not tracked which contributions a row includes, since the rows
// of a valid program follow from its steps alone.
//
//   AllReduce      all members hold the same rows as before
//   ReduceScatter  member i holds the i-th of equal shares of its rows
//   Reduce         the first member holds its rows, the other members none
//   AllGather      all members hold the rows of all members
//   Broadcast      all members hold the rows of the first member
#pragma once

#include "reduction/grouping.hpp"

#include <map>
#include <utility>

namespace tenon {

// Rows [begin, end).
struct RowRange {
  int begin = 0, end = 0;
  bool operator==(const RowRange& other) const = default;
};

// Ascending disjoint ranges, with gaps between them.
using RowSet = std::vector<RowRange>;

int rowsIn(const RowSet& rows);

// Rows by device.
using Holdings = std::vector<RowSet>;

Holdings initialHoldings(int devices);
// Returns the rows after a collective on each group; the first member of a group is the root.
Holdings holdingsAfter(CollectiveKind kind, const DeviceGroups& groups, const Holdings& before);

// Computes the rows of single devices in a program, without computing those of all devices. Steps
// match like brackets: an AllGather that reverts the last open ReduceScatter, in the same groups,
// returns a device to its rows before that ReduceScatter. For any other AllGather, the rows of the
// other members of the device's group are computed too.
class FollowedHoldings {
public:
  // If `firstKeeps` is true, the sum is for the first device only: only the first member of a group
  // stores results, except for shares.
  FollowedHoldings(Hierarchy hierarchy, Program program, bool firstKeeps);

  // Returns the rows before an instruction, numbered from 0; the program's size means after the
  // last one.
  const RowSet& before(std::size_t instruction, int device);

private:
  RowSet after(std::size_t instruction, int device);

  const Hierarchy hierarchy_;
  const Program program_;
  const bool firstKeeps_;
  std::vector<int> revertedScatter_; // for each AllGather: the ReduceScatter that it reverts, or -1
  // Results by instruction and device.
  std::map<std::pair<std::size_t, int>, RowSet> rows_;
};

} // namespace tenon
