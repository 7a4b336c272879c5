// SPDX-License-Identifier: BSD-2-Clause
// Knows again the steps that were recorded on the device. A recording holds addresses, so that it may
// be replayed only where every array lies where it lay, with the strides that it had.
#include "layer/core/recorded_steps.hpp"

#include <algorithm>

namespace tenon {

void RecordedSteps::noteStrides(const DTensor& tensor) {
  if (tensor.isContiguous())
    return;
  for (int d = 0; d < tensor.rank(); ++d)
    noted_.push_back(static_cast<std::uintptr_t>(tensor.strides()[d]));
}

void RecordedSteps::noteRead(const DTensor* tensor) {
  note(tensor ? tensor->readAddress() : nullptr);
  if (tensor)
    noteStrides(*tensor);
}

void RecordedSteps::noteWritten(DTensor* tensor) {
  note(tensor ? tensor->writeAddress() : nullptr);
  if (tensor)
    noteStrides(*tensor);
}

StreamRecording* RecordedSteps::find(std::size_t begin, std::size_t end) {
  std::vector<Known>& known = known_[begin];
  const auto same = std::find_if(known.rbegin(), known.rend(), [&](const Known& one) {
    return one.end == end && one.noted == noted_;
  });
  if (same != known.rend())
    return &same->recording;
  if (known.size() == kMost)
    known.erase(known.begin());
  known.push_back({end, noted_, {}});
  return nullptr;
}

int RecordedSteps::count() const noexcept {
  int count = 0;
  for (const std::vector<Known>& known : known_)
    for (const Known& one : known)
      count += one.recording.exists();
  return count;
}

} // namespace tenon
