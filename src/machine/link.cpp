// SPDX-License-Identifier: BSD-2-Clause
#include "machine/link.hpp"

#include "sys/options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

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

double rate(const char* name) {
  return options().getReal("", name);
}

} // namespace

LinkRates LinkRates::fromOptions() {
  return {rate("machine_latency"), rate("machine_overhead"), rate("machine_bandwidth"),
          rate("machine_copy_bandwidth")};
}

LinkRates LinkRates::onLevel(std::size_t level) const {
  LinkRates one{latency, overhead, bandwidth, copyBandwidth};
  if (level < levels.size()) {
    one.latency = levels[level].latency;
    one.bandwidth = levels[level].bandwidth;
  }
  return one;
}

std::size_t LinkRates::levelBetween(int rank, int other) const {
  const auto parts = [&](const LevelRates& level) {
    return rank / level.ranks != other / level.ranks;
  };
  return std::ranges::find_if(levels, parts) - levels.begin();
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
