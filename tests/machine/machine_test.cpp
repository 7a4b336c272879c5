// SPDX-License-Identifier: BSD-2-Clause
// Tests machines: numbers of devices, checks, the drawing, and the links that a group of devices
// loads, against values by hand. Most tests use 2 nodes of 2 sockets of 4 cores (kLevels), with the
// devices 0 to 15.
#include "machine/machine.hpp"

#include "machine/group_load.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tenon;

std::string refusalOf(std::vector<Level> levels, std::vector<Link> links = {}) {
  try {
    Machine::make("m", std::move(levels), std::move(links));
  } catch (const Error& error) {
    EXPECT_EQ(TENON_ERR_ARG, error.code());
    return error.text();
  }
  return "nothing was refused";
}

const LinkRule kTouching{LinkRule::Touching}, kFilling{LinkRule::Filling},
    kLeaving{LinkRule::Leaving};
// Between every so many units of a level.
LinkRule crossing(int level, Index units = 1) {
  return {LinkRule::Crossing, LinkRule::kNone, false, level, units};
}

// In these tests a Link is written as {name, level, units, bandwidth, latency, rules}.
const std::vector<Level> kLevels{{"node", 2}, {"socket", 2}, {"core", 4}};

TEST(Machine, CountsDevices) {
  const Machine machine = Machine::make(
      "m", kLevels, {{"bus", 2, 2, 1e9, 0, {kTouching}}, {"nic", 0, 1, 1, 0, {kLeaving}}});
  EXPECT_EQ(16, machine.devices());
  EXPECT_EQ(8, machine.devicesIn(0));
  EXPECT_EQ(4, machine.devicesIn(1));
  EXPECT_EQ(1, machine.devicesIn(2));
  EXPECT_EQ(2, machine.devicesOf(machine.links()[0]));
  EXPECT_EQ(8, machine.instances(machine.links()[0]));
  EXPECT_EQ(2, machine.instances(machine.links()[1]));
  EXPECT_EQ(1, machine.findLevel("socket"));
  EXPECT_EQ(1, machine.findLink("nic"));
  EXPECT_EQ(-1, machine.findLink("socket"));
  EXPECT_EQ(40, machine.resized(0, 5).devices());
}

TEST(Machine, SaysWhatIsWrong) {
  const auto expect = [](const std::string& part, const std::string& message) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("has no level", refusalOf({}));
  expect("level 'core' has size 0", refusalOf({{"node", 2}, {"core", 0}}));
  expect("more than 1099511627776 devices",
         refusalOf({{"a", Index{1} << 40}, {"b", Index{1} << 40}}));
  expect("level 1 has the name 'a'", refusalOf({{"a", 2}, {"a", 2}}));
  expect("level 0 has the name ''", refusalOf({{"", 2}}));
  expect("has level 3; it must be in 0 to 2", refusalOf(kLevels, {{"l", 3, 1, 1, 0, {kLeaving}}}));
  expect("joins 3 units of level 'core'", refusalOf(kLevels, {{"l", 2, 3, 1, 0, {kLeaving}}}));
  expect("has bandwidth 0", refusalOf(kLevels, {{"l", 2, 1, 0, 0, {kLeaving}}}));
  expect("has latency -1", refusalOf(kLevels, {{"l", 2, 1, 1, -1, {kLeaving}}}));
  expect("has no rule", refusalOf(kLevels, {{"l", 2, 1, 1, 0, {}}}));
  expect("does not name an earlier link",
         refusalOf(kLevels, {{"l", 2, 1, 1, 0, {{LinkRule::Touching, 0}}}}));
  expect("rule 'crossing', has level -1",
         refusalOf(kLevels, {{"l", 2, 1, 1, 0, {{LinkRule::Crossing}}}}));
  expect("domains of 8 devices are not smaller than the 4 devices of the link",
         refusalOf(kLevels, {{"k", 1, 1, 1, 0, {crossing(0)}}}));
}

TEST(Machine, DrawsItsLevelsAndLinks) {
  const Machine machine =
      Machine::make("m", {{"node", 2}, {"core", 4}},
                    {{"bus", 1, 2, 2e9, 1e-6, {kTouching}},
                     {"nic", 0, 1, 5e8, 0, {kLeaving, {LinkRule::Crossing, 0, true, 1, 2}}}});
  EXPECT_EQ(
      "m: 8 devices\n"
      "  2 x node\n"
      "    4 x core\n"
      "  link bus: 2 GB/s per direction, latency 1 us, one per 2 of core; used by groups with "
      "a device on it\n"
      "  link nic: 0.5 GB/s per direction, latency 0 us, one per node; used by groups with "
      "devices on it and elsewhere, or with devices on it in several domains of 2 core, once "
      "for each such device, unless they use the bus\n",
      machine.draw());
}

