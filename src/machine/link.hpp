// SPDX-License-Identifier: BSD-2-Clause
// What a link costs. Messages that are sent together share one latency, and each takes the
// processor for an overhead; then bytes pass at the link's bandwidth (the LogGP model: Alexandrov,
// Ionescu, Schauser and Scheiman 1995). What a rank copies or adds in its own memory has a rate of
// its own.
#pragma once

#include "machine/machine.hpp"
#include "sys/types.hpp"

#include <string>
#include <vector>

namespace tenon {

// The rates between ranks in different units of one level of a machine.
struct LevelRates {
  Index ranks = 1; // of a unit, one after the other
  double latency = 0;
  double bandwidth = 0;
  bool operator==(const LevelRates&) const = default;
};

// The defaults are those of one node whose ranks talk through its memory.
struct LinkRates {
  double latency = 1e-6;       // seconds until the first byte arrives
  double overhead = 3e-7;      // seconds for each message
  double bandwidth = 5e9;      // bytes a second into or out of one rank
  double copyBandwidth = 1e10; // bytes a second copied or added in memory
  // What crosses a level goes by the outermost that it crosses; latency and bandwidth above hold
  // within a unit of the innermost. From the outermost; none: one kind of link joins any two ranks.
  std::vector<LevelRates> levels = {};

  // The rates that the options -tenon_machine_... give. Throws TENON_ERR_ARG unless all are above
  // 0.
  static LinkRates fromOptions();
  // The rates with the links of one level only; levels.size() stands for the innermost.
  LinkRates onLevel(std::size_t level) const;
  // The outermost level that two ranks' messages cross; levels.size() if they share all units.
  std::size_t levelBetween(int rank, int other) const;
  std::string describe() const;
  bool operator==(const LinkRates&) const = default;
};

// The rates of a described machine: rank r is its device r.
//
// Two ranks in different units of a level, and in one of every level further out, load the links of
// the machine's rules for a pair in the first and in the last unit of that level. Their latency is
// the largest, their bandwidth the least of these links', each divided by the devices below an
// instance, as if all of them sent at once: of a NIC for 32 cores a rank has a 32nd.
//
// Overhead and copies are the machine's, or the base's where it has none; latency and bandwidth of
// a level that no link joins are the base's.
LinkRates ratesOf(const Machine& machine, const LinkRates& base);

} // namespace tenon
