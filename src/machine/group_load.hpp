// SPDX-License-Identifier: BSD-2-Clause
// Which links a group of devices loads when it communicates, by the rules of machine.hpp.
#pragma once

#include "machine/machine.hpp"

#include <span>
#include <vector>

namespace tenon {

struct LinkShare {
  int link = 0;
  Index instance = 0;
  // 0 for a through load, else the domains that the group's traffic here joins, at least 2.
  Index domains = 0;
  Index times = 1; // how often the load counts here
  bool operator==(const LinkShare&) const = default;
};

// The shares of a group, by link and then by instance. The group's devices must be increasing and
// of the machine; a group of fewer than two devices loads nothing.
std::vector<LinkShare> linksOf(const Machine& machine, std::span<const int> group);

} // namespace tenon
