// SPDX-License-Identifier: BSD-2-Clause
#include "sys/first_fit.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

FirstFit::FirstFit(Index bytes) {
  addGap(0, bytes);
}

std::optional<Index> FirstFit::take(Index bytes, Index alignment) {
  for (const auto& [begin, end] : gaps_) {
    const Index place = roundedUp(begin, alignment);
    if (place > end || end - place < bytes)
      continue;
    const Index gapBegin = begin, gapEnd = end;
    gaps_.erase(gapBegin);
    addGap(gapBegin, place);
    addGap(place + bytes, gapEnd);
    places_.emplace(place, place + bytes);
    taken_ += bytes;
    return place;
  }
  return std::nullopt;
}

Index FirstFit::giveBack(Index place) {
  const auto known = places_.find(place);
  if (known == places_.end())
    throw Error(TENON_ERR_INTERNAL, fmt::format("place {} was given back, but not taken", place));
  Index begin = place, end = known->second;
  const Index bytes = end - begin;
  places_.erase(known);
  taken_ -= bytes;
  auto after = gaps_.lower_bound(begin);
  if (after != gaps_.begin() && std::prev(after)->second == begin) {
    begin = std::prev(after)->first;
    gaps_.erase(std::prev(after));
  }
  if (after != gaps_.end() && after->first == end) {
    end = after->second;
    gaps_.erase(after);
  }
  addGap(begin, end);
  return bytes;
}

void FirstFit::addGap(Index begin, Index end) {
  if (begin < end)
    gaps_.emplace(begin, end);
}

} // namespace tenon
