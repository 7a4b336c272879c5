// SPDX-License-Identifier: BSD-2-Clause
// The counts of calls of the stand-in for CUDA (calls.hpp). They belong to the process, as the
// streams do, so one object has them.
#include "standin/calls.hpp"

#include "standin/streams.hpp"

namespace tenon::standin {

Calls& calls() {
  static auto* all = new Calls;
  return *all;
}

} // namespace tenon::standin

tenon::standin::Calls tenonStandinCalls() {
  const tenon::standin::Call call;
  return tenon::standin::calls();
}
