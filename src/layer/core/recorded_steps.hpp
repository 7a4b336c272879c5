// SPDX-License-Identifier: BSD-2-Clause
// Runs of steps of a pass on the device that come again with the same arrays: the second time what
// they queue is recorded, and from then on queued as a whole, so that the host makes one call for
// many kernels. Steps that send messages, and kernels that need the host, stay between them.
#pragma once

#include "layer/core/pass_runner.hpp"

#include <cstdint>

namespace tenon {

class RecordedSteps {
public:
  // Of a pass of so many steps.
  explicit RecordedSteps(std::size_t steps) : known_(steps) {}

  // Begins the list of what a run works on. Noting an array does for its tensor what its use would:
  // it is checked, allocated, and changed if it is written.
  void clear() noexcept { noted_.clear(); }
  void note(const void* address) { noted_.push_back(reinterpret_cast<std::uintptr_t>(address)); }
  void noteFlag(bool flag) { noted_.push_back(flag); }
  void noteRead(const DTensor* tensor);
  void noteWritten(DTensor* tensor);

  // The recording of the steps from begin to end with what was noted. Null when they come for the
  // first time, for they may make things then that they keep; one that does not exist the second
  // time, for the caller to make.
  StreamRecording* find(std::size_t begin, std::size_t end);
  int count() const noexcept;

private:
  static constexpr std::size_t kMax =
      64; // from one step on: for each level of a stack, and some arrays by turns
  struct Known {
    std::size_t end;
    std::vector<std::uintptr_t> noted;
    StreamRecording recording;
  };
  void noteStrides(const DTensor& tensor);

  std::vector<std::uintptr_t> noted_;
  std::vector<std::vector<Known>> known_; // by the first step
};

// Runs steps as the runner that it has does, but those that come again as one.
class RecordingRunner {
public:
  RecordingRunner(StepRunner& steps, RecordedSteps& recorded)
      : steps_(steps), recorded_(recorded) {}

  // Runs a step, or as many from it on as can be queued as one, and returns the one behind.
  std::size_t run(std::size_t s);

private:
  // Of steps that may be recorded as one; `begin` where there are none with work.
  std::size_t endOfRun(std::size_t begin) const;
  bool isRepeatable(const Step& step) const;
  bool isDone(const Step& step) const;
  void note(const Step& step);
  void noteKernel(const Step& step);

  StepRunner& steps_;
  RecordedSteps& recorded_;
};

} // namespace tenon
