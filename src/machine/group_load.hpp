// SPDX-License-Identifier: BSD-2-Clause
// Computes the links (NICs, buses, ports) that a group of devices uses when it communicates, by the
// rules of machine.hpp. An instance is one of the identical copies of a link, such as the NIC of
// one node. A trunk load is only what passes between the domains (nodes, for example) that the link
// joins for the group; a through load does not depend on domains. For 2 nodes of 4 cores (devices 0
// to 3 and 4 to 7) with a NIC per node (rule leaving: a trunk load) and a bus per node (rule
// touching: a through load), the group {1, 2, 5} loads
//
//   NIC  instances 0 and 1, each with domains = 2: it joins two nodes
//   bus  instances 0 and 1, each with domains = 0
#pragma once

#include "machine/machine.hpp"

#include <span>
#include <vector>

namespace tenon {

// The load of a group on one instance of a link.
struct LinkShare {
  int link = 0;
  Index instance = 0;
  // 0 for a through load; for a trunk load, the number of domains that the group joins, >= 2.
  Index domains = 0;
  Index times = 1; // multiplicity of the load, above 1 by rules with `each` only
  bool operator==(const LinkShare&) const = default;
};

// Returns the loads of a group, sorted by link and instance. The devices must be ascending and in
// the machine. A group of fewer than two devices has no loads.
std::vector<LinkShare> linksOf(const Machine& machine, std::span<const int> group);

} // namespace tenon
