// SPDX-License-Identifier: BSD-2-Clause
// Records the work of a stream as a CUDA graph, and queues the graph. A recording must be ended
// even if the work throws, since the stream would otherwise remain in capture mode; the destructor
// of Capture ends it. Class StreamRecording is in sys/device.hpp.
#include "sys/cuda/retry.hpp"
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

thread_local int captures = 0; // Number of captures of this thread that have not ended.

// A capture of a stream, which ends by end(), or by the destructor if the work fails.
class Capture {
public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    // Thread-local mode: other threads of the program are allowed calls that a capture forbids.
    checkRecorded(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture");
    ++captures;
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    if (!ended_) {
      end();
      cudaGetLastError(); // clears the error of an aborted capture
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
  cudaGraphExec_t executable = nullptr;
  const auto instantiate = [&] { return cudaGraphInstantiate(&executable, capture.graph(), 0); };
  checkRecorded(cuda::retryOutOfMemory(*this, cuda::isOutOfMemory, instantiate),
                "cudaGraphInstantiate");
  StreamRecording recording;
  recording.handle_.reset(static_cast<void*>(executable), [](void* graph) {
    // CUDA completes a launch in progress before it destroys the graph.
    const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
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
