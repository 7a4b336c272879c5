// SPDX-License-Identifier: BSD-2-Clause
// A trace of the log: every closed scope (one execution of an event) with its begin and duration.
// Scopes are stored in a list of fixed capacity and formatted at the end of the program. When the
// list is full, later scopes are dropped, which takes no time in the time step; their number is
// reported.
#include "sys/log/log_trace.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/json_text.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <iterator>
#include <mutex>
#include <vector>

namespace tenon {

namespace {

struct Trace {
  std::mutex mutex;
  std::vector<ClosedScope> scopes;
  Index dropped = 0;
  double zero = 0;
};

// Never destroyed: scopes can close while static objects are destroyed.
Trace& trace() {
  static auto* instance = new Trace;
  return *instance;
}

void storeScope(const ClosedScope& scope) noexcept {
  std::lock_guard lock(trace().mutex);
  auto& scopes = trace().scopes;
  // Events must not allocate in a time step.
  if (scopes.size() == scopes.capacity())
    ++trace().dropped;
  else
    scopes.push_back(scope);
}

} // namespace

void traceStart(Index capacity) {
  if (capacity < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the trace has a capacity of {} events; it must be >= 1", capacity));
  traceStop();
  std::lock_guard lock(trace().mutex);
  trace().scopes.reserve(static_cast<std::size_t>(capacity));
  trace().zero = logNow();
  // Last, after the memory for events is reserved.
  setLogSink(storeScope);
}

void traceStop() noexcept {
  setLogSink(nullptr);
  std::lock_guard lock(trace().mutex);
  std::vector<ClosedScope>().swap(trace().scopes); // frees the memory
  trace().dropped = 0;
}

Index traceSize() noexcept {
  std::lock_guard lock(trace().mutex);
  return static_cast<Index>(trace().scopes.size());
}

Index traceDropped() noexcept {
  std::lock_guard lock(trace().mutex);
  return trace().dropped;
}

std::string traceHead(int rank) {
  std::string text =
      fmt::format(R"({}{{"name":"process_name","ph":"M","pid":{},"args":{{"name":"rank {}"}}}})"
                  ",\n"
                  R"({{"name":"process_sort_index","ph":"M","pid":{},"args":{{"sort_index":{}}}}})",
                  rank == 0 ? "" : ",\n", rank, rank, rank, rank);
  if (const Index dropped = traceDropped(); dropped > 0)
    text += fmt::format(",\n"
                        R"({{"name":"process_labels","ph":"M","pid":{},)"
                        R"("args":{{"labels":"{} later events left out"}}}})",
                        rank, dropped);
  return text;
}

std::string traceEvents(int rank, Index begin, Index end) {
  std::lock_guard lock(trace().mutex);
  std::string text;
  for (Index i = begin; i < end; ++i) {
    const ClosedScope& s = trace().scopes[static_cast<std::size_t>(i)];
    fmt::format_to(std::back_inserter(text),
                   ",\n"
                   R"({{"name":{},"cat":{},"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},)"
                   R"("args":{{"bytes":{},"messages":{},"flops":{:.0f}}}}})",
                   Json(std::string_view(s.event)).dump(), Json(std::string_view(s.stage)).dump(),
                   rank, s.thread, 1e6 * (s.begin - trace().zero), 1e6 * s.time, s.bytes,
                   s.messages, s.flops);
  }
  return text;
}

} // namespace tenon
