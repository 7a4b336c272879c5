// SPDX-License-Identifier: BSD-2-Clause
#include "machine/level_rates.hpp"

#include "machine/group_load.hpp"

#include <algorithm>
#include <array>

namespace tenon {

namespace {

// Between the first and the last unit of a level, in the first unit of the level above.
LevelRates ratesAcross(const Machine& machine, int level, const LinkRates& base) {
  const Index ranks = machine.devicesIn(level);
  const std::array<int, 2> pair{0, static_cast<int>(machine.devicesIn(level - 1) - ranks)};
  const std::vector<LinkShare> shares = linksOf(machine, pair);
  if (shares.empty())
    return {ranks, base.latency, base.bandwidth};
  LevelRates rates{ranks, 0, 0};
  for (const LinkShare& share : shares) {
    const Link& link = machine.links()[share.link];
    const double each = link.bandwidth / static_cast<double>(machine.devicesOf(link));
    rates.latency = std::max(rates.latency, link.latency);
    rates.bandwidth = rates.bandwidth > 0 ? std::min(rates.bandwidth, each) : each;
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
  rates.levels.pop_back();
  return rates;
}

} // namespace tenon
