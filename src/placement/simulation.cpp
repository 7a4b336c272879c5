// SPDX-License-Identifier: BSD-2-Clause
// Predicts the time of a reduction program on a machine (simulation.hpp has the formulas). For each
// step, the load of each group of devices is added to each link that the group uses; the time is
// the largest ratio of a link's load to its bandwidth, plus the largest latency. A machine can have
// many more links than a step uses, so the table of loads is reused, and only used entries are
// cleared.
#include "placement/simulation.hpp"

#include "machine/link.hpp"
#include "reduction/program_price.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon {

namespace {

// Load of a group of n devices on a link, in units of S (simulation.hpp); `domains` is the number
// of domains that the link joins for the group.
double loadOf(CollectiveKind kind, ReductionAlgorithm algorithm, Index n, Index domains) {
  const double ring = static_cast<double>(n - 1) / static_cast<double>(n);
  switch (kind) {
  case CollectiveKind::AllReduce:
    if (algorithm == ReductionAlgorithm::Tree)
      return domains == 2 ? 1 : 2;
    return 2 * ring;
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllGather:
    return ring;
  case CollectiveKind::Reduce:
  case CollectiveKind::Broadcast:
    break;
  }
  return 1;
}

// Number of messages that follow each other in a collective of n devices; each has the latency of
// the link.
double roundsOf(CollectiveKind kind, ReductionAlgorithm algorithm, Index n) {
  if (kind != CollectiveKind::AllReduce)
    return static_cast<double>(n - 1);
  if (algorithm == ReductionAlgorithm::Ring)
    return 2 * static_cast<double>(n - 1);
  // The bit width of n - 1 is ceil(log2 n), the depth of the tree; data move up and down.
  return 2 * std::bit_width(static_cast<std::uint64_t>(n - 1));
}

// Whether the size of a collective is that of the data after it; otherwise that before it.
bool isSizedAfter(CollectiveKind kind) {
  return kind == CollectiveKind::AllGather || kind == CollectiveKind::Broadcast;
}

} // namespace

Simulation::Simulation(const Machine& machine, const Placement& placement,
                       const std::vector<int>& axes, ReductionAlgorithm algorithm, double bytes)
    : Simulation(machine, placement.reductionHierarchy(axes), placement.reductionGroups(axes),
                 algorithm, bytes) {
  const Hierarchy sizes = machine.sizes();
  if (placement.system() != sizes)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("machine '{}' has levels [{}], but the placement is on [{}]; create "
                            "the placement for the levels of the machine",
                            machine.name(), fmt::join(sizes, ","),
                            fmt::join(placement.system(), ",")));
}

Simulation::Simulation(Machine machine, Hierarchy hierarchy, DeviceGroups groups,
                       ReductionAlgorithm algorithm, double bytes)
    : machine_(std::move(machine)), algorithm_(algorithm), bytes_(bytes),
      hierarchy_(std::move(hierarchy)), reductionGroups_(std::move(groups)) {
  if (!(bytes >= 0) || !std::isfinite(bytes))
    throw Error(TENON_ERR_ARG, fmt::format("bytes is {}; it must be >= 0", bytes));
  for (const Link& link : machine_.links())
    loads_.emplace_back(machine_.instances(link), 0.0);
  if (algorithm_ == ReductionAlgorithm::Direct && !reductionGroups_.empty())
    memberRates_ = ratesOfMembers(ratesOf(machine_, LinkRates{}), reductionGroups_.front());
}

// Returns the links that the groups of an instruction use, cached by the instruction without its
// collective. All reduction groups of the machine run the program at the same time.
const std::vector<Simulation::Traffic>& Simulation::trafficOf(const Instruction& instruction) {
  const Key key{instruction.slice, instruction.form, instruction.ancestor};
  if (const auto existing = traffic_.find(key); existing != traffic_.end())
    return existing->second;
  std::vector<Traffic> step;
  for (const std::vector<int>& members : groupsOf(hierarchy_, instruction)) {
    Traffic traffic{members, {}, 0};
    std::vector<int> devices(members.size());
    for (const std::vector<int>& group : reductionGroups_) {
      std::transform(members.begin(), members.end(), devices.begin(),
                     [&](int member) { return group[member]; });
      const auto shares = linksOf(machine_, devices);
      traffic.shares.insert(traffic.shares.end(), shares.begin(), shares.end());
    }
    for (const LinkShare& share : traffic.shares)
      traffic.latency = std::max(traffic.latency, machine_.links()[share.link].latency);
    step.push_back(std::move(traffic));
  }
  return traffic_.emplace(key, std::move(step)).first->second;
}

// `source` has the rows of each member that determine the sizes (isSizedAfter()).
double Simulation::stepTime(CollectiveKind kind, const std::vector<Traffic>& step,
                            const Holdings& source) {
  double longest = 0, latency = 0;
  const auto rows = static_cast<double>(source.size());
  for (const Traffic& group : step) {
    const auto n = static_cast<Index>(group.members.size());
    const double groupBytes = bytes_ * rowsIn(source[group.members.front()]) / rows;
    if (groupBytes == 0)
      continue;
    latency = std::max(latency, group.latency * roundsOf(kind, algorithm_, n));
    for (const LinkShare& share : group.shares) {
      double& load = loads_[share.link][share.instance];
      load += groupBytes * loadOf(kind, algorithm_, n, share.domains) *
              static_cast<double>(share.times);
      longest = std::max(longest, load / machine_.links()[share.link].bandwidth);
    }
  }
  for (const Traffic& group : step)
    for (const LinkShare& share : group.shares)
      // Clear the entries of this step only, for the next step.
      loads_[share.link][share.instance] = 0;
  return longest + latency;
}

std::vector<double> Simulation::stepSeconds(const Program& program) {
  if (algorithm_ == ReductionAlgorithm::Direct)
    return pricesOfSteps(program, hierarchy_, bytes_, memberRates_);
  std::vector<double> seconds;
  Holdings before = initialHoldings(deviceCount(hierarchy_));
  for (const Instruction& instruction : program) {
    const std::vector<Traffic>& step = trafficOf(instruction);
    DeviceGroups groups;
    for (const Traffic& group : step)
      groups.push_back(group.members);
    Holdings after = holdingsAfter(instruction.collective, groups, before);
    seconds.push_back(stepTime(instruction.collective, step,
                               isSizedAfter(instruction.collective) ? after : before));
    before = std::move(after);
  }
  return seconds;
}

double Simulation::seconds(const Program& program) {
  double sum = 0;
  for (const double step : stepSeconds(program))
    sum += step;
  return sum;
}

void rank(std::vector<Prediction>& predictions) {
  std::sort(predictions.begin(), predictions.end(), [](const Prediction& a, const Prediction& b) {
    return std::tie(a.seconds, a.program, a.placement) <
           std::tie(b.seconds, b.program, b.placement);
  });
}

} // namespace tenon
