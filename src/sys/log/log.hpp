// SPDX-License-Identifier: BSD-2-Clause
// The event log of one process. An event is a name; a scope is one execution of it, and scopes
// nest. Time, flops, messages and bytes of a scope count for its event and for those around it
// (inclusive); self time leaves out the scopes within. An event inside itself is counted each time
// but its time and work only once. Totals are kept per stage, a stretch of the program that the
// user names.
//
// While the log is off a scope costs a note for the watchdog and a test of a flag; while it is on
// it allocates nothing.
#pragma once

#include "sys/types.hpp"

#include <atomic>
#include <string>
#include <vector>

namespace tenon {

// The number of the event of that name, which is the same at each call. Callers keep it in a static
// variable.
int logEvent(const char* name);

void logEnable(bool on) noexcept;
bool logEnabled() noexcept;
// Forgets all totals; events and stages keep their numbers.
void logReset() noexcept;

// Returns false if nothing was opened: the log is off, or there is no such event.
bool logBegin(int event) noexcept;
// Does nothing while the log is off. The innermost open event of this thread must be this one.
void logEnd(int event);

class LogScope {
public:
  explicit LogScope(int event) noexcept;
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

private:
  bool open_;
};

// Counts work for the innermost open scope of this thread; outside a scope none is counted.
void logFlops(double flops) noexcept;
// Counts one message with this payload.
void logMessage(Index bytes) noexcept;

// What the innermost open scope of this thread has taken so far, with the scopes within it; zeros
// while the log is off.
struct OpenScope {
  double seconds = 0;
  Index messages = 0, bytes = 0;
  double flops = 0;
};
OpenScope logOpenScope() noexcept;

// Stages nest; what begins now counts for the innermost, "main" at first.
void logStagePush(const char* name);
void logStagePop();

struct EventRecord {
  std::string stage;
  std::string event;
  Index count = 0;
  double time = 0; // seconds
  double selfTime = 0;
  double flops = 0;
  Index messages = 0;
  Index bytes = 0;
};

// What was counted since the log was enabled or reset, by stage and event in order of registration.
std::vector<EventRecord> logSnapshot();
// Seconds since the log was enabled or reset.
double logElapsed() noexcept;

// One scope that has closed, with the work of those within. The names live as long as the process.
struct ClosedScope {
  const char* event;
  const char* stage;
  int thread;         // 0, 1, ... in order of their first scope
  double begin, time; // seconds
  double flops;
  Index messages, bytes;
};

// A function that is told of every scope that closes while the log is on; nullptr for none.
using LogSink = void (*)(const ClosedScope&) noexcept;
void setLogSink(LogSink sink) noexcept;

// A function that is called before the clock is read where a scope begins or ends: for work that
// goes on while the host does, as that of a device, which would otherwise count for whoever waits
// for it. nullptr for none.
using LogBarrier = void (*)() noexcept;
void setLogBarrier(LogBarrier barrier) noexcept;

// The time of the clock in seconds.
double logNow() noexcept;
// Sets the clock, in seconds; nullptr restores the steady clock. For tests and simulated time.
void setLogClock(double (*now)()) noexcept;

} // namespace tenon
