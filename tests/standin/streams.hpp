// SPDX-License-Identifier: BSD-2-Clause
// The streams of the stand-in: queues whose work runs at the latest when somebody waits for it.
// TENON_STANDIN says how late:
//
//   lazy         only what somebody waits for (the default), be it by asking many times: shows a consumer that does
//                not wait
//   others       before that, what the other streams have: shows memory that is written too early
//   eager        at once
//   random:SEED  streams in a random order that seldom changes, the host far ahead of them or little, the
//                blocks of a kernel in any order
//
// All keep the order within a stream, and of events, so that the results of a right program are the
// same.
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

struct Recording { // of an event, each anew
  CUstream_st* stream = nullptr;
  bool isDone = false;
  int requested = 0;  // in vain
  double seconds = 0; // on the stream's clock
};

// What a stream was given while it recorded, and memory that was taken from the pool meanwhile.
struct Graph {
  std::vector<std::function<void()>> work;
  std::vector<void*> taken;
  std::set<void*> inUse; // of it

  ~Graph();
};

// While one lives, this thread traps no floating-point exception: a device has none, and the real
// cuDNN raises some as it weighs its engines.
class Untrapped {
public:
  Untrapped() { std::feholdexcept(&before_); }
  ~Untrapped() { std::fesetenv(&before_); }
  Untrapped(const Untrapped&) = delete;
  Untrapped& operator=(const Untrapped&) = delete;

private:
  std::fenv_t before_;
};

struct Work {
  std::function<void()> run;
  std::shared_ptr<Recording> after; // waits for it, if there is one
};

// Held by every call of the runtime; some work may run as it begins.
class Call {
public:
  Call();

private:
  std::lock_guard<std::recursive_mutex> guard_;
};

// Of the current context.
CUstream_st* makeStream(unsigned flags);
void endStream(CUstream_st* stream);
// Refuses streams that do not exist, and the default stream unless its name is written out
// (cudaStreamLegacy), since the library must not use it by mistake.
CUstream_st& streamOf(cudaStream_t stream, const char* who);
// The same; NULL if it is of another context than the current one.
CUstream_st* streamHere(cudaStream_t stream, const char* who);
// Refuses a call that waits, or that the graph of a stream could not repeat, while any stream
// records.
void refuseWhileRecording(const char* who);

void enqueue(CUstream_st& stream, std::function<void()> run,
             std::shared_ptr<Recording> after = nullptr);
// Lets what is queued from now on wait for those streams that CUDA orders it with.
void awaitOrdered(CUstream_st& stream);
// Runs what is queued, or as much of it as the recording needs.
void drain(CUstream_st& stream, const Recording* until = nullptr);
void drainAll();

// A random order of the blocks of a grid, empty where they run in order.
std::vector<unsigned> blockOrder(unsigned blocks);

} // namespace tenon::standin

struct CUstream_st {
  // Blocking streams are in the order of the legacy default stream of their context, and it is in
  // theirs.
  enum class Kind { Blocking, NonBlocking, Legacy };

  std::deque<tenon::standin::Work> queue;
  std::shared_ptr<tenon::standin::Graph> recording;
  CUcontext context = nullptr;
  Kind kind = Kind::NonBlocking;
  double seconds = 0; // of what it has run, by costs.hpp
};

struct CUevent_st {
  std::shared_ptr<tenon::standin::Recording> last;
  CUcontext context = nullptr;
};
