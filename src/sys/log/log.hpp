// SPDX-License-Identifier: BSD-2-Clause
// The event log of a process. An event is a name; a scope is one execution of it, and scopes nest.
// Time, flops, messages and bytes of a scope count for its event and for the events of all
// enclosing scopes (inclusive); self time excludes the inner scopes. An event nested in itself is
// counted each time, but its time and work only once. Totals are per stage, a phase of the program
// that the user names.
//
// While the log is off, a scope costs a note for the watchdog and a test of a flag. While it is on,
// scopes do not allocate. For example:
//
//   static const int event = logEvent("Exchange");
//   LogScope scope(event);       // until the end of the block
//   logMessage(bytes);           // counts for "Exchange" and for all enclosing events
#pragma once

#include "sys/types.hpp"

#include <atomic>
#include <string>
#include <vector>

namespace tenon {

// The number of the event of this name, the same at each call. Callers store it in a static
// variable.
int logEvent(const char* name);

void logEnable(bool on) noexcept;
bool logEnabled() noexcept;
// Clears all totals; events and stages retain their numbers.
void logReset() noexcept;

// Returns false if no scope was opened: the log is off, or the event does not exist.
bool logBegin(int event) noexcept;
// No effect while the log is off. The innermost open event of this thread must be this one.
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

// Counts work for the innermost open scope of this thread; ignored outside of scopes.
void logFlops(double flops) noexcept;
// Counts one message with a payload of this size.
void logMessage(Index bytes) noexcept;

// Totals of the innermost open scope of this thread so far, inner scopes included; zeros while the
// log is off.
struct ScopeTotals {
  double seconds = 0;
  Index messages = 0, bytes = 0;
  double flops = 0;
};
ScopeTotals logTotalsOfOpenScope() noexcept;

// Stages nest; scopes that begin count for the innermost stage, initially "main".
void logStagePush(const char* name);
void logStagePop();

// The totals of an event in a stage.
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

// Totals since the log was enabled or reset, by stage and event in order of registration.
std::vector<EventRecord> logSnapshot();
// Seconds since the log was enabled or reset.
double logElapsed() noexcept;

// A scope that has closed, with totals that include its inner scopes. The names have static storage
// duration.
struct ClosedScope {
  const char* event;
  const char* stage;
  int thread;         // 0, 1, ... in the order in which threads opened their first scope
  double begin, time; // seconds
  double flops;
  Index messages, bytes;
};

// A function that is called for every scope that closes while the log is on; nullptr for none.
using LogSink = void (*)(const ClosedScope&) noexcept;
void setLogSink(LogSink sink) noexcept;

// A function that is called before the clock is read at the begin and end of a scope. It waits for
// asynchronous work, such as kernels of a device, whose time would otherwise count for the next
// scope that waits for it. nullptr for none.
using LogBarrier = void (*)() noexcept;
void setLogBarrier(LogBarrier barrier) noexcept;

// The clock of the log, in seconds.
double logNow() noexcept;
// Replaces the clock, in seconds; nullptr restores the steady clock. For tests and simulated time.
void setLogClock(double (*now)()) noexcept;

} // namespace tenon
