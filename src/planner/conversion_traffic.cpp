// SPDX-License-Identifier: BSD-2-Clause
#include "planner/conversion_traffic.hpp"

#include "geometry/traffic.hpp"

namespace tenon {

Traffic conversionTraffic(const Layout& from, const Layout& to) {
  Traffic all;
  for (int rank : from.mesh().ranks()) {
    const Traffic sent = countFlow(from, to, rank, Role::Source).others;
    all.messages += sent.messages;
    all.cells += sent.cells;
  }
  return all;
}

} // namespace tenon
