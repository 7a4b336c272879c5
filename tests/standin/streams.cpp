// SPDX-License-Identifier: BSD-2-Clause
// The queues of all streams, and the modes in which they run (streams.hpp): progress() runs work
// without a request at the begin of each call and after each enqueue(); drain() runs the work that
// a call waits for.
#include "standin/streams.hpp"

#include "standin/devices.hpp"
#include "standin/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>

namespace tenon::standin {

namespace {

enum class Mode { Lazy, Others, Eager, Random };

// The streams of the process and the mode.
struct Queues {
  std::recursive_mutex mutex;
  std::vector<CUstream_st*> streams, ended; // `ended` keeps destroyed streams, see endStream()
  Mode mode = Mode::Lazy;
  unsigned seed = 0;
  std::mt19937 generator;
  std::map<CUstream_st*, unsigned> order; // mode random: the stream with the largest number runs

  Queues() {
    const char* text = std::getenv("TENON_STANDIN");
    const std::string name = text ? text : "lazy";
    if (name == "eager")
      mode = Mode::Eager;
    else if (name == "others")
      mode = Mode::Others;
    else if (name.rfind("random:", 0) == 0)
      mode = Mode::Random;
    else if (name != "lazy")
      refuse("TENON_STANDIN is '" + name + "'; expected lazy, others, eager or random:SEED");
    if (mode == Mode::Random)
      generator.seed(seed = static_cast<unsigned>(std::strtoul(name.c_str() + 7, nullptr, 10)));
  }
};

Queues& queues() {
  static auto* all = new Queues;
  return *all;
}

// Makes device memory accessible during its lifetime.
struct Opened {
  Opened() { DeviceMemory::get().open(); }
  ~Opened() { DeviceMemory::get().close(); }

private:
  const Untrapped untrapped_;
};

// Whether the first entry of the queue can run now.
bool isReady(const CUstream_st& s) {
  return !s.queue.empty() && (!s.queue.front().after || s.queue.front().after->isDone);
}

void runFront(CUstream_st& s) {
  const Work work = std::move(s.queue.front());
  s.queue.pop_front();
  if (!work.run)
    return;
  const Opened opened;
  work.run();
}

// Runs one ready entry of a stream other than `but`. Returns false if there is none.
bool runAny(const CUstream_st* but = nullptr) {
  Queues& q = queues();
  std::vector<CUstream_st*> ready;
  for (CUstream_st* s : q.streams)
    if (s != but && isReady(*s))
      ready.push_back(s);
  if (ready.empty())
    return false;
  // The order of the streams changes in one of 8 calls only: some faults appear only if one stream
  // runs far ahead of the others, which is unlikely if each call draws a stream.
  if (q.generator() % 8 == 0)
    q.order.clear();
  for (CUstream_st* s : ready)
    if (!q.order.count(s))
      q.order[s] = static_cast<unsigned>(q.generator());
  runFront(**std::max_element(ready.begin(), ready.end(),
                              [&](auto* a, auto* b) { return q.order[a] < q.order[b]; }));
  return true;
}

// Runs work that no call waits for: in the mode eager all work, in the mode random one entry with a
// probability of 0, 20 or 40 %, which depends on the seed.
void progress() {
  Queues& q = queues();
  constexpr unsigned kOutOf = 100, kPercent = 20;
  if (q.mode == Mode::Eager) {
    while (runAny()) {
    }
  } else if (q.mode == Mode::Random && q.generator() % kOutOf < kPercent * (q.seed % 3)) {
    runAny();
  }
}

} // namespace

Call::Call() : guard_(queues().mutex) {
  progress();
}

namespace {

CUstream_st* addStream(CUstream_st::Kind kind) {
  auto* made = new CUstream_st;
  made->context = currentContext();
  made->kind = kind;
  queues().streams.push_back(made);
  return made;
}

// The default streams of the current context, one for all threads (legacy) and one for each thread.
// Both are created at their first use.
CUstream_st& legacyStream() {
  static std::map<CUcontext, CUstream_st*> all;
  CUstream_st*& stream = all[currentContext()];
  return *(stream ? stream : stream = addStream(CUstream_st::Kind::Legacy));
}

CUstream_st& perThreadStream() {
  thread_local std::map<CUcontext, CUstream_st*> all;
  CUstream_st*& stream = all[currentContext()];
  return *(stream ? stream : stream = addStream(CUstream_st::Kind::Blocking));
}

} // namespace

CUstream_st* makeStream(unsigned flags) {
  return addStream((flags & cudaStreamNonBlocking) != 0 ? CUstream_st::Kind::NonBlocking
                                                        : CUstream_st::Kind::Blocking);
}

// The object is not deleted: another stream could get its address, and a later use of the destroyed
// stream would not be detected.
void endStream(CUstream_st* stream) {
  drain(*stream);
  auto& streams = queues().streams;
  streams.erase(std::find(streams.begin(), streams.end(), stream));
  queues().ended.push_back(stream);
}

CUstream_st& streamOf(cudaStream_t stream, const char* who) {
  if (stream == cudaStreamLegacy)
    return legacyStream();
  if (stream == cudaStreamPerThread)
    return perThreadStream();
  const auto& streams = queues().streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end())
    refuse(std::string(who) + (stream ? ": no such stream" : ": the default stream; name one"));
  return *stream;
}

CUstream_st* streamHere(cudaStream_t stream, const char* who) {
  CUstream_st& found = streamOf(stream, who);
  return found.context == currentContext() ? &found : nullptr;
}

Graph::~Graph() {
  for (void* memory : taken)
    DeviceMemory::get().deallocate(memory);
}

void refuseWhileRecording(const char* who) {
  for (const CUstream_st* s : queues().streams)
    if (s->recording)
      refuse(std::string(who) + " while a stream records");
}

void enqueue(CUstream_st& stream, std::function<void()> run, std::shared_ptr<Recording> after) {
  if (stream.recording) {
    if (after)
      refuse("a stream that records waits for an event");
    stream.recording->work.push_back(std::move(run));
    return;
  }
  awaitOrdered(stream);
  stream.queue.push_back({std::move(run), std::move(after)});
  progress();
}

void awaitOrdered(CUstream_st& stream) {
  using Kind = CUstream_st::Kind;
  if (stream.kind == Kind::NonBlocking)
    return;
  const Kind others = stream.kind == Kind::Legacy ? Kind::Blocking : Kind::Legacy;
  for (CUstream_st* other : queues().streams)
    if (other->kind == others && other->context == stream.context && !other->queue.empty()) {
      auto reached = std::make_shared<Recording>(Recording{other});
      other->queue.push_back({[reached] { reached->isDone = true; }, nullptr});
      stream.queue.push_back({nullptr, reached});
    }
}

void drain(CUstream_st& s, const Recording* until) {
  const Mode mode = queues().mode;
  if (s.queue.empty() || (until && until->isDone))
    return;
  const Opened opened; // device memory is opened once for all entries that run here
  while (!s.queue.empty() && !(until && until->isDone)) {
    if (mode == Mode::Random) {
      runAny();
      continue;
    }
    if (mode == Mode::Others && runAny(&s))
      continue;
    const auto after = s.queue.front().after;
    if (after && !after->isDone)
      drain(*after->stream, after.get()); // only as far as needed
    runFront(s);
  }
}

void drainAll() {
  for (CUstream_st* s : queues().streams)
    drain(*s);
}

std::vector<unsigned> blockOrder(unsigned blocks) {
  Queues& q = queues();
  std::vector<unsigned> order(q.mode == Mode::Random ? blocks : 0);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), q.generator);
  return order;
}

} // namespace tenon::standin
