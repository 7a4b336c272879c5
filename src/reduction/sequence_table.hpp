// SPDX-License-Identifier: BSD-2-Clause
// Sequences of small numbers, each kept once and known by its index, in order of arrival.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenon {

class SequenceTable {
public:
  using Sequence = std::span<const std::uint32_t>;

  SequenceTable();
  int size() const noexcept { return static_cast<int>(ends_.size()) - 1; }
  // Valid until the next insertion.
  Sequence operator[](int index) const {
    return {items_.data() + ends_[index], ends_[index + 1] - ends_[index]};
  }
  // The index, and whether the sequence is new. It must not lie in the table itself.
  std::pair<int, bool> insert(Sequence sequence);

private:
  void grow();
  std::size_t slotOf(Sequence sequence) const; // where it stands or would stand

  std::vector<std::uint32_t> items_;
  std::vector<std::size_t> ends_;
  std::vector<int> slots_; // -1: free
};

} // namespace tenon
