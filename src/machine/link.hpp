// SPDX-License-Identifier: BSD-2-Clause
// The cost of communication over links, by the LogGP model (Alexandrov, Ionescu, Schauser and
// Scheiman 1995): messages that are sent together share one latency, each message occupies the
// processor for an overhead, and bytes are sent at the link's bandwidth. Copies and additions in a
// rank's own memory have a separate rate. Two messages of 1 MB, with the default rates, take
// 1e-6 s + 2 * 3e-7 s + 2e6 B / (5e9 B/s) = 4.016e-4 s.
#pragma once

#include "machine/machine.hpp"
#include "sys/types.hpp"

#include <string>
#include <vector>

namespace tenon {

// The rates between ranks in different units of one level of a machine.
struct LevelRates {
  Index ranks = 1; // consecutive ranks in one unit
  // Seconds, and bytes per second of one rank.
  double latency = 0;
  double bandwidth = 0;
  bool operator==(const LevelRates&) const = default;
};

// The defaults are those of ranks on one node that communicate through shared memory.
struct LinkRates {
  double latency = 1e-6;       // seconds until the first byte arrives
  double overhead = 3e-7;      // seconds for each message
  double bandwidth = 5e9;      // bytes per second into or out of one rank
  double copyBandwidth = 1e10; // bytes per second copied or added in memory
  // Rates by level, from the outermost. A message uses the rates of the outermost level that it
  // crosses, and the latency and bandwidth above inside a unit of the innermost level. Empty: all
  // links are alike.
  std::vector<LevelRates> levels = {};

  // Returns the rates of the options -tenon_machine_... Throws TENON_ERR_ARG unless all are
  // positive.
  static LinkRates fromOptions();
  // Returns uniform rates, those of one level; levels.size() means the innermost rates.
  LinkRates onLevel(std::size_t level) const;
  // Returns the outermost level that messages between two ranks cross; levels.size() if they share
  // all units.
  std::size_t levelBetween(int rank, int other) const;
  std::string describe() const;
  bool operator==(const LinkRates&) const = default;
};

// Returns the rates of a machine description; rank r is device r.
//
// Consider two ranks in different units of a level, but in the same unit of every level further
// out. They use the links that the machine's rules give for the pair of the first and the last
// unit. Their latency is the maximum over these links. Their bandwidth is the minimum, where the
// bandwidth of each link is divided by the number of devices below an instance, as if all of these
// devices sent at once: with one NIC for 32 cores, a rank gets 1/32 of it.
//
// Overhead and copy bandwidth are the machine's, or those of `base` if it has none. A level that no
// link joins has the latency and bandwidth of `base`.
LinkRates ratesOf(const Machine& machine, const LinkRates& base);

} // namespace tenon
