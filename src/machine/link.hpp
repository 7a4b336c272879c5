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
  Index ranks = 1;      // consecutive ranks in one unit
  double latency = 0;   // seconds
  double bandwidth = 0; // bytes per second into or out of one rank
  bool operator==(const LevelRates&) const = default;
};

// The default rates are typical of ranks on one node that communicate through shared memory.
struct LinkRates {
  double latency = 1e-6;       // seconds until the first byte arrives
  double overhead = 3e-7;      // seconds for each message
  double bandwidth = 5e9;      // bytes per second into or out of one rank
  double copyBandwidth = 1e10; // bytes per second copied or added in memory
  // Rates by level, from the outermost. A message between two units of a level, and within one unit
  // of each outer level, has the rates of this level. A message within a unit of the innermost
  // level has the latency and bandwidth above. Empty: all messages have these.
  std::vector<LevelRates> levels = {};

  // Returns the rates of the options -tenon_machine_... Throws TENON_ERR_ARG unless all are
  // positive.
  static LinkRates fromOptions();
  // Returns uniform rates, equal to the rates of one level; levels.size() means the latency and
  // bandwidth within a unit of the innermost level.
  LinkRates onLevel(std::size_t level) const;
  // Returns the outermost level that messages between two ranks cross; levels.size() if they share
  // all units.
  std::size_t levelBetween(int rank, int other) const;
  std::string describe() const;
  bool operator==(const LinkRates&) const = default;
};

// Returns the rates of a machine description; rank r is device r.
//
// The rates of a level are for two ranks in different units of it, but in the same unit of every
// outer level. Such ranks use the links that the machine's rules determine for the first and the
// last of these units. The latency is the maximum over these links. The bandwidth is the minimum,
// where the bandwidth of each link is divided by the number of devices below an instance, as if all
// of these devices sent at once: with one NIC for 32 cores, a rank gets 1/32 of its bandwidth.
//
// Overhead and copy bandwidth are the machine's, or those of `base` if the machine has none. A
// level without such links has the latency and bandwidth of `base`.
LinkRates ratesOf(const Machine& machine, const LinkRates& base);

} // namespace tenon
