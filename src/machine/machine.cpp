// SPDX-License-Identifier: BSD-2-Clause
// Checks machines and counts their devices. Machines are immutable: every modified one is created
// by make(), so no machine exists that was not checked as a whole.
#include "machine/machine.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

namespace {

// Beyond any machine, and small enough for products of sizes in 64 bits.
constexpr Index kMaxDevices = Index{1} << 40;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(TENON_ERR_ARG, why);
}

// Index of the item with a name; -1 if there is none.
template <class Named>
int find(const std::vector<Named>& items, std::string_view name) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].name == name)
      return static_cast<int>(i);
  return -1;
}

template <class Named>
void checkNames(const std::vector<Named>& items, const char* what) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].name.empty() || find(items, items[i].name) != static_cast<int>(i))
      refuse(fmt::format("{} {} has the name '{}'; names must be non-empty and unique", what, i,
                         items[i].name));
}

} // namespace

const char* ruleName(LinkRule::When when) {
  // In the order of LinkRule::When.
  static constexpr const char* kNames[] = {"touching", "filling", "leaving", "crossing"};
  return kNames[when];
}

Machine Machine::make(std::string name, std::vector<Level> levels, std::vector<Link> links,
                      MachineRates rates) {
  Machine machine;
  machine.name_ = std::move(name);
  machine.levels_ = std::move(levels);
  machine.links_ = std::move(links);
  machine.rates_ = std::move(rates);
  // Checks of links need the numbers of devices.
  machine.countDevices();
  checkNames(machine.levels_, "level");
  checkNames(machine.links_, "link");
  for (std::size_t i = 0; i < machine.links_.size(); ++i)
    machine.checkLink(i);
  return machine;
}

void Machine::countDevices() {
  if (levels_.empty())
    refuse(fmt::format("machine '{}' has no levels; it must have at least one", name_));
  below_.assign(levels_.size() + 1, 1);
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const Index size = levels_[level].size;
    if (size < 1)
      refuse(fmt::format("level '{}' has size {}; it must be >= 1", levels_[level].name, size));
    if (size > kMaxDevices / below_[level + 1])
      refuse(fmt::format("machine '{}' has more than {} devices, which is the maximum", name_,
                         kMaxDevices));
    below_[level] = below_[level + 1] * size;
  }
}

// A group of units must not cross the boundary of a unit of the level above.
void Machine::checkUnits(const std::string& title, int level, Index units) const {
  if (level < 0 || level >= static_cast<int>(levels_.size()))
    refuse(fmt::format("{} has level {}; it must be in 0 to {}", title, level, levels_.size() - 1));
  const Level& unitLevel = levels_[level];
  if (units < 1 || unitLevel.size % units != 0)
    refuse(fmt::format(
        "{} joins {} units of level '{}'; the number must divide the size of the level, {}", title,
        units, unitLevel.name, unitLevel.size));
}

void Machine::checkLink(std::size_t position) const {
  const Link& link = links_[position];
  const std::string title = fmt::format("link '{}'", link.name);
  checkUnits(title, link.level, link.units);
  if (!(link.bandwidth > 0) || !std::isfinite(link.bandwidth))
    refuse(fmt::format("{} has bandwidth {} B/s; it must be > 0", title, link.bandwidth));
  if (!(link.latency >= 0) || !std::isfinite(link.latency))
    refuse(fmt::format("{} has latency {} s; it must be >= 0", title, link.latency));
  if (link.rules.empty())
    refuse(fmt::format("{} has no rule, so no group would use it; give it at least one", title));
  for (const LinkRule& rule : link.rules) {
    // Links before this one have their groups already, and rules cannot refer to each other in a
    // circle.
    if (rule.unless < LinkRule::kNone || rule.unless >= static_cast<int>(position))
      refuse(fmt::format("{} has a rule whose 'unless' does not name an earlier link", title));
    if (rule.when != LinkRule::Crossing)
      continue;
    checkUnits(title + ", rule 'crossing',", rule.level, rule.units);
    if (devicesOf(rule) >= devicesOf(link))
      refuse(fmt::format("{} has a rule 'crossing' whose domains of {} devices are not smaller "
                         "than the {} devices of the link",
                         title, devicesOf(rule), devicesOf(link)));
  }
}

std::string Machine::describe(const LinkRule& rule) const {
  static constexpr const char* kGroups[] = {"with a device on it", "that have all devices on it",
                                            "with devices on it and elsewhere",
                                            "with devices on it in several domains"};
  std::string text = kGroups[rule.when];
  if (rule.when == LinkRule::Crossing)
    text += fmt::format(" of {} {}", rule.units, levels_[rule.level].name);
  if (rule.each)
    text += ", once for each such device";
  if (rule.unless != LinkRule::kNone)
    text += fmt::format(", unless they use the {}", links_[rule.unless].name);
  return text;
}

std::vector<Index> Machine::sizes() const {
  std::vector<Index> sizes;
  for (const Level& level : levels_)
    sizes.push_back(level.size);
  return sizes;
}

int Machine::findLink(std::string_view name) const {
  return find(links_, name);
}

int Machine::findLevel(std::string_view name) const {
  return find(levels_, name);
}

// make() verifies that the links still fit.
Machine Machine::resized(int level, Index size) const {
  std::vector<Level> levels = levels_;
  levels.at(level).size = size;
  return make(name_, std::move(levels), links_, rates_);
}

Machine Machine::linkedBy(Link link) const {
  std::vector<Link> links = links_;
  links.push_back(std::move(link));
  return make(name_, levels_, std::move(links), rates_);
}

std::string Machine::draw() const {
  std::string text = fmt::format("{}: {} device{}\n", name_, devices(), devices() == 1 ? "" : "s");
  std::string indent = "  ";
  for (const Level& level : levels_) {
    text += fmt::format("{}{} x {}\n", indent, level.size, level.name);
    indent += "  ";
  }
  for (const Link& link : links_) {
    const std::string& level = levels_[link.level].name;
    std::string rules;
    for (const LinkRule& rule : link.rules)
      rules += (rules.empty() ? "" : ", or ") + describe(rule);
    text +=
        fmt::format("  link {}: {:.3g} GB/s per direction, latency {:.3g} us, one per {}; used by "
                    "groups {}\n",
                    link.name, link.bandwidth * 1e-9, link.latency * 1e6,
                    link.units == 1 ? level : fmt::format("{} of {}", link.units, level), rules);
  }
  return text;
}

} // namespace tenon
