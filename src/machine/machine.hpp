// SPDX-License-Identifier: BSD-2-Clause
// A machine as nested levels, such as node, socket, core, or node, GPU. Level 0 is the outermost.
// The parts of a level are its units, and a unit of the innermost level is a device. Devices are
// numbered with the innermost level fastest: on 2 nodes with 4 cores each, devices 4 to 7 are those
// of node 1.
//
// A link is a resource that groups of devices use when they communicate. For every `units`
// neighbouring units of a level it has one instance, shared by all devices of these units: one NIC
// per node, one port per device, one bus per two of four cores. Rules, which are data of the
// machine file, determine which groups use an instance:
//
//   touching           some device of the group is below the instance
//   filling            all devices below the instance are in the group
//   leaving            the group has devices below the instance and elsewhere
//   crossing           the group's devices below the instance are in several domains; a domain is
//                      `units` neighbouring units of a level (of the rule), such as the GPUs of one
//                      of two processors
//
// A rule with `unless` does not apply to a group whose devices below the instance use that other
// link. A group loads each instance that it uses: a through load (touching, filling), or a trunk
// load (leaving, crossing), which depends on the number of domains that the group joins. For
// leaving, these domains are the instances of the link; for crossing, they are those of the rule. A
// load counts once, or with `each` once per device of the group below the instance, as for a memory
// that all of these devices use. For example, with a NIC per node (leaving), a sum over the cores 0
// to 3 of node 0 does not load the NICs; one over the cores 0 to 7 of both nodes loads each of the
// two NICs with a trunk load of 2 domains.
#pragma once

#include "machine/kernel_rates.hpp"
#include "sys/memory/memory.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// One level of the hierarchy.
struct Level {
  std::string name;
  Index size = 1; // units within one unit of the level above
  bool operator==(const Level&) const = default;
};

// One rule of a link; an instance is used by a group if any rule applies.
struct LinkRule {
  enum When { Touching, Filling, Leaving, Crossing };
  static constexpr int kNone = -1;
  When when = Touching;
  int unless = kNone; // a link that is listed before this one
  bool each = false;  // the load counts once per device of the group
  int level = kNone;  // level of the domains, for Crossing
  Index units = 1;    // units of this level in a domain
  bool operator==(const LinkRule&) const = default;
};

// Returns "touching", "filling", "leaving" or "crossing".
const char* ruleName(LinkRule::When when);

// A link, with one instance per `units` units of a level.
struct Link {
  std::string name;
  int level = 0;
  Index units = 1;
  double bandwidth = 0; // bytes per second in each direction
  double latency = 0;   // seconds per step that uses it
  std::vector<LinkRule> rules;
  bool operator==(const Link&) const = default;
};

// Rates of devices in a description; none if it does not have them.
struct MachineRates {
  std::optional<double> overhead;      // seconds that a device spends per message
  std::optional<double> copyBandwidth; // bytes per second copied in its memory
  std::optional<KernelRates> kernels;
  Space space = Space::Host; // memory space of the arrays to which these rates apply
  bool operator==(const MachineRates&) const = default;
};

// An immutable description of a machine.
class Machine {
public:
  // Throws TENON_ERR_ARG, with the reason, if there is no level, a size is below 1, there are more
  // than 2^40 devices, names are empty or not unique, or a link does not fit its level, has no
  // bandwidth, or has a rule that names a link which is not listed before it.
  static Machine make(std::string name, std::vector<Level> levels, std::vector<Link> links = {},
                      MachineRates rates = {});

  const std::string& name() const noexcept { return name_; }
  const std::vector<Level>& levels() const noexcept { return levels_; }
  const std::vector<Link>& links() const noexcept { return links_; }
  const MachineRates& rates() const noexcept { return rates_; }
  std::vector<Index> sizes() const; // sizes of the levels
  Index devices() const noexcept { return devicesIn(-1); }
  // Number of devices below one unit of a level; -1 means the whole machine.
  Index devicesIn(int level) const { return below_[level + 1]; }
  Index devicesOf(const LinkRule& rule) const { return rule.units * devicesIn(rule.level); }
  // Number of devices below one instance of a link.
  Index devicesOf(const Link& link) const { return link.units * devicesIn(link.level); }
  Index instances(const Link& link) const { return devices() / devicesOf(link); }
  // Returns the index of the link or level with a name; -1 if there is none.
  int findLink(std::string_view name) const;
  int findLevel(std::string_view name) const;

  // Returns the machine with another number of units in a level, with another link, with other
  // rates.
  Machine resized(int level, Index size) const;
  Machine linkedBy(Link link) const;
  Machine ratedBy(MachineRates rates) const {
    return make(name_, levels_, links_, std::move(rates));
  }
  // Returns the levels as a tree, and the links, one per line.
  std::string draw() const;
  bool operator==(const Machine&) const = default;

private:
  Machine() = default;
  void countDevices();
  void checkLink(std::size_t position) const;
  void checkUnits(const std::string& title, int level, Index units) const;
  std::string describe(const LinkRule& rule) const;

  std::string name_;
  std::vector<Level> levels_;
  std::vector<Link> links_;
  MachineRates rates_;
  std::vector<Index> below_; // [levels + 1] devices in the machine, in a unit of level 0, ...
};

} // namespace tenon
