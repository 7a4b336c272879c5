// SPDX-License-Identifier: BSD-2-Clause
// Packs the temporaries of a pass, the steps of a forward evaluation or a derivative, into one
// buffer. Values whose lifetimes (first to last step that uses them) overlap must not overlap in
// memory:
//
//   bytes ^
//         | [ value c       ]  [ value d ]      c and d share memory, since c is read
//         | [ value a                    ]      for the last time before d is written
//         +------------------------------> steps
//
// Values are placed one after the other, the largest first, each at the lowest offset that is free
// during its whole lifetime. This is a greedy heuristic, since the smallest buffer is expensive to
// find. It is deterministic: values of equal size keep the order of their ids.
#include "declaration/core/memory_plan.hpp"

#include "sys/memory/memory.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct ArenaBlock {
  Lifetime alive;
  Index bytes;
};

bool meet(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

MemoryPlan memoryPlanOf(const Pass& pass, const std::function<Index(ValueId)>& bytesOf,
                        Index alignment) {
  std::vector<ArenaBlock> blocks;
  for (const Lifetime& alive : lifetimes(pass)) {
    const Value& value = pass.values[alive.value];
    // Neither kind may be overwritten by a later value: what Apply saves in training outlives the
    // pass, and a copy that can use an argument's memory needs none of its own on most ranks. If
    // only the rounding of a value is saved, the value itself is free once it has been rounded.
    const bool mayUseArgument = value.sharesMemoryOf != kNoValue &&
                                pass.values[value.sharesMemoryOf].place == Value::Place::Argument;
    if (!mayUseArgument && !(value.saved && pass.keeps))
      blocks.push_back({alive, bytesOf(alive.value)});
  }
  std::ranges::stable_sort(blocks, std::greater(), &ArenaBlock::bytes);
  struct Placed {
    Lifetime alive;
    MemoryPlan::Place place;
  };
  std::vector<Placed> placed; // sorted by offset
  MemoryPlan plan;
  for (const ArenaBlock& block : blocks) {
    Index offset = 0;
    // The first gap that is wide enough is the lowest, because the blocks are sorted by offset.
    // Blocks with disjoint lifetimes are skipped.
    for (const Placed& placedBlock : placed) {
      if (!meet(block.alive, placedBlock.alive))
        continue;
      if (placedBlock.place.begin >= offset + block.bytes)
        break;
      offset = std::max(offset, roundedUp(placedBlock.place.end, alignment));
    }
    plan.places.push_back(
        {.value = block.alive.value, .begin = offset, .end = offset + block.bytes});
    plan.bytes = std::max(plan.bytes, offset + block.bytes);
    const auto position = std::ranges::find_if(
        placed, [&](const Placed& placedBlock) { return placedBlock.place.begin > offset; });
    placed.insert(position, {block.alive, plan.places.back()});
  }
  return plan;
}

} // namespace tenon
