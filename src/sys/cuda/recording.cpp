// SPDX-License-Identifier: BSD-2-Clause
// Records the work of a stream as a CUDA graph, and queues it again. A recording has to end even if
// the work throws, or the stream would stay in the state of recording; so it ends in a destructor.
#include "sys/cuda/room.hpp"
#include "sys/cuda/status.hpp"
#include "sys/device.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

void checkRecorded(cudaError_t status, const char* call) {
  if (status == cudaSuccess)
    return;
  cudaGetLastError();
  throw Error(TENON_ERR_LIBRARY,
              fmt::format("the kernels of a pass cannot be recorded: {} failed: {}; set "
                          "-tenon_device_graphs to false",
                          call, cudaGetErrorString(status)));
}

thread_local int captures = 0;

// The recording of a stream, which ends when it is told to, or when the work on it fails.
class Capture {
public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    // Thread-local: other threads of the program may go on to call what a recording forbids.
    checkRecorded(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture");
    ++captures;
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    if (!ended_) {
      end();
      cudaGetLastError(); // the error of a recording that was given up
    }
    if (graph_)
      cudaGraphDestroy(graph_);
  }

  cudaError_t end() {
    ended_ = true;
    --captures;
    return cudaStreamEndCapture(stream_, &graph_);
  }
  cudaGraph_t graph() const { return graph_; }

private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  bool ended_ = false;
};

} // namespace

bool Stream::isRecording() noexcept {
  return captures > 0;
}

StreamRecording Stream::recording(const std::function<void()>& work) const {
  Capture capture(static_cast<cudaStream_t>(handle()));
  work();
  checkRecorded(capture.end(), "cudaStreamEndCapture");
  cudaGraphExec_t made = nullptr;
  const auto instantiate = [&] { return cudaGraphInstantiate(&made, capture.graph(), 0); };
  checkRecorded(cuda::withRoom(*this, cuda::isOutOfMemory, instantiate), "cudaGraphInstantiate");
  StreamRecording recording;
  recording.handle_.reset(static_cast<void*>(made), [](void* graph) {
    // CUDA lets a launch that is under way end first.
    const DeviceTurn turn(DeviceTurn::Whose::Library);
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
  });
  return recording;
}

void StreamRecording::queue(const Stream& stream) const {
  cuda::check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(handle_.get()),
                              static_cast<cudaStream_t>(stream.handle())),
              "cudaGraphLaunch");
}

} // namespace tenon
