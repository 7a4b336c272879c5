// SPDX-License-Identifier: BSD-2-Clause
// A machine as nested levels: node of socket of core, node of GPU. Level 0 is the outermost, a unit
// of the innermost level is a device, and devices are numbered with the innermost level fastest.
//
// A link is what groups of devices load when they communicate. There is one instance of it for
// every `units` neighbouring units of a level, shared by all devices below them: one NIC for a
// node, one port for a device, one bus for two of four cores. Its rules say which groups load an
// instance, as data, so that no machine needs code of its own:
//
//   touching           some device of the group is below it
//   filling            all devices below it are the group's
//   leaving            the group has devices below it and elsewhere
//   crossing           its devices below it lie in several domains of the rule's own: every
//                      `units` neighbouring units of a level, as the GPUs of two processors
//
// A rule with `unless` does not hold for a group whose devices there use an instance of that link.
// What a group brings is a through load (touching, filling) or a trunk load (leaving, crossing),
// which depends on how many domains the group joins: instances of the link itself, or the rule's.
// It brings it once, or with `each` once for each of its devices there, as to a memory that all
// use.
#pragma once

#include "machine/kernel_rates.hpp"
#include "sys/memory/memory.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct Level {
  std::string name;
  Index size = 1; // units within one unit of the level above
  bool operator==(const Level&) const = default;
};

struct LinkRule {
  enum When { Touching, Filling, Leaving, Crossing };
  static constexpr int kNone = -1;
  When when = Touching;
  int unless = kNone; // a link before this one
  bool each = false;  // the load counts for each device of the group
  int level = kNone;  // the level of the domains of Crossing
  Index units = 1;
  bool operator==(const LinkRule&) const = default;
};

// "touching", "filling", "leaving", "crossing".
const char* ruleName(LinkRule::When when);

struct Link {
  std::string name;
  int level = 0;
  Index units = 1;
  double bandwidth = 0; // bytes a second in each direction
  double latency = 0;   // seconds for each step that uses it
  std::vector<LinkRule> rules;
  bool operator==(const Link&) const = default;
};

// What a description says of devices besides their links; none where it says nothing.
struct MachineRates {
  std::optional<double> overhead;      // seconds that a device spends on each message
  std::optional<double> copyBandwidth; // bytes a second that it copies in its memory
  std::optional<KernelRates> kernels;
  Space space = Space::Host; // of the arrays whose messages and kernels these are
  bool operator==(const MachineRates&) const = default;
};

class Machine {
public:
  // Throws TENON_ERR_ARG, saying what is wrong: no level, a size below 1, more than 2^40 devices,
  // names that are empty or stand twice, a link that does not fit its level, is not faster than 0,
  // or has a rule that names no link before it.
  static Machine make(std::string name, std::vector<Level> levels, std::vector<Link> links = {},
                      MachineRates rates = {});

  const std::string& name() const noexcept { return name_; }
  const std::vector<Level>& levels() const noexcept { return levels_; }
  const std::vector<Link>& links() const noexcept { return links_; }
  const MachineRates& rates() const noexcept { return rates_; }
  std::vector<Index> sizes() const; // of the levels
  Index devices() const noexcept { return devicesIn(-1); }
  // The devices below one unit of a level; -1 stands for the whole machine.
  Index devicesIn(int level) const { return below_[level + 1]; }
  Index devicesOf(const LinkRule& rule) const { return rule.units * devicesIn(rule.level); }
  // The devices below one instance of a link.
  Index devicesOf(const Link& link) const { return link.units * devicesIn(link.level); }
  Index instances(const Link& link) const { return devices() / devicesOf(link); }
  // The first link or level of a name; -1 if there is none.
  int findLink(std::string_view name) const;
  int findLevel(std::string_view name) const;

  // The same machine with another number of units in a level.
  Machine resized(int level, Index size) const;
  Machine linkedBy(Link link) const;
  Machine ratedBy(MachineRates rates) const {
    return make(name_, levels_, links_, std::move(rates));
  }
  // The levels as a tree and the links, one line each, each line ended.
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
  std::vector<Index> below_; // [levels + 1] devices below the whole, a unit of level 0, ...
};

} // namespace tenon
