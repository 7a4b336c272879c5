// SPDX-License-Identifier: BSD-2-Clause
// Executes reduction programs on the states of all devices, without data: a state says which chunks
// a device holds and whose contributions are in them (DeviceState). checkReduces() verifies by this
// that a program computes a sum. For two devices and the program "(0, InsideGroup, AllReduce)",
// each of both chunks has the contribution {0} on device 0 and {1} on device 1 at the beginning,
// and {0, 1} on both at the end.
//
// The groups of an instruction act simultaneously: all read the states before it, and new states
// replace them only if no group has refused the collective.
#include "reduction/execution.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

// Returns 0, 1, ..., devices - 1.
std::vector<int> upTo(int devices) {
  std::vector<int> numbers(devices);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Describes the state of the first device that does not have the whole sum, for a message.
std::string describeMissing(const DeviceStates& goal, const DeviceStates& states) {
  std::size_t device = 0;
  while (states[device] == goal[device])
    ++device;
  const DeviceState& state = states[device];
  std::string text = fmt::format("with two devices on each level, device {} is left with {} of {} "
                                 "chunks",
                                 device, state.heldRows(), state.rows());
  for (int row = 0; row < state.rows(); ++row) {
    int contributors = 0;
    for (int column = 0; column < state.columns(); ++column)
      contributors += state.has(row, column) ? 1 : 0;
    if (contributors > 0 && contributors < state.columns())
      return text + fmt::format(", and with {} of {} contributions in chunk {}", contributors,
                                state.columns(), row);
  }
  return text;
}

// Whether each device has one chunk, with all contributions. The rules ensure that no two members
// of a group have the same chunk.
bool areShares(const DeviceStates& states) {
  return std::ranges::all_of(states, [](const DeviceState& state) {
    if (state.heldRows() != 1)
      return false;
    for (int row = 0; row < state.rows(); ++row)
      for (int column = 0; state.holds(row) && column < state.columns(); ++column)
        if (!state.has(row, column))
          return false;
    return true;
  });
}

} // namespace

Hierarchy levelsOfTwo(int levels) {
  // The states of 2^L devices are matrices of 4^L bits, 2 MiB together for L = 8 levels, and eight
  // times as much for each further one.
  constexpr int kMaxLevels = 8;
  if (levels < 0 || levels > kMaxLevels)
    throw Error(TENON_ERR_ARG, fmt::format("a reduction over {} levels cannot be planned; join "
                                           "levels of the system until it has at most {}",
                                           levels, kMaxLevels));
  return Hierarchy(levels, 2);
}

DeviceStates initialStates(int devices) {
  DeviceStates states;
  for (int device = 0; device < devices; ++device)
    states.emplace_back(devices, devices, std::vector<int>{device});
  return states;
}

DeviceStates goalStates(int devices, const DeviceGroups& reductionGroups) {
  DeviceStates states(devices, DeviceState(devices, devices));
  for (const std::vector<int>& group : reductionGroups)
    for (int device : group)
      states[device] = DeviceState(devices, devices, group);
  return states;
}

Refusal applyToGroups(CollectiveKind kind, const DeviceGroups& groups, DeviceStates& states) {
  // The copy makes the groups act simultaneously, and leaves the states unchanged if one refuses.
  DeviceStates after = states;
  std::vector<const DeviceState*> members;
  for (const std::vector<int>& group : groups) {
    members.clear();
    for (int device : group)
      members.push_back(&states[device]);
    const Refusal refusal = refusalOf(kind, members);
    if (refusal != Refusal::None)
      return refusal;
    DeviceStates results = statesAfter(kind, members);
    for (std::size_t i = 0; i < group.size(); ++i)
      after[group[i]] = std::move(results[i]);
  }
  states = std::move(after);
  return Refusal::None;
}

void checkReduces(const Program& program, int levels, bool scatters) {
  const Hierarchy twos = levelsOfTwo(levels);
  const int devices = deviceCount(twos);
  DeviceStates states = initialStates(devices);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const DeviceGroups groups = groupsOf(twos, program[i]);
    if (groups.empty())
      throw Error(
          TENON_ERR_ARG,
          fmt::format(
              "step {}, {}, has groups of one device in a hierarchy of {} levels; remove it", i + 1,
              program[i].describe(), levels));
    const Refusal refusal = applyToGroups(program[i].collective, groups, states);
    if (refusal != Refusal::None)
      throw Error(TENON_ERR_ARG, fmt::format("step {}, {}, is not possible: {}", i + 1,
                                             program[i].describe(), sentenceOf(refusal)));
  }
  if (scatters) {
    if (!areShares(states))
      throw Error(TENON_ERR_ARG,
                  fmt::format("the program '{}' does not leave one chunk of the sum on each device "
                              "of a hierarchy of {} levels",
                              describe(program), levels));
    return;
  }
  const DeviceStates goal = goalStates(devices, {upTo(devices)});
  if (states != goal)
    throw Error(TENON_ERR_ARG,
                fmt::format("the program '{}' does not leave the whole sum on every device of a "
                            "hierarchy of {} levels: {}; see tenon plan reductions -list",
                            describe(program), levels, describeMissing(goal, states)));
}

} // namespace tenon
