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

} // namespace tenon
