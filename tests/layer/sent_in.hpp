// SPDX-License-Identifier: BSD-2-Clause
// Counts what this rank sends: by the log, sentIn(), and as plans predict it, countedFrom().
#pragma once

#include "compile/prices/pass_prices.hpp"
#include "support/world.hpp"
#include "sys/log/log.hpp"

#include <utility>

namespace tenon::test {

using Sent = std::pair<Index, Index>; // messages and bytes of this rank

template <class Call>
Sent sentIn(Call&& call) {
  static const int event = logEvent("CountedPass");
  logEnable(true);
  logReset();
  {
    const LogScope scope(event);
    call();
  }
  logEnable(false);
  for (const EventRecord& record : logSnapshot())
    if (record.event == "CountedPass")
      return {record.messages, record.bytes};
  return {};
}

// In a pass of a compiled network, by the steps that it consists of.
inline Sent countedFrom(const CompiledNetwork& network, const Pass& pass) {
  const MovementTarget target = MovementPolicy::fromOptions().on(*world());
  const Index elementBytes = network.network().elementBytes;
  Sent sum;
  for (const PassMove& move : movesOf(network, network.list(), pass)) {
    const Traffic sent = sentFor(move, world()->rank(), /*isOwn=*/true, elementBytes, target);
    sum.first += move.times * sent.messages;
    sum.second += move.times * sent.elements * elementBytes;
  }
  return sum;
}

} // namespace tenon::test
