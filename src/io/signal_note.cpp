// SPDX-License-Identifier: BSD-2-Clause
#include "io/signal_note.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

namespace tenon {

namespace {

volatile std::sig_atomic_t arrivedSignal = 0;
int watchedSignal = 0;
struct sigaction actionBefore {};

extern "C" void tenonNoteSignal(int signal) {
  arrivedSignal = signal;
}

// A fault comes again when its handler returns, and abort() ends the process after it.
bool isFault(int signal) {
  constexpr int kFaults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  return std::find(std::begin(kFaults), std::end(kFaults), signal) != std::end(kFaults);
}

} // namespace

void noteSignal(int signal) {
  if (isFault(signal))
    throw Error(TENON_ERR_ARG,
                fmt::format("signal {} tells of a fault, after which a program cannot "
                            "go on; use SIGTERM or SIGUSR1",
                            signal));
  if (signal == watchedSignal)
    return;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = tenonNoteSignal;
  action.sa_flags = SA_RESTART;
  if (signal != 0 && sigaction(signal, &action, &before) != 0)
    throw Error(TENON_ERR_ARG, fmt::format("signal {} cannot be caught: {}; use SIGTERM or SIGUSR1",
                                           signal, std::strerror(errno)));
  if (watchedSignal != 0)
    sigaction(watchedSignal, &actionBefore, nullptr);
  actionBefore = before;
  watchedSignal = signal;
  arrivedSignal = 0;
}

int notedSignal() noexcept {
  return arrivedSignal;
}

} // namespace tenon