// The loads of a group on the last of these links. A LinkShare is written as {link, instance,
// domains, times}.
std::vector<LinkShare> sharesOf(std::vector<Link> links, const std::vector<int>& group) {
  const Machine machine = Machine::make("m", kLevels, links);
  std::vector<LinkShare> last;
  for (const LinkShare& share : linksOf(machine, group))
    if (share.link == static_cast<int>(links.size()) - 1)
      last.push_back(share);
  return last;
}

TEST(GroupLoad, TouchingLoadsWhatIsAboveADevice) {
  const std::vector<Link> port{{"port", 2, 1, 1, 0, {kTouching}}};
  EXPECT_EQ((std::vector<LinkShare>{{0, 3}, {0, 9}}), sharesOf(port, {3, 9}));
  EXPECT_EQ((std::vector<LinkShare>{}), sharesOf(port, {3}));
  const std::vector<Link> bus{{"bus", 1, 1, 1, 0, {kTouching}}};
  EXPECT_EQ((std::vector<LinkShare>{{0, 0}, {0, 2}}), sharesOf(bus, {0, 1, 3, 9}));
  const std::vector<Link> memory{
      {"memory", 1, 1, 1, 0, {{LinkRule::Touching, LinkRule::kNone, true}}}};
  EXPECT_EQ((std::vector<LinkShare>{{0, 0, 0, 3}, {0, 2, 0, 1}}), sharesOf(memory, {0, 1, 3, 9}));
}

TEST(GroupLoad, FillingNeedsAllDevices) {
  const std::vector<Link> ring{{"ring", 1, 1, 1, 0, {kFilling}}};
  EXPECT_EQ((std::vector<LinkShare>{{0, 1}}), sharesOf(ring, {0, 1, 2, 4, 5, 6, 7}));
}

TEST(GroupLoad, LeavingCountsTheDomains) {
  const std::vector<Link> nic{{"nic", 0, 1, 1, 0, {kLeaving}}};
  EXPECT_EQ((std::vector<LinkShare>{}), sharesOf(nic, {0, 7}));
  EXPECT_EQ((std::vector<LinkShare>{{0, 0, 2}, {0, 1, 2}}), sharesOf(nic, {0, 7, 8}));
  const std::vector<Link> socket{{"upi", 1, 1, 1, 0, {kLeaving}}};
  EXPECT_EQ((std::vector<LinkShare>{{0, 0, 3}, {0, 1, 3}, {0, 3, 3}}),
            sharesOf(socket, {0, 1, 4, 12, 15}));
}

TEST(GroupLoad, CrossingCountsDomains) {
  const std::vector<Link> links{{"x", 1, 1, 1, 0, {crossing(2, 2)}}};
  EXPECT_EQ((std::vector<LinkShare>{}), sharesOf(links, {0, 1}));
  EXPECT_EQ((std::vector<LinkShare>{{0, 0, 2}}), sharesOf(links, {1, 2}));
  EXPECT_EQ((std::vector<LinkShare>{{0, 1, 2}}), sharesOf(links, {1, 4, 6, 9}));
}

// The second bus is spared where the ring carries the group.
TEST(GroupLoad, UnlessExcludesGroupsThatUseAnotherLink) {
  const std::vector<Link> links{{"ring", 1, 1, 1, 0, {kFilling}},
                                {"pair", 2, 2, 1, 0, {{LinkRule::Touching, 0}}}};
  EXPECT_EQ((std::vector<LinkShare>{}), sharesOf(links, {0, 1, 2, 3}));
  EXPECT_EQ((std::vector<LinkShare>{{1, 0}, {1, 1}}), sharesOf(links, {0, 1, 2}));
  EXPECT_EQ((std::vector<LinkShare>{{1, 2}}), sharesOf(links, {0, 1, 2, 3, 4}));
}

// The first rule of a link that applies determines the load.
TEST(GroupLoad, LoadsALinkOnce) {
  const std::vector<Link> links{{"nic", 0, 1, 1, 0, {kLeaving, crossing(2, 2)}}};
  EXPECT_EQ((std::vector<LinkShare>{{0, 0, 2}, {0, 1, 2}}), sharesOf(links, {0, 2, 4, 8}));
  EXPECT_EQ((std::vector<LinkShare>{{0, 0, 3}}), sharesOf(links, {0, 2, 4}));
}

} // namespace
