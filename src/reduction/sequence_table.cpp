// SPDX-License-Identifier: BSD-2-Clause
#include "reduction/sequence_table.hpp"

#include <algorithm>

namespace tenon {

SequenceTable::SequenceTable() : ends_{0}, slots_(64, -1) {}

std::size_t SequenceTable::slotOf(Sequence sequence) const {
  std::uint64_t hash = sequence.size();
  for (std::uint32_t item : sequence) {
    hash = (hash ^ item) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] >= 0 && !std::ranges::equal((*this)[slots_[slot]], sequence))
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

std::pair<int, bool> SequenceTable::insert(Sequence sequence) {
  std::size_t slot = slotOf(sequence);
  if (slots_[slot] >= 0)
    return {slots_[slot], false};
  if (2 * ends_.size() > slots_.size()) {
    grow();
    slot = slotOf(sequence);
  }
  items_.insert(items_.end(), sequence.begin(), sequence.end());
  ends_.push_back(items_.size());
  slots_[slot] = size() - 1;
  return {slots_[slot], true};
}

void SequenceTable::grow() {
  slots_.assign(2 * slots_.size(), -1);
  for (int index = 0; index < size(); ++index)
    slots_[slotOf((*this)[index])] = index;
}

} // namespace tenon
