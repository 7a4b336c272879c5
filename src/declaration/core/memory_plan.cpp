// SPDX-License-Identifier: BSD-2-Clause
// Packs the values of a pass into one range of bytes: the largest first, each at the lowest place
// that is free for all of its life. That is a heuristic, since the smallest range is expensive to
// find; it is the same on every run, because values of equal size keep the order of their ids.
#include "declaration/core/memory_plan.hpp"

#include "sys/memory/memory.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct Block {
  Lifetime alive;
  Index bytes;
};

bool meet(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

MemoryPlan memoryPlanOf(const Pass& pass, const std::function<Index(ValueId)>& bytesOf,
                        Index alignment) {
  std::vector<Block> blocks;
  for (const Lifetime& alive : lifetimes(pass)) {
    const Value& value = pass.values[alive.value];
    // What Apply keeps in training outlives the pass, and what may stand in an argument's memory
    // needs none of its own on most ranks: neither may be overwritten by a value that comes later.
    // A value whose rounding is kept is not kept itself, and free again as soon as it has been
    // rounded.
    const bool mayBeUsers =
        value.standsIn != kNoValue && pass.values[value.standsIn].place == Value::Place::Argument;
    if (!mayBeUsers && !(value.saved && pass.keeps))
      blocks.push_back({alive, bytesOf(alive.value)});
  }
  std::ranges::stable_sort(blocks, std::greater(), &Block::bytes);
  struct Placed {
    Lifetime alive;
    MemoryPlan::Place place;
  };
  std::vector<Placed> placed; // by their beginnings
  MemoryPlan made;
  for (const Block& block : blocks) {
    Index at = 0;
    // In the order of their beginnings: the first gap that is wide enough is the lowest. Values
    // that are never alive together with this one do not count.
    for (const Placed& other : placed) {
      if (!meet(block.alive, other.alive))
        continue;
      if (other.place.begin >= at + block.bytes)
        break;
      at = std::max(at, roundedUp(other.place.end, alignment));
    }
    made.places.push_back({block.alive.value, at, at + block.bytes});
    made.bytes = std::max(made.bytes, at + block.bytes);
    const auto behind =
        std::ranges::find_if(placed, [&](const Placed& other) { return other.place.begin > at; });
    placed.insert(behind, {block.alive, made.places.back()});
  }
  return made;
}

} // namespace tenon
