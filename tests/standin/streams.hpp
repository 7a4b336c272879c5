// SPDX-License-Identifier: BSD-2-Clause
// The streams of the stand-in for CUDA. A stream is a queue of functions; nothing runs
// concurrently. Queued work runs inside a later call of the stand-in, at the latest when the
// program waits for it. The environment variable TENON_STANDIN selects when, to expose missing
// synchronisation:
//
//   lazy         work runs only if a call waits for it (the default; many calls of cudaEventQuery()
//                count as waiting). Exposes a consumer that does not wait for its input.
//   others       like lazy, but the work of all other streams runs first. Exposes memory that is
//                overwritten too early.
//   eager        work runs when it is queued
//   random:SEED  streams run in a random order that seldom changes; depending on the seed the host
//                is far ahead of them or little; the blocks of a kernel run in a random order
//
// In all modes, work of one stream runs in its order, and after the events that it waits for. So a
// correct program gets the same results in all modes.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cfenv>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace tenon::standin {

// One cudaEventRecord() of an event: it is done when the stream reaches this point of its queue.
struct Recording {
  CUstream_st* stream = nullptr;
  bool isDone = false;
  int requested = 0;  // number of cudaEventQuery() calls before it was done
  double seconds = 0; // of the stream's clock (costs.hpp) at this point
};

// A graph (cudaGraph_t): the work that was queued in a stream between cudaStreamBeginCapture() and
// cudaStreamEndCapture(), when the stream "records", and the memory that was allocated from the
// pool in between.
struct Graph {
  std::vector<std::function<void()>> work;
  std::vector<void*> taken;
  std::set<void*> inUse; // those of `taken` that were not freed yet

  ~Graph();
};

// During its lifetime, floating-point exceptions do not interrupt this thread, as some tests
// request: devices have no such exceptions, and the real cuDNN raises some when it compares its
// engines.
class Untrapped {
public:
  Untrapped() { std::feholdexcept(&before_); }
  ~Untrapped() { std::fesetenv(&before_); }
  Untrapped(const Untrapped&) = delete;
  Untrapped& operator=(const Untrapped&) = delete;

private:
  std::fenv_t before_;
};

// An entry of a stream's queue: a function, or null if the entry only waits.
struct Work {
  std::function<void()> run;
  std::shared_ptr<Recording> after; // must be done before; null if the entry waits for nothing
};

// Each function of the fake runtime has one of these as its first variable. It holds the lock of
// the stand-in; its constructor can run queued work, as the mode says.
class Call {
public:
  Call();

private:
  std::lock_guard<std::recursive_mutex> guard_;
};

// Creates a stream in the current context.
CUstream_st* makeStream(unsigned flags);
void endStream(CUstream_st* stream);
// Returns the stream of a handle. Ends the program for a handle that is not a stream, and for 0,
// the default stream, which the library must not use by mistake (cudaStreamLegacy, the explicit
// name of the same stream, is valid). `who` is the calling function, for the message.
CUstream_st& streamOf(cudaStream_t stream, const char* who);
// The same, but returns NULL for a stream of another context than the current one.
CUstream_st* streamHere(cudaStream_t stream, const char* who);
// Ends the program if any stream records a graph. For calls that wait, or that a graph cannot
// repeat.
void refuseWhileRecording(const char* who);

// Queues work, to run after the recording `after` if that is not null. If the stream records, the
// work is added to its graph instead.
void enqueue(CUstream_st& stream, std::function<void()> run,
             std::shared_ptr<Recording> after = nullptr);
// Queues an entry that waits for the work of the streams with which CUDA orders this one: a
// blocking stream waits for the default stream, and the default stream for all blocking streams.
void awaitOrdered(CUstream_st& stream);
// Runs the queued work of a stream; with `until`, only until this recording is done. Work of other
// streams runs as well, if this stream waits for it or the mode says so.
void drain(CUstream_st& stream, const Recording* until = nullptr);
void drainAll();

// Returns a random order of the blocks of a grid in the mode random; otherwise an empty list, which
// means ascending order.
std::vector<unsigned> blockOrder(unsigned blocks);

} // namespace tenon::standin

// A stream: work that is queued until something waits for it.
struct CUstream_st {
  // Legacy is the default stream of a context. It and the blocking streams of the context wait for
  // each other (awaitOrdered()); non-blocking streams do not take part in this.
  enum class Kind { Blocking, NonBlocking, Legacy };

  std::deque<tenon::standin::Work> queue;
  std::shared_ptr<tenon::standin::Graph> recording; // the graph while the stream records, or null
  CUcontext context = nullptr;
  Kind kind = Kind::NonBlocking;
  double seconds = 0; // clock of the stream: the time of all work that it has run (costs.hpp)
};

// An event.
struct CUevent_st {
  std::shared_ptr<tenon::standin::Recording> last; // of the latest cudaEventRecord(); null if none
  CUcontext context = nullptr;
};
