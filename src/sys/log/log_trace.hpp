// SPDX-License-Identifier: BSD-2-Clause
// The trace of a process: every scope of the log that closes, with its begin and duration, stored
// in memory up to a maximum and written in Chrome's trace event format, which Perfetto also reads.
// Recording an event allocates nothing. The text of one event, on rank 3:
//
//   {"name":"Exchange","cat":"main","ph":"X","pid":3,"tid":0,"ts":812.500,"dur":31.250,
//    "args":{"bytes":4096,"messages":2,"flops":0}}
//
// where pid is the rank, tid the thread, and ts and dur are in microseconds. The session starts the
// trace on all ranks, and rank 0 writes the texts of all ranks to one file
// (comm/session/log_report.cpp).
#pragma once

#include "sys/types.hpp"

#include <string>

namespace tenon {

// Starts to store the first `capacity` events; the time of this call is the trace's zero. Throws
// TENON_ERR_ARG for a capacity below 1.
void traceStart(Index capacity);
// Stops recording and clears the trace.
void traceStop() noexcept;

Index traceSize() noexcept;
// Number of events that were dropped because the trace was full.
Index traceDropped() noexcept;

// Text at the beginning of the array "traceEvents": the objects that name the process. The text of
// rank 0 is the first in the array; the texts of other ranks begin with a comma.
std::string traceHead(int rank);
// Text of the events [begin, end). Times are in microseconds.
std::string traceEvents(int rank, Index begin, Index end);

} // namespace tenon
