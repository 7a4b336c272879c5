// SPDX-License-Identifier: BSD-2-Clause
// The trace of one process: every scope of the log that closes, with its begin and duration, kept
// in memory up to a bound and written in the trace event format of Chrome, which Perfetto reads
// too. Nothing is allocated while events come in.
#pragma once

#include "sys/types.hpp"

#include <string>

namespace tenon {

// From now on keeps the first `capacity` events; the time of this call is the trace's zero. Throws
// TENON_ERR_ARG for a capacity below 1.
void traceStart(Index capacity);
// Ends the trace and forgets everything.
void traceStop() noexcept;

Index traceSize() noexcept;
// The number of events that came when the trace was full.
Index traceDropped() noexcept;

// Text of the array "traceEvents": first the objects that name the process. The text of rank 0
// stands at the beginning of the array; that of all other ranks begins with a comma.
std::string traceHead(int rank);
// Text of the events [begin, end). Times are in microseconds.
std::string traceEvents(int rank, Index begin, Index end);

} // namespace tenon
