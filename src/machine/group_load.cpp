// SPDX-License-Identifier: BSD-2-Clause
// Which links a group of communicating devices uses, and how often: the planner prices collectives
// by this (the example is in the header, and the rules are in machine.hpp). Links are visited in
// the machine's order, and for each link the instances below which the group has devices. The order
// matters: a rule with `unless` looks up the loads of an earlier link, and these loads must be
// complete and sorted by instance.
#include "machine/group_load.hpp"

#include <algorithm>

namespace tenon {

namespace {

using Devices = std::span<const int>;

// Returns the number of blocks of `size` devices that contain any of these ascending devices.
Index blocksOf(Devices devices, Index size) {
  Index blocks = 0, last = -1;
  for (const int device : devices) {
    blocks += device / size != last;
    last = device / size;
  }
  return blocks;
}

// A trunk rule loads an instance only with what passes between several domains.
bool isTrunkRule(const LinkRule& rule) {
  return rule.when == LinkRule::Leaving || rule.when == LinkRule::Crossing;
}

class LoadSearch {
public:
  LoadSearch(const Machine& machine, Devices group) : machine_(machine), group_(group) {}

  std::vector<LinkShare> shares() {
    for (std::size_t l = 0; l < machine_.links().size(); ++l) {
      starts_.push_back(shares_.size());
      const Index size = machine_.devicesOf(machine_.links()[l]);
      const Index instances = blocksOf(group_, size);
      for (auto from = group_.begin(); from != group_.end();) {
        const Index instance = *from / size;
        const auto to = std::lower_bound(from, group_.end(), (instance + 1) * size);
        addIfLoaded(static_cast<int>(l), instance, {from, to}, instances);
        from = to;
      }
    }
    return std::move(shares_);
  }

private:
  // Adds the load of an instance of link l if a rule of the link applies. `below` are the group's
  // devices below the instance, and `instances` is the number of instances below which the group
  // has devices. The first rule that applies decides, so an instance is loaded once.
  void addIfLoaded(int l, Index instance, Devices below, Index instances) {
    const Link& link = machine_.links()[l];
    for (const LinkRule& rule : link.rules) {
      // It is enough to look at the first device: all devices below this instance are also below
      // one instance of the other link, unless that link belongs to a level further inside.
      if (rule.unless != LinkRule::kNone && uses(rule.unless, below.front()))
        continue;
      if (rule.when == LinkRule::Filling &&
          static_cast<Index>(below.size()) != machine_.devicesOf(link))
        continue;
      // The domains of a rule "leaving" are the instances of the link, and those of "crossing" are
      // blocks of devices below this instance. Touching and Filling are through loads, without
      // domains. A group in a single domain sends nothing through the trunk, so it does not load
      // it.
      Index domains = 0;
      if (rule.when == LinkRule::Leaving)
        domains = instances;
      if (rule.when == LinkRule::Crossing)
        domains = blocksOf(below, machine_.devicesOf(rule));
      if (isTrunkRule(rule) && domains < 2)
        continue;
      shares_.push_back({.link = l,
                         .instance = instance,
                         .domains = domains,
                         .times = rule.each ? static_cast<Index>(below.size()) : 1});
      return;
    }
  }

  // Whether the group loads the instance of an earlier link above a device.
  bool uses(int l, int device) const {
    const Index instance = device / machine_.devicesOf(machine_.links()[l]);
    const std::size_t end =
        l + 1 < static_cast<int>(starts_.size()) ? starts_[l + 1] : shares_.size();
    const auto at = std::lower_bound(shares_.begin() + starts_[l], shares_.begin() + end, instance,
                                     [](const LinkShare& s, Index i) { return s.instance < i; });
    return at != shares_.begin() + end && at->instance == instance;
  }

  const Machine& machine_;
  Devices group_;
  std::vector<LinkShare> shares_;
  std::vector<std::size_t> starts_; // index of the first load of each link
};

} // namespace

std::vector<LinkShare> linksOf(const Machine& machine, std::span<const int> group) {
  if (group.size() < 2)
    return {};
  return LoadSearch(machine, group).shares();
}

} // namespace tenon
