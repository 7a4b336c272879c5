// SPDX-License-Identifier: BSD-2-Clause
// Counts what this rank sends, by the log.
#pragma once

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

} // namespace tenon::test
