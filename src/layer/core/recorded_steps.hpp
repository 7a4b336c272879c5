// SPDX-License-Identifier: BSD-2-Clause
// Device graphs (CUDA graphs) of a pass. When a range of steps runs with the same arrays for the
// second time, the device work that it queues is recorded. From then on one call launches the
// recording instead of many kernels. Steps that send messages, and kernels that need the host, are
// not part of a range. RecordingRunner::run(s), for each range that starts at step s:
//
//   clear(), note...()   list the addresses that the steps use
//   find()               1st run with this list: null, so the steps run one by one
//                        2nd run: an empty recording, to be made
//                        later runs: the recording, to be launched
#pragma once

#include "layer/core/pass_runner.hpp"

#include <cstdint>

namespace tenon {

// The recordings of one pass, each found by its first step and the addresses that it uses.
class RecordedSteps {
public:
  // `steps` is the number of steps of the pass.
  explicit RecordedSteps(std::size_t steps) : known_(steps) {}

  // Clears the list of addresses and flags that identifies a run. Noting a tensor has the same side
  // effects as its use by a step, which a recording does not repeat: the tensor is checked and
  // allocated, and the state counter of a written tensor is increased.
  void clear() noexcept { noted_.clear(); }
  void note(const void* address) { noted_.push_back(reinterpret_cast<std::uintptr_t>(address)); }
  void noteFlag(bool flag) { noted_.push_back(flag); }
  void noteRead(const DTensor* tensor);
  void noteWritten(DTensor* tensor);

  // The recording of steps [begin, end) with the noted arrays. Null the first time, when kernels
  // can still create objects that they keep. The second time the recording is empty, and the caller
  // makes it.
  StreamRecording* find(std::size_t begin, std::size_t end);
  int count() const noexcept;

private:
  // The limit on recordings that start at the same step: one is needed per level of the layer's
  // stack and per choice of arrays between which the caller alternates.
  static constexpr std::size_t kMax = 64;
  struct Known { // a recording and the run that it repeats
    std::size_t end;
    std::vector<std::uintptr_t> noted;
    StreamRecording recording;
  };
  void noteStrides(const DTensor& tensor);

  std::vector<std::uintptr_t> noted_;
  std::vector<std::vector<Known>> known_; // by first step
};

// Runs steps through a StepRunner, but launches repeated ranges as one recording.
class RecordingRunner {
public:
  RecordingRunner(StepRunner& steps, RecordedSteps& recorded)
      : steps_(steps), recorded_(recorded) {}

  // Runs one step, or a range of steps as one, and returns the index of the next step.
  std::size_t run(std::size_t s);

private:
  // The end of the range of steps that can be recorded as one; `begin` if it has no work.
  std::size_t endOfRun(std::size_t begin) const;
  bool isRepeatable(const Step& step) const;
  bool isDone(const Step& step) const;
  void note(const Step& step);
  void noteKernel(const Step& step);

  StepRunner& steps_;
  RecordedSteps& recorded_;
};

} // namespace tenon
