// SPDX-License-Identifier: BSD-2-Clause
// CUDA streams and events. A handle is a shared pointer: copies of a Stream refer to the same CUDA
// stream, and the last copy destroys it. The handle of a stream that belongs to the user has an
// empty deleter. Stream and Event are in sys/device.hpp.
#include "sys/cuda/retry.hpp"
#include "sys/cuda/status.hpp"
#include "sys/device.hpp"

namespace tenon {

namespace {

cudaStream_t streamOf(const std::shared_ptr<void>& handle) {
  return static_cast<cudaStream_t>(handle.get());
}

cudaEvent_t eventOf(const std::shared_ptr<void>& handle) {
  return static_cast<cudaEvent_t>(handle.get());
}

std::shared_ptr<void> madeStream(unsigned flags) {
  Device::get();
  cudaStream_t stream = nullptr;
  cuda::check(cudaStreamCreateWithFlags(&stream, flags), "cudaStreamCreateWithFlags");
  return {static_cast<void*>(stream), [](void* s) {
            // The last copy can be destroyed at any time.
            const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
            cudaStreamDestroy(static_cast<cudaStream_t>(s));
          }};
}

std::shared_ptr<void> madeEvent(unsigned flags) {
  cudaEvent_t event = nullptr;
  cuda::check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
  return {static_cast<void*>(event), [](void* e) {
            const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
            cudaEventDestroy(static_cast<cudaEvent_t>(e));
          }};
}

} // namespace

bool Event::isDone() const {
  if (!handle_)
    return true;
  const cudaError_t status = cudaEventQuery(eventOf(handle_));
  if (status == cudaErrorNotReady) {
    // Clears the status, which the program's next check would take for a failure.
    cudaGetLastError();
    return false;
  }
  cuda::check(status, "cudaEventQuery");
  return true;
}

void Event::synchronise() const {
  if (handle_)
    cuda::check(cudaEventSynchronize(eventOf(handle_)), "cudaEventSynchronize");
}

Stream Stream::make() {
  Stream stream;
  // Non-blocking: the stream must not synchronise with the default stream, on which the program
  // works.
  stream.handle_ = madeStream(cudaStreamNonBlocking);
  return stream;
}

Stream Stream::ofCaller(void* handle) {
  if (handle && handle != cudaStreamLegacy)
    return wrap(handle);
  // Work of the legacy default stream cannot be recorded as a graph, and libraries treat its handle
  // specially. A blocking stream is synchronised with it by CUDA.
  Stream stream;
  stream.handle_ = madeStream(cudaStreamDefault);
  return stream;
}

Stream Stream::wrap(void* handle) {
  Device::get();
  Stream stream;
  stream.handle_.reset(handle, [](void*) {});
  return stream;
}

Event Stream::record() const {
  Event event;
  record(event);
  return event;
}

void Stream::record(Event& event) const {
  // An event without timing is cheaper to record, and its time is not needed.
  if (!event.handle_)
    event.handle_ = madeEvent(cudaEventDisableTiming);
  cuda::check(cudaEventRecord(eventOf(event.handle_), streamOf(handle_)), "cudaEventRecord");
}

void Stream::wait(const Event& event) const {
  if (event.handle_)
    cuda::check(cudaStreamWaitEvent(streamOf(handle_), eventOf(event.handle_), 0),
                "cudaStreamWaitEvent");
}

void Stream::synchronise() const {
  cuda::check(cudaStreamSynchronize(streamOf(handle_)), "cudaStreamSynchronize");
}

double Stream::secondsOf(const std::function<void()>& work) const {
  const auto begin = madeEvent(cudaEventDefault), end = madeEvent(cudaEventDefault);
  const cudaStream_t stream = streamOf(handle_);
  cuda::check(cudaEventRecord(eventOf(begin), stream), "cudaEventRecord");
  work();
  cuda::check(cudaEventRecord(eventOf(end), stream), "cudaEventRecord");
  cuda::check(cudaEventSynchronize(eventOf(end)), "cudaEventSynchronize");
  float milliseconds = 0;
  cuda::check(cudaEventElapsedTime(&milliseconds, eventOf(begin), eventOf(end)),
              "cudaEventElapsedTime");
  return 1e-3 * double(milliseconds);
}

void cuda::launch(const void* kernel, Index blocks, Index threads, void** arguments,
                  const Stream& stream) {
  const auto queue = [&] {
    return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)),
                            dim3(static_cast<unsigned>(threads)), arguments, 0,
                            static_cast<cudaStream_t>(stream.handle()));
  };
  check(retryOutOfMemory(stream, isOutOfMemory, queue), "cudaLaunchKernel");
}

} // namespace tenon
