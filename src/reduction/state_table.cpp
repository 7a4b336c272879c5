// SPDX-License-Identifier: BSD-2-Clause
#include "reduction/state_table.hpp"

namespace tenon {

std::uint32_t StateTable::numberOf(const DeviceState& state) {
  const auto [found, isNew] =
      numbers_.try_emplace(state, static_cast<std::uint32_t>(states_.size()));
  if (isNew)
    states_.push_back(&found->first);
  return found->second;
}

std::optional<StateTable::Numbers> StateTable::apply(CollectiveKind kind, Numbers group) {
  members_.clear();
  for (std::uint32_t number : group)
    members_.push_back(states_[number]);
  if (refusalOf(kind, members_) != Refusal::None)
    return std::nullopt;
  key_.assign(group.begin(), group.end());
  key_.push_back(static_cast<std::uint32_t>(kind));
  const auto [index, isNew] = asked_.insert(key_);
  if (isNew)
    answers_.push_back(make(kind));
  return made_[answers_[index]];
}

int StateTable::make(CollectiveKind kind) {
  std::vector<std::uint32_t> after;
  for (const DeviceState& state : statesAfter(kind, members_))
    after.push_back(numberOf(state));
  return made_.insert(after).first;
}

} // namespace tenon
