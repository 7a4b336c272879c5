// SPDX-License-Identifier: BSD-2-Clause
// Ends this process with a message if a piece of work takes too long, as when ranks wait for each
// other; mpiexec then ends the others. By SIGALRM, which needs no thread.
#pragma once

#include <string>

namespace tenon::tools {

class Watchdog {
public:
  // seconds: 0 for ever.
  Watchdog(int seconds, const std::string& message);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // What to say instead, once more is known.
  static void say(const std::string& message);
};

} // namespace tenon::tools
