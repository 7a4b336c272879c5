// SPDX-License-Identifier: BSD-2-Clause
// Activations that are saved in bfloat16 (setting saved_type): a frame rounds each value that derivatives read as soon as
// Apply has written it, so that its memory can be another's, and before a kernel's derivative reads some, they are
// expanded into memory that all share.
#pragma once

#include "declaration/core/pass.hpp"
#include "layer/core/bound_maps.hpp"
#include "sys/bfloat16.hpp"

namespace tenon {

// A value in a frame.
class RoundedValue {
public:
  // The memory for one that each Apply keeps; another takes its own when it is first kept.
  void placeAt(BFloat16* memory) noexcept {
    memory_ = memory;
    isKept_ = true;
  }
  void keep(const DTensor& x);
  // The last Apply kept the tensor itself.
  void drop() noexcept { isKept_ = false; }
  bool isKept() const noexcept { return isKept_; }
  // What was kept; x is contiguous.
  void expand(DTensor& x) const;
  const void* address() const noexcept { return memory_; }
  Index bytes() const noexcept { return own_.bytes(); }

private:
  Buffer own_;
  BFloat16* memory_ = nullptr;
  bool isKept_ = false;
};

// Which values of a set-up are rounded, when, and where they are expanded.
class Rounding {
public:
  Rounding() = default; // nothing
  Rounding(const BoundMaps& maps, const Pass& apply);

  bool isEmpty() const noexcept { return values_.empty(); }
  const std::vector<ValueId>& values() const noexcept { return values_; }
  // In values(); -1 for one that is not rounded.
  int numberOf(ValueId v) const noexcept { return numbers_.empty() ? -1 : numbers_[v]; }

  // Memory for expanded values, of which one kernel's exist at a time.
  Index expandedBytes() const noexcept { return expandedBytes_; }
  void placeIn(std::byte* memory);

  // After a step of Apply: those that it was the last to write.
  void keep(int step, DTensor* const* tensors, RoundedValue* rounded) const;
  template <class Visit>
  void visitKept(int step, RoundedValue* rounded, const Visit& visit) const {
    for (const int number : keptAfter_[step])
      visit(rounded[number]);
  }
  // Lets the slots of what the kernel of a map reads be its expanded tensors; expand() also brings their values.
  void bind(int map, DTensor** slots, const RoundedValue* rounded) const;
  void expand(int map, DTensor** slots, const RoundedValue* rounded) const;
  // What expand() would read, and where it would write.
  template <class Visit>
  void visitExpanded(int map, const RoundedValue* rounded, const Visit& visit) const {
    for (const Expanded& each : ofMap_[map])
      if (rounded[each.number].isKept())
        visit(rounded[each.number], *each.tensor);
  }

private:
  struct Expanded {
    int number;
    Ref<DTensor> tensor;
    Index place;
  };
  void noteWriters(const MapList& list, const Pass& apply);
  void noteReader(const BoundMaps& maps, int map);

  std::vector<ValueId> values_;
  std::vector<int> numbers_;                 // by value of the list
  std::vector<std::vector<int>> keptAfter_;  // by step of Apply
  std::vector<std::vector<Expanded>> ofMap_; // by map of the list
  Index expandedBytes_ = 0;
  const std::byte* memory_ = nullptr;
};

} // namespace tenon
