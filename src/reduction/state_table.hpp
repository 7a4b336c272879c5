// SPDX-License-Identifier: BSD-2-Clause
// Device states known by number, and what each collective makes of a group of them, found once: in a
// synthesis the same groups return thousands of times. (Refusals are not kept: they are many, and found
// as fast as looked up.)
#pragma once

#include "reduction/collective_rule.hpp"
#include "reduction/sequence_table.hpp"

#include <optional>
#include <unordered_map>

namespace tenon {

class StateTable {
public:
  using Numbers = SequenceTable::Sequence;

  std::uint32_t numberOf(const DeviceState& state);
  // What the members hold afterwards, or nothing if the collective is refused. Valid until the next
  // call.
  std::optional<Numbers> apply(CollectiveKind kind, Numbers group);

private:
  struct Hash {
    std::size_t operator()(const DeviceState& state) const noexcept { return state.hash(); }
  };

  int make(CollectiveKind kind); // of members_

  std::unordered_map<DeviceState, std::uint32_t, Hash> numbers_;
  std::vector<const DeviceState*> states_; // by number
  SequenceTable asked_;                    // a group's numbers, then the collective's
  std::vector<int> answers_;               // for each of these, an index in made_
  SequenceTable made_;
  std::vector<std::uint32_t> key_;
  std::vector<const DeviceState*> members_;
};

} // namespace tenon
