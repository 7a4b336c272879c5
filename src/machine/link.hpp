// SPDX-License-Identifier: BSD-2-Clause
// What a link costs. Messages that are sent together share one latency, and each takes the processor
// for an overhead; then bytes pass at the link's bandwidth (the LogGP model: Alexandrov, Ionescu,
// Schauser and Scheiman 1995). What a rank copies or adds in its own memory has a rate of its own.
#pragma once

#include "sys/types.hpp"

#include <string>

namespace tenon {

// The defaults are those of one node whose ranks talk through its memory.
struct LinkRates {
  double latency = 1e-6;       // seconds until the first byte arrives
  double overhead = 3e-7;      // seconds for each message
  double bandwidth = 5e9;      // bytes a second into or out of one rank
  double copyBandwidth = 1e10; // bytes a second copied or added in memory

  // As the options -tenon_machine_... say. Throws TENON_ERR_ARG unless all are above 0.
  static LinkRates fromOptions();
  std::string describe() const;
  bool operator==(const LinkRates&) const = default;
};

} // namespace tenon
