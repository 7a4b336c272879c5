// SPDX-License-Identifier: BSD-2-Clause
// The log measures time and work by scopes (an event from its begin to its end). It has a stack of
// open scopes per thread and a table of totals for the process. All data structures of a scope are
// preallocated at fixed sizes: opening and closing a scope allocates nothing, and takes the lock
// only once, when the scope is added to the totals.
#include "sys/log/log.hpp"

#include "sys/errors/error.hpp"
#include "sys/errors/handler.hpp"
#include "sys/log/many_events.hpp"
#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>

namespace tenon {

namespace {

constexpr int kMaxEvents = 2048; // each layer can have one
constexpr int kMaxStages = 32;   // of the program, such as set-up and time steps
constexpr int kMaxDepth = 64;    // of nested scopes

// Totals of one event in one stage, as in EventRecord.
struct Totals {
  Index count = 0;
  double time = 0;
  double selfTime = 0;
  double flops = 0;
  Index messages = 0;
  Index bytes = 0;
};

struct Stage {
  std::string name;
  std::vector<Totals> totals = std::vector<Totals>(kMaxEvents);
};

// Read by every scope, also while the log is off: constant-initialised before the program runs. The
// watchdog keeps pointers to the names, so they are never freed.
constinit std::array<std::atomic<const char*>, kMaxEvents> eventNames{};
constinit std::atomic<bool> isOn{false};

struct Log {
  std::mutex mutex;
  int eventCount = 0;
  std::vector<Stage> stages;
  std::vector<int> stageStack;
  std::atomic<int> stage{0};
  std::atomic<double (*)()> clock;
  std::atomic<LogSink> sink{nullptr};
  std::atomic<LogBarrier> barrier{nullptr};
  std::atomic<int> threads{0};
  double start = 0;
};

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Never destroyed: scopes can close while static objects are destroyed.
Log& log() {
  static auto* instance = [] {
    auto* created = new Log;
    // Reserved in advance, since names of stages are read without the lock and must not move.
    created->stages.reserve(kMaxStages);
    created->stages.push_back({"main"});
    created->clock = steadySeconds;
    return created;
  }();
  return *instance;
}

// An open scope of this thread, with the work of its inner scopes that have closed.
struct Frame {
  int event = 0;
  int stage = 0;
  double start = 0;
  double childTime = 0; // of the scopes directly inside it
  double flops = 0;
  Index messages = 0;
  Index bytes = 0;
};

thread_local std::array<Frame, kMaxDepth> frames;
thread_local int depth = 0; // can exceed kMaxDepth: deeper scopes count for the last frame

Frame* innermost() noexcept {
  if (depth == 0)
    return nullptr;
  return &frames[static_cast<std::size_t>(std::min(depth, kMaxDepth) - 1)];
}

// The time after all work that is queued on the device is done.
double timeAfterBarrier() noexcept {
  if (const LogBarrier barrier = log().barrier.load(std::memory_order_acquire))
    barrier();
  return logNow();
}

Totals& totalsOf(int stage, int event) {
  return log().stages[static_cast<std::size_t>(stage)].totals[static_cast<std::size_t>(event)];
}

// Whether an enclosing scope of the event is open.
bool isOpen(int event) noexcept {
  return std::any_of(frames.begin(), frames.begin() + depth,
                     [=](const Frame& frame) { return frame.event == event; });
}

// Adds a closed frame to the totals. A scope nested in one of the same event adds to the count and
// the self time only, since its time is part of the outer scope.
void addTotals(const Frame& frame, double time, bool nested) noexcept {
  std::lock_guard lock(log().mutex);
  Totals& totals = totalsOf(frame.stage, frame.event);
  ++totals.count;
  totals.selfTime += time - frame.childTime;
  // The outer scope of this event counts them.
  if (nested)
    return;
  totals.time += time;
  totals.flops += frame.flops;
  totals.messages += frame.messages;
  totals.bytes += frame.bytes;
}

const char* eventName(int event) noexcept {
  return eventNames[static_cast<std::size_t>(event)].load(std::memory_order_acquire);
}

void notifySink(const Frame& frame, double time) noexcept {
  const LogSink sink = log().sink.load(std::memory_order_acquire);
  if (!sink)
    return;
  thread_local const int thread = log().threads++;
  const Stage& stage = log().stages[static_cast<std::size_t>(frame.stage)];
  sink({eventName(frame.event), stage.name.c_str(), thread, frame.start, time, frame.flops,
        frame.messages, frame.bytes});
}

void closeInnermost() noexcept {
  if (depth-- > kMaxDepth)
    return;
  // A copy, since the slot is free from now on: a barrier or sink can open scopes.
  const Frame frame = frames[static_cast<std::size_t>(depth)];
  const double time = timeAfterBarrier() - frame.start;
  addTotals(frame, time, isOpen(frame.event));
  notifySink(frame, time);
  if (Frame* parent = innermost()) {
    parent->childTime += time;
    parent->flops += frame.flops;
    parent->messages += frame.messages;
    parent->bytes += frame.bytes;
  }
}

// Null if the event does not exist.
const char* nameIfEvent(int event) noexcept {
  return event >= 0 && event < kMaxEvents ? eventName(event) : nullptr;
}

int findOrAddStage(const char* name) {
  auto& stages = log().stages;
  const auto position =
      std::find_if(stages.begin(), stages.end(), [&](const Stage& s) { return s.name == name; });
  const auto number = static_cast<int>(position - stages.begin());
  if (number == kMaxStages)
    throw Error(TENON_ERR_ARG,
                fmt::format("log stage '{}' exceeds the maximum of {} stages", name, kMaxStages));
  if (position == stages.end())
    stages.push_back({name});
  return number;
}

} // namespace

int logEvent(const char* name) {
  return logEventOfMany(name, "");
}

int logEventOfMany(const char* name, const char* shared) {
  checkPlain("the name of a log event", name);
  std::lock_guard lock(log().mutex);
  int& count = log().eventCount;
  const auto find = [&](std::string_view text) {
    int event = 0;
    while (event < count && std::string_view(eventName(event)) != text)
      ++event;
    return event;
  };
  if (const int event = find(name); event < count)
    return event;
  constexpr int kReserved = 128; // slots for events without a shared name
  if (*shared && count >= kMaxEvents - kReserved) {
    name = shared;
    if (const int event = find(name); event < count)
      return event;
  }
  if (count == kMaxEvents)
    throw Error(TENON_ERR_ARG,
                fmt::format("log event '{}' exceeds the maximum of {} events", name, kMaxEvents));
  const std::size_t length = std::strlen(name) + 1;
  eventNames[static_cast<std::size_t>(count)] =
      static_cast<const char*>(std::memcpy(new char[length], name, length));
  return count++;
}

void logEnable(bool on) noexcept {
  if (on && !logEnabled())
    log().start = logNow();
  isOn = on;
}

bool logEnabled() noexcept {
  return isOn.load(std::memory_order_relaxed);
}

void logReset() noexcept {
  std::lock_guard lock(log().mutex);
  for (auto& stage : log().stages)
    std::fill(stage.totals.begin(), stage.totals.end(), Totals{});
  log().start = logNow();
}

namespace {

void open(int event) noexcept {
  // A scope that is too deep has no frame, but must be closed like any other.
  if (depth++ >= kMaxDepth)
    return;
  Frame& frame = *innermost();
  frame = Frame{};
  frame.event = event;
  // A scope counts for the stage in which it begins.
  frame.stage = log().stage.load(std::memory_order_acquire);
  frame.start = timeAfterBarrier();
}

} // namespace

bool logBegin(int event) noexcept {
  const char* name = nameIfEvent(event);
  if (!name)
    return false;
  // The watchdog is notified of the scope even while the log is off.
  noteCall(name);
  if (!logEnabled())
    return false;
  open(event);
  return true;
}

void logEnd(int event) {
  if (!logEnabled())
    return;
  const Frame* frame = innermost();
  if (!frame || (depth <= kMaxDepth && frame->event != event))
    throw Error(TENON_ERR_STATE,
                fmt::format("log event '{}' was ended, but the innermost open event is {}; end "
                            "events in reverse order of their begin",
                            nameIfEvent(event) ? eventName(event) : "?",
                            frame ? fmt::format("'{}'", eventName(frame->event)) : "none"));
  closeInnermost();
}

LogScope::LogScope(int event) noexcept : open_(logBegin(event)) {}

LogScope::~LogScope() {
  if (open_)
    closeInnermost();
}

void logFlops(double flops) noexcept {
  if (!logEnabled())
    return;
  if (Frame* frame = innermost())
    frame->flops += flops;
}

void logMessage(Index bytes) noexcept {
  if (!logEnabled())
    return;
  if (Frame* frame = innermost()) {
    ++frame->messages;
    frame->bytes += bytes;
  }
}

ScopeTotals logTotalsOfOpenScope() noexcept {
  const Frame* frame = logEnabled() ? innermost() : nullptr;
  return frame ? ScopeTotals{timeAfterBarrier() - frame->start, frame->messages, frame->bytes,
                             frame->flops}
               : ScopeTotals{};
}

void logStagePush(const char* name) {
  checkPlain("the name of a log stage", name);
  std::lock_guard lock(log().mutex);
  const int stage = findOrAddStage(name);
  log().stageStack.push_back(log().stage);
  log().stage = stage;
}

void logStagePop() {
  std::lock_guard lock(log().mutex);
  auto& stack = log().stageStack;
  if (stack.empty())
    throw Error(TENON_ERR_STATE, "the stack of log stages is empty; call TenonLogStagePop() once "
                                 "for each TenonLogStagePush()");
  log().stage = stack.back();
  stack.pop_back();
}

std::vector<EventRecord> logSnapshot() {
  std::lock_guard lock(log().mutex);
  std::vector<EventRecord> records;
  for (const Stage& stage : log().stages)
    for (int event = 0; event < log().eventCount; ++event) {
      const Totals& t = stage.totals[static_cast<std::size_t>(event)];
      if (t.count > 0)
        records.push_back({stage.name, eventName(event), t.count, t.time, t.selfTime, t.flops,
                           t.messages, t.bytes});
    }
  return records;
}

double logElapsed() noexcept {
  return logNow() - log().start;
}

void setLogBarrier(LogBarrier barrier) noexcept {
  log().barrier = barrier;
}

void setLogSink(LogSink sink) noexcept {
  log().sink = sink;
}

double logNow() noexcept {
  return log().clock.load(std::memory_order_relaxed)();
}

void setLogClock(double (*clock)()) noexcept {
  log().clock = clock ? clock : steadySeconds;
}

} // namespace tenon
