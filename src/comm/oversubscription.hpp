// SPDX-License-Identifier: BSD-2-Clause
// More threads than CPUs: then kernels wait at the ends of parallel regions for threads that do not
// run, and take many times as long. That happens to whoever starts several ranks on a node and does
// not say how many threads each may have.
#pragma once

#include "comm/communicator.hpp"
#include "comm/node.hpp"

#include <string>

namespace tenon {

// The ranks of one node: how many, their OpenMP threads (of all, and the most that one has), and the
// CPUs that at least one of them may run on; 0 where that is unknown.
struct NodeLoad {
  int ranks = 1;
  Index threads = 1;
  int mostThreads = 1;
  int cpus = 0;
};

// A line for the user; "" unless some rank has several threads and all have more than there are CPUs.
// Ranks of one thread each that outnumber the CPUs are what was asked for.
std::string oversubscription(const NodeLoad& load);
// Collective, with the node of this rank. Rank 0 prints the line about its node.
void warnOfOversubscription(const Communicator& comm, const Node& node);

} // namespace tenon
