// SPDX-License-Identifier: BSD-2-Clause
// The rules of the collectives (Figure 8 of the paper cited at DeviceState): what the members of a
// group must hold before a collective, and what they hold after it. The state s_i of member i is a
// boolean matrix: s_i[row][column] is true if the member holds this row of the data, with the
// contribution of device `column` included in it. rows(s) are the rows that s holds.
//
//   AllReduce      equal rows(s_i), and in each row no contributor twice  ->  all hold the union
//   ReduceScatter  the same; rows divisible by the members                ->  i: its i-th share
//   Reduce         the same                 ->  the first holds the union, the others nothing
//   AllGather      equal |rows(s_i)|, no row twice                        ->  all hold the union
//   Broadcast      s_i <= s_0, and for some i s_i < s_0                   ->  all hold s_0
//
// The paper does not say whether a collective is allowed if no member holds anything. Here it is
// invalid, because every step must make progress, as the condition on Broadcast requires. With this
// choice the numbers of programs are those printed in the paper.
#pragma once

#include "machine/price.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon {

// State of a device during a reduction (Xie, Norman, Grewe and Vytiniotis, "Synthesizing Optimal
// Parallelism Placement and Reduction Strategies on Hierarchical Systems for Deep Learning",
// Section 3.2). It is a boolean matrix s: s[row][column] is true if the device holds chunk `row`
// and the contribution of device `column` is included in it. The data of a reduction among k
// devices is divided into k chunks, so s is k x k. Initially column i is true in all rows of device
// i. The reduction is complete when each device holds all rows, with all columns of its reduction
// group. Example with 2 devices, the rows separated by a slash: initially device 0 has 10/10 and
// device 1 has 01/01; after a ReduceScatter they have 11/00 and 00/11, and after an AllGather both
// have 11/11.

class DeviceState {
public:
  // A state that holds nothing.
  DeviceState(int rows, int columns);
  // A state that holds all rows, with contributions of these columns.
  DeviceState(int rows, int columns, const std::vector<int>& contributors);

  int rows() const noexcept { return rows_; }
  int columns() const noexcept { return columns_; }
  bool has(int row, int column) const;
  void add(int row, int column);

  bool holds(int row) const; // whether any contribution to the row is held
  int heldRows() const;      // how many rows are held
  bool isEmpty() const { return heldRows() == 0; }

  bool hasSameRows(const DeviceState& other) const;
  bool sharesRow(const DeviceState& other) const;
  bool sharesEntry(const DeviceState& other) const;
  // Whether every entry of this state is also in the other one (s <= other).
  bool isWithin(const DeviceState& other) const;

  // Adds the entries of another state.
  void join(const DeviceState& other);
  // Returns the part-th of `parts` equal shares of the rows that are held, in ascending order.
  DeviceState share(int part, int parts) const;

  bool operator==(const DeviceState& other) const = default;
  std::size_t hash() const noexcept;

private:
  const std::uint64_t* row(int index) const {
    return words_.data() + mask_ + std::size_t(index) * stride_;
  }
  std::uint64_t* row(int index) { return words_.data() + mask_ + std::size_t(index) * stride_; }

  int rows_, columns_;
  int mask_;   // words of the mask of rows that are held; it precedes the rows
  int stride_; // words per row
  std::vector<std::uint64_t> words_;
};

// Reasons for which a collective is invalid.
enum class Refusal {
  None,
  NobodyHolds,       // all states are empty
  RowsDiffer,        // members of a sum hold different chunks
  AddedTwice,        // a contributor would be added twice
  Indivisible,       // the members do not divide the number of rows
  RowCountsDiffer,   // members of a gather hold different numbers of chunks
  RowTwice,          // two members of a gather hold the same chunk
  FirstKnowsLess,    // a member has a contribution that the root of a broadcast lacks
  NothingToBroadcast // all members have everything that the root has
};

// Returns the reason as a sentence; "" for None.
const char* sentenceOf(Refusal refusal);

// Returns "AllReduce", "ReduceScatter", ...: the keywords of the reduction language.
const char* wordOf(CollectiveKind kind);

// States of a group's members, in order; the first member is the root.
using GroupStates = std::span<const DeviceState* const>;

Refusal refusalOf(CollectiveKind kind, GroupStates group);
// Returns the members' states after a valid collective.
std::vector<DeviceState> statesAfter(CollectiveKind kind, GroupStates group);

} // namespace tenon
