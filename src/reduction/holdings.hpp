// SPDX-License-Identifier: BSD-2-Clause
// The rows that each device holds before and after each step of a reduction program, for code that
// communicates the data or counts it. The data of a reduction among k devices is divided into k
// chunks, called rows, numbered from 0; initially every device holds all rows. Contributions are
// not tracked: in a program that reduces, the rows follow from the steps alone.
//
//   AllReduce      rows are unchanged        ReduceScatter  member i keeps the i-th of equal shares
//   Reduce         the first keeps its rows, the others none
//   AllGather      all hold the rows of all  Broadcast      all hold the rows of the first
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

// The rows of single devices along a program that reduces, without following all devices. An
// AllGather in the groups of the last ReduceScatter without a matching AllGather returns a device
// to its rows before that ReduceScatter, so no other device needs to be followed. For any other
// AllGather, the members of the device's group are followed too.
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
