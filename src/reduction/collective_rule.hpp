// SPDX-License-Identifier: BSD-2-Clause
// The rules of the collectives (Figure 8 of the paper that DeviceState names below): what a group
// of devices must hold before, and holds after. With s_i the state of member i and rows(s) the rows
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

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon {

// What a device knows during a reduction (Xie, Norman, Grewe and Vytiniotis, "Synthesizing Optimal
// Parallelism Placement and Reduction Strategies on Hierarchical Systems for Deep Learning",
// Section 3.2): a boolean matrix s, whose entry s[row][column] says that the device holds chunk
// `row` and that the contribution of device `column` is in it. The data of a reduction among k
// devices is cut into k chunks, so s is k x k. Device i begins with column i set in all rows; all
// have ended when each holds all rows with all columns of its reduction group.

class DeviceState {
public:
  // Nothing is held.
  DeviceState(int rows, int columns);
  // All rows, with the columns named.
  DeviceState(int rows, int columns, const std::vector<int>& contributors);

  int rows() const noexcept { return rows_; }
  int columns() const noexcept { return columns_; }
  bool has(int row, int column) const;
  void add(int row, int column);

  bool holds(int row) const;
  int heldRows() const;
  bool isEmpty() const { return heldRows() == 0; }

  bool hasSameRows(const DeviceState& other) const;
  bool sharesRow(const DeviceState& other) const;
  bool sharesEntry(const DeviceState& other) const;
  bool isWithin(const DeviceState& other) const;

  void join(const DeviceState& other);
  // The part-th of `parts` equal shares of the rows held, in their order.
  DeviceState share(int part, int parts) const;

  bool operator==(const DeviceState& other) const = default;
  std::size_t hash() const noexcept;

private:
  const std::uint64_t* row(int index) const {
    return words_.data() + mask_ + std::size_t(index) * stride_;
  }
  std::uint64_t* row(int index) { return words_.data() + mask_ + std::size_t(index) * stride_; }

  int rows_, columns_;
  int mask_;   // words that say which rows are held, in front of the rows
  int stride_; // words a row
  std::vector<std::uint64_t> words_;
};

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
