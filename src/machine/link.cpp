// SPDX-License-Identifier: BSD-2-Clause
// Link rates, from options (LinkRates::fromOptions()) and from machine descriptions (ratesOf()).
// Levels are regular, so one pair of ranks represents all pairs that communicate across a level.
// The innermost level becomes the plain latency and bandwidth of LinkRates; only the other levels
// are listed.
#include "machine/link.hpp"

#include "machine/group_load.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tenon {

namespace {

// Returns the rates between the first and last unit of a level, in the first unit of the level
// above.
LevelRates ratesAcross(const Machine& machine, int level, const LinkRates& base) {
  const Index ranks = machine.devicesIn(level);
  const std::array<int, 2> pair{0, static_cast<int>(machine.devicesIn(level - 1) - ranks)};
  const std::vector<LinkShare> shares = linksOf(machine, pair);
  if (shares.empty())
    return {ranks, base.latency, base.bandwidth};
  LevelRates rates{ranks, 0, 0};
  for (const LinkShare& share : shares) {
    const Link& link = machine.links()[share.link];
    const double rankBandwidth = link.bandwidth / static_cast<double>(machine.devicesOf(link));
    rates.latency = std::max(rates.latency, link.latency);
    rates.bandwidth =
        rates.bandwidth > 0 ? std::min(rates.bandwidth, rankBandwidth) : rankBandwidth;
  }
  return rates;
}

} // namespace

LinkRates ratesOf(const Machine& machine, const LinkRates& base) {
  LinkRates rates = base;
  rates.levels.clear();
  rates.overhead = machine.rates().overhead.value_or(base.overhead);
  rates.copyBandwidth = machine.rates().copyBandwidth.value_or(base.copyBandwidth);
  for (int level = 0; level < static_cast<int>(machine.levels().size()); ++level)
    if (machine.levels()[level].size > 1)
      rates.levels.push_back(ratesAcross(machine, level, base));
  if (rates.levels.empty())
    return rates;
  rates.latency = rates.levels.back().latency;
  rates.bandwidth = rates.levels.back().bandwidth;
  // The innermost level is represented by the plain latency and bandwidth.
  rates.levels.pop_back();
  return rates;
}

namespace {

constexpr OptionSpec kLinkOptions[] = {
    {"machine_latency", OptionSpec::Real, "1e-6",
     "latency of a message in seconds; the default rates are those of one node", nullptr, above(0)},
    {"machine_overhead", OptionSpec::Real, "3e-7",
     "time that a rank spends on each message, in seconds", nullptr, above(0)},
    {"machine_bandwidth", OptionSpec::Real, "5e9",
     "bandwidth into or out of a rank, in bytes per second", nullptr, above(0)},
    {"machine_copy_bandwidth", OptionSpec::Real, "1e10",
     "rate at which a rank copies or adds in its memory, in bytes per second", nullptr, above(0)},
};
const OptionRegistration kLinkRegistration{{"machine", kLinkOptions}};

// The value of the option -tenon_NAME.
double rate(const char* name) {
  return options().getReal("", name);
}

} // namespace

LinkRates LinkRates::fromOptions() {
  return {.latency = rate("machine_latency"),
          .overhead = rate("machine_overhead"),
          .bandwidth = rate("machine_bandwidth"),
          .copyBandwidth = rate("machine_copy_bandwidth")};
}

LinkRates LinkRates::onLevel(std::size_t level) const {
  LinkRates result{latency, overhead, bandwidth, copyBandwidth};
  if (level < levels.size()) {
    result.latency = levels[level].latency;
    result.bandwidth = levels[level].bandwidth;
  }
  return result;
}

// Units have consecutive ranks, so a unit's number is a quotient.
std::size_t LinkRates::levelBetween(int rank, int other) const {
  const auto separates = [&](const LevelRates& level) {
    return rank / level.ranks != other / level.ranks;
  };
  return std::ranges::find_if(levels, separates) - levels.begin();
}

std::string LinkRates::describe() const {
  std::string text = fmt::format("latency {} s, overhead {} s, {} B/s, copies {} B/s", latency,
                                 overhead, bandwidth, copyBandwidth);
  for (const LevelRates& level : levels)
    text += fmt::format(", between units of {} ranks {} s, {} B/s", level.ranks, level.latency,
                        level.bandwidth);
  return text;
}

} // namespace tenon
