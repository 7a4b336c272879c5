// SPDX-License-Identifier: BSD-2-Clause
// Makes the context of the library current while it works, and that of the program otherwise. Turns
// are exchanged by calls of the driver, which cost little and make no context; until the device is
// open a turn only notes whose it is.
#include "sys/cuda/parts.hpp"

#include "sys/cuda/driver.hpp"
#include "sys/cuda/status.hpp"
#include "sys/device.hpp"

#include <atomic>
#include <utility>

namespace tenon {

namespace {

std::atomic<CUcontext> librarys{nullptr};     // the context of the open device
const cuda::DriverTable* functions = nullptr; // set once it is open

// The turn of one thread.
struct Turn {
  DeviceTurn::Whose whose = DeviceTurn::Whose::Program;
  CUcontext programs = nullptr;
  bool isTaken = false; // the library's context is current
};
thread_local Turn turn;

// The context of the program is requested each time, since it may make another one current between
// two calls.
void take(CUcontext context) noexcept {
  functions->cuCtxGetCurrent(&turn.programs);
  if (turn.programs != context)
    functions->cuCtxSetCurrent(context);
  turn.isTaken = true;
}

void giveBack(CUcontext context) noexcept {
  if (turn.programs != context)
    functions->cuCtxSetCurrent(turn.programs);
  turn.isTaken = false;
}

void change(DeviceTurn::Whose whose) noexcept {
  if (std::exchange(turn.whose, whose) == whose)
    return;
  const CUcontext context = librarys.load(std::memory_order_acquire);
  if (context && whose == DeviceTurn::Whose::Library)
    take(context);
  else if (context && turn.isTaken)
    giveBack(context);
}

} // namespace

DeviceTurn::DeviceTurn(Whose whose) noexcept : before_(turn.whose) {
  change(whose);
}

DeviceTurn::~DeviceTurn() {
  change(before_);
}

namespace cuda {

int programsDevice() {
  CUcontext context = nullptr;
  int device = -1;
  if (driver() && driver()->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context)
    driver()->cuCtxGetDevice(&device);
  return device;
}

namespace {

ContextFound found(CUcontext context) {
  CUcontext current = nullptr;
  int device = -1;
  // The driver tells the device of the current context only.
  functions->cuCtxGetCurrent(&current);
  functions->cuCtxSetCurrent(context);
  functions->cuCtxGetDevice(&device);
  functions->cuCtxSetCurrent(current);
  return {device, context == librarys.load(std::memory_order_acquire)};
}

} // namespace

ContextFound contextOfStream(void* stream) {
  CUcontext streams = nullptr;
  if (functions->cuStreamGetCtx(static_cast<CUstream>(stream), &streams) != CUDA_SUCCESS)
    throw Error(TENON_ERR_ARG, "the driver knows no such stream; pass one that cudaStreamCreate() "
                               "made, or NULL for the default stream");
  return found(streams);
}

ContextFound contextOfProgram() {
  return found(turn.programs ? turn.programs : librarys.load(std::memory_order_acquire));
}

bool isInOtherContext(const void* address) {
  CUcontext context = nullptr;
  CUpointer_attribute requested = CU_POINTER_ATTRIBUTE_CONTEXT;
  void* to = &context;
  return functions->cuPointerGetAttributes(1, &requested, &to, driversAddress(address)) ==
             CUDA_SUCCESS &&
         context && context != librarys.load(std::memory_order_acquire);
}

void openDevice(int number) {
  functions = driver();
  if (!functions)
    throw Error(TENON_ERR_SUPPORT, "there is no device: the driver libcuda.so.1 lacks functions; "
                                   "update it, or use the space host");
  functions->cuCtxGetCurrent(&turn.programs);
  cudaError_t status = cudaSetDevice(number);
  if (status == cudaSuccess)
    status = cudaFree(nullptr); // makes the context, as cudaSetDevice() does from CUDA 12 on
  CUcontext context = nullptr;
  functions->cuCtxGetCurrent(&context);
  if (status != cudaSuccess)
    functions->cuCtxSetCurrent(turn.programs);
  // This throws, so the context of the program has been made current again.
  check(status, "cudaSetDevice");
  turn.isTaken = true;
  librarys.store(context, std::memory_order_release); // last: turns begin with it
}

void takeTurn() {
  if (!turn.isTaken)
    take(librarys.load(std::memory_order_acquire));
}

} // namespace cuda

} // namespace tenon
