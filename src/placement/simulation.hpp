// SPDX-License-Identifier: BSD-2-Clause
// Predicts how long a reduction program takes on a machine. A program is a list of collectives
// (steps) in groups of devices, which together sum over k devices; each device has `bytes` bytes,
// divided into k rows. With ReductionAlgorithm::Direct the time is that of the program as Tenon
// runs it (program_price.hpp). With Ring and Tree, the algorithms of other libraries, the time of a
// step is that of its busiest link: the loads of all groups on a link are added and divided by its
// bandwidth. Let S be the bytes that a device of a group of n holds before the step (after it, for
// AllGather and Broadcast): S = bytes * rows held / k. The group's load on each link that it uses
// (machine/group_load.hpp; a trunk joins m domains) is
//
//                            through load     trunk load between m domains
//   AllReduce, ring          2 (n-1)/n S      2 (n-1)/n S
//   AllReduce, tree          2 S              S if m = 2, else 2 S   (a double binary tree)
//   ReduceScatter, AllGather   (n-1)/n S        (n-1)/n S            (a ring)
//   Reduce, Broadcast        S                S                      (a pipelined chain)
//
// and the number of rounds is 2 (n-1), 2 ceil(log2 n), n-1 and n-1, each with the largest latency
// on the group's links. The time of a step is the largest load time plus the largest latency time;
// that of the program is the sum over its steps. A group without data costs nothing. See Section 5
// of the paper cited in collective_rule.hpp. The paper has no latency; the loads are our choice,
// fitted to the times in its appendix (tests/bench/p2_simulator).
#pragma once

#include "machine/group_load.hpp"
#include "placement/placement.hpp"
#include "reduction/holdings.hpp"
#include "reduction/program.hpp"

#include <map>
#include <tuple>

namespace tenon {

// How a step of a program is carried out.
enum class ReductionAlgorithm {
  Ring,
  Tree,  // for AllReduce; other collectives as with a ring
  Direct // messages from each member to each other, as in Tenon's steps
};

// Predicts the times of programs for one reduction; seconds() can be called for any number of them.
class Simulation {
public:
  // Simulates reductions of `bytes` bytes on each device over some axes. Throws TENON_ERR_SHAPE
  // unless the placement is on the machine's levels, and TENON_ERR_ARG for an invalid axis or
  // negative bytes.
  Simulation(const Machine& machine, const Placement& placement, const std::vector<int>& axes,
             ReductionAlgorithm algorithm, double bytes);
  // Simulates reductions in equal groups of devices, whose members are numbered level first in the
  // hierarchy.
  Simulation(Machine machine, Hierarchy hierarchy, DeviceGroups groups,
             ReductionAlgorithm algorithm, double bytes);

  // Returns seconds. Throws TENON_ERR_ARG if the program uses levels that the reduction does not
  // have.
  double seconds(const Program& program);
  std::vector<double> stepSeconds(const Program& program);

private:
  // The links that one group of members of a step uses, in all reduction groups of the machine.
  struct Traffic {
    std::vector<int> members;
    std::vector<LinkShare> shares;
    double latency; // latency of one round
  };
  using Key = std::tuple<int, GroupForm, int>; // slice, form and ancestor of an instruction

  const std::vector<Traffic>& trafficOf(const Instruction& instruction);
  double stepTime(CollectiveKind kind, const std::vector<Traffic>& step, const Holdings& source);

  Machine machine_;
  ReductionAlgorithm algorithm_;
  double bytes_;
  Hierarchy hierarchy_;
  DeviceGroups reductionGroups_;
  std::map<Key, std::vector<Traffic>> traffic_; // cache of trafficOf()
  std::vector<std::vector<double>> loads_;      // [links][instances], zero between steps
  LinkRates memberRates_;                       // for Direct
};

// One program on one placement.
struct Prediction {
  Index placement = 0, program = 0;
  double seconds = 0;
};

// Sorts by time; for equal times, by program number (shorter programs first) and placement.
void rank(std::vector<Prediction>& predictions);

} // namespace tenon
