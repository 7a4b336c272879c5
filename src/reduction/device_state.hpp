// SPDX-License-Identifier: BSD-2-Clause
// What a device knows during a reduction (Xie, Norman, Grewe and Vytiniotis, "Synthesizing Optimal
// Parallelism Placement and Reduction Strategies on Hierarchical Systems for Deep Learning",
// Section 3.2): a boolean matrix s, whose entry s[row][column] says that the device holds chunk
// `row` and that the contribution of device `column` is in it. The data of a reduction among k
// devices is cut into k chunks, so s is k x k. Device i begins with column i set in all rows; all
// have ended when each holds all rows with all columns of its reduction group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

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

} // namespace tenon
