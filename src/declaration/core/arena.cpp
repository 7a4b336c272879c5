// SPDX-License-Identifier: BSD-2-Clause
// Finds places for the values of a pass, first fit by falling size.
// The order is that of the sizes and not of the steps: where a large value comes late it finds only the gaps that small
// ones left, and the range grows.
#include "declaration/core/arena.hpp"

#include "sys/memory/memory.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct Lodger {
  Lifetime alive;
  Index bytes;
};

bool meet(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

Lodging lodgingOf(const Pass& pass, const std::function<Index(ValueId)>& bytesOf, Index alignment) {
  std::vector<Lodger> lodgers;
  for (const Lifetime& alive : lifetimes(pass)) {
    const Value& value = pass.values[alive.value];
    const bool mayBeCallers =
        value.standsIn != kNoValue && pass.values[value.standsIn].place == Value::Place::Argument;
    if (!mayBeCallers && !(value.kept && pass.when == When::Training))
      lodgers.push_back({alive, bytesOf(alive.value)});
  }
  std::ranges::stable_sort(lodgers, std::greater(), &Lodger::bytes);
  struct Placed {
    Lifetime alive;
    Lodging::Place place;
  };
  std::vector<Placed> placed; // by their beginnings
  Lodging made;
  for (const Lodger& lodger : lodgers) {
    Index at = 0;
    for (const Placed& other : placed) {
      if (!meet(lodger.alive, other.alive))
        continue;
      if (other.place.begin >= at + lodger.bytes)
        break;
      at = std::max(at, roundedUp(other.place.end, alignment));
    }
    made.places.push_back({lodger.alive.value, at, at + lodger.bytes});
    made.bytes = std::max(made.bytes, at + lodger.bytes);
    const auto behind =
        std::ranges::find_if(placed, [&](const Placed& other) { return other.place.begin > at; });
    placed.insert(behind, {lodger.alive, made.places.back()});
  }
  return made;
}

} // namespace tenon
