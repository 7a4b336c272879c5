// SPDX-License-Identifier: BSD-2-Clause
#include "tools/watchdog.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>

#include <unistd.h>

namespace tenon::tools {

namespace {

// A signal handler may touch no more than such memory.
char messageText[4096];
volatile std::sig_atomic_t messageLength = 0;

extern "C" void endProcess(int) {
  if (write(STDERR_FILENO, messageText, static_cast<std::size_t>(messageLength)) < 0)
    _exit(2);
  _exit(1);
}

} // namespace

Watchdog::Watchdog(int seconds, const std::string& message) {
  say(message);
  std::signal(SIGALRM, endProcess);
  alarm(static_cast<unsigned>(seconds));
}

Watchdog::~Watchdog() {
  alarm(0);
}

void Watchdog::say(const std::string& message) {
  const std::size_t length = std::min(message.size(), sizeof messageText);
  messageLength = 0;
  std::copy_n(message.begin(), length, messageText);
  messageLength = static_cast<std::sig_atomic_t>(length);
}

} // namespace tenon::tools
