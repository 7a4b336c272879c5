// SPDX-License-Identifier: BSD-2-Clause
#include "planner/conversion_traffic.hpp"

#include "geometry/traffic.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

Traffic conversionTraffic(const Layout& from, const Layout& to) {
  Traffic all;
  for (int rank : from.mesh().ranks()) {
    const Traffic sent = countFlow(from, to, rank, Role::Source).others;
    all.messages += sent.messages;
    if (__builtin_add_overflow(all.cells, sent.cells, &all.cells))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} processes that convert a tensor of shape [{}] from {} to {} send "
                              "more elements than a 64-bit integer counts; pass a smaller shape",
                              from.mesh().size(), fmt::join(from.shape(), ","),
                              tenon::describe(from.properties()),
                              tenon::describe(to.properties())));
  }
  return all;
}

} // namespace tenon
