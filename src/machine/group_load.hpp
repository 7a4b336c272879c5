// SPDX-License-Identifier: BSD-2-Clause
// Computes the links (NICs, buses, ports) that a group of devices uses when it communicates, by the
// rules of machine.hpp. An instance is one of the identical copies of a link, such as the NIC of
// one node.
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
  Index times = 1; // multiplicity of the load
  bool operator==(const LinkShare&) const = default;
};

// Returns the loads of a group, sorted by link and instance. The devices must be ascending and in
// the machine. A group of fewer than two devices has no loads.
std::vector<LinkShare> linksOf(const Machine& machine, std::span<const int> group);

} // namespace tenon
