// SPDX-License-Identifier: BSD-2-Clause
#include "sys/first_fit.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

FirstFit::FirstFit(Index bytes) {
  if (bytes > 0)
    gaps_.emplace(0, bytes);
}

std::optional<Index> FirstFit::take(Index bytes, Index alignment) {
  for (const auto& [begin, end] : gaps_) {
    const Index place = roundedUp(begin, alignment);
    if (place > end || end - place < bytes)
      continue;
    Ranges made; // nothing has changed if there is no memory for them
    made.emplace(place, place + bytes);
    if (begin < place)
      made.emplace(begin, place);
    auto after = gaps_.extract(begin);
    after.key() = place + bytes;
    if (after.key() < after.mapped())
      gaps_.insert(std::move(after));
    places_.insert(made.extract(place));
    gaps_.merge(made);
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
  auto gap = places_.extract(known);
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
  gap.key() = begin;
  gap.mapped() = end;
  gaps_.insert(std::move(gap));
  return bytes;
}

} // namespace tenon
