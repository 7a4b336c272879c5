// SPDX-License-Identifier: BSD-2-Clause
// How long a program takes on a machine: as Tenon runs it, which is its price (program_price.hpp)
// by the machine's rates, or with the algorithms of other libraries. In these a step is as long as
// its busiest link: the loads of all groups that use an instance are added and divided by its
// bandwidth. With S the bytes that a device of a group of n holds before the step (after it, for
// AllGather and Broadcast), S = bytes x rows held / k, the group brings to each link that it loads
// (machine/group_load.hpp)
//
//                            through load     trunk load between m domains
//   AllReduce, ring          2 (n-1)/n S      2 (n-1)/n S
//   AllReduce, tree          2 S              S if m = 2, else 2 S   (a double binary tree)
//   ReduceScatter, AllGather   (n-1)/n S        (n-1)/n S            (a ring)
//   Reduce, Broadcast        S                S                      (a pipelined chain)
//
// and to the step its rounds, 2 (n-1), 2 ceil(log2 n), n-1 and n-1, of the largest latency on its
// way. The step's time is the largest load plus the largest latency, the program's the sum of its
// steps. A group that holds nothing costs nothing. Section 5 of the paper named in
// collective_rule.hpp, which has no latency; the loads are ours, chosen by the times of its
// appendix (tests/bench/p2_simulator).
#pragma once

#include "machine/group_load.hpp"
#include "reduction/holdings.hpp"
#include "reduction/placement.hpp"
#include "reduction/program.hpp"

#include <map>
#include <tuple>

namespace tenon {

enum class ReductionAlgorithm {
  Ring,
  Tree,  // of AllReduce; all else is as with a ring
  Direct // by messages from each member to each other, as Tenon's steps are
};

class Simulation {
public:
  // Simulates reductions of `bytes` bytes on each device over some axes. Throws TENON_ERR_SHAPE
  // unless the placement is on the machine's levels, and TENON_ERR_ARG for an axis that is not
  // there or bytes below 0.
  Simulation(const Machine& machine, const Placement& placement, const std::vector<int>& axes,
             ReductionAlgorithm algorithm, double bytes);
  // Simulates reductions in groups of devices that are alike: their members are numbered level
  // first on the hierarchy.
  Simulation(Machine machine, Hierarchy hierarchy, DeviceGroups groups,
             ReductionAlgorithm algorithm, double bytes);

  // Seconds. Throws TENON_ERR_ARG for a program that the reduction has no levels for.
  double seconds(const Program& program);
  std::vector<double> stepSeconds(const Program& program);

private:
  // What one group of members loads, in every one of the reduction groups.
  struct Traffic {
    std::vector<int> members;
    std::vector<LinkShare> shares;
    double latency; // of a round
  };
  using Key = std::tuple<int, GroupForm, int>;

  const std::vector<Traffic>& trafficOf(const Instruction& instruction);
  double stepTime(CollectiveKind kind, const std::vector<Traffic>& step, const Holdings& source);

  Machine machine_;
  ReductionAlgorithm algorithm_;
  double bytes_;
  Hierarchy hierarchy_;
  DeviceGroups reductionGroups_;
  std::map<Key, std::vector<Traffic>> traffic_;
  std::vector<std::vector<double>> loads_; // [links][instances], zero between steps
  LinkRates memberRates_;                  // of Direct
};

// One program on one placement.
struct Prediction {
  Index placement = 0, program = 0;
  double seconds = 0;
};

// By time; of equal times the shorter program and the earlier placement first.
void rank(std::vector<Prediction>& predictions);

} // namespace tenon
