// SPDX-License-Identifier: BSD-2-Clause
// Makes the CUDA context of the library current while the library works, and that of the program
// while the program's code runs. The switch is a call of the driver, which is fast and creates no
// context. Until the device is open, a CurrentDeviceScope only records which of the two should be
// current. CurrentDeviceScope is declared in sys/device.hpp, the other functions in parts.hpp.
#include "sys/cuda/parts.hpp"

#include "sys/cuda/driver.hpp"
#include "sys/cuda/status.hpp"
#include "sys/device.hpp"

#include <atomic>
#include <utility>

namespace tenon {

namespace {

std::atomic<CUcontext> libraryContext{nullptr}; // the context of the open device
const cuda::DriverTable* functions = nullptr;   // set when the device is opened

// State of a thread: whose context the innermost CurrentDeviceScope requests, the context that the
// program had when the library's was made current, and whether the library's is current now.
struct Turn {
  CurrentDeviceScope::Whose whose = CurrentDeviceScope::Whose::Program;
  CUcontext programContext = nullptr;
  bool isLibraryCurrent = false;
};
thread_local Turn turn;

// Makes the library's context current. The program's context is queried each time, since the
// program can switch contexts between two calls.
void setCurrent(CUcontext context) noexcept {
  functions->cuCtxGetCurrent(&turn.programContext);
  if (turn.programContext != context)
    functions->cuCtxSetCurrent(context);
  turn.isLibraryCurrent = true;
}

// Makes the program's context current again; `context` is the library's.
void restore(CUcontext context) noexcept {
  if (turn.programContext != context)
    functions->cuCtxSetCurrent(turn.programContext);
  turn.isLibraryCurrent = false;
}

void change(CurrentDeviceScope::Whose whose) noexcept {
  if (std::exchange(turn.whose, whose) == whose)
    return;
  const CUcontext context = libraryContext.load(std::memory_order_acquire);
  if (context && whose == CurrentDeviceScope::Whose::Library)
    setCurrent(context);
  else if (context && turn.isLibraryCurrent)
    restore(context);
}

} // namespace

CurrentDeviceScope::CurrentDeviceScope(Whose whose) noexcept : before_(turn.whose) {
  change(whose);
}

CurrentDeviceScope::~CurrentDeviceScope() {
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

ContextFound describeContext(CUcontext context) {
  CUcontext current = nullptr;
  int device = -1;
  // The driver reports the device of the current context only.
  functions->cuCtxGetCurrent(&current);
  functions->cuCtxSetCurrent(context);
  functions->cuCtxGetDevice(&device);
  functions->cuCtxSetCurrent(current);
  return {device, context == libraryContext.load(std::memory_order_acquire)};
}

} // namespace

ContextFound contextOfStream(void* stream) {
  CUcontext streamContext = nullptr;
  if (functions->cuStreamGetCtx(static_cast<CUstream>(stream), &streamContext) != CUDA_SUCCESS)
    throw Error(TENON_ERR_ARG, "the driver knows no such stream; pass one that cudaStreamCreate() "
                               "made, or NULL for the default stream");
  return describeContext(streamContext);
}

ContextFound contextOfProgram() {
  return describeContext(turn.programContext ? turn.programContext
                                             : libraryContext.load(std::memory_order_acquire));
}

bool isInOtherContext(const void* address) {
  CUcontext context = nullptr;
  CUpointer_attribute requested = CU_POINTER_ATTRIBUTE_CONTEXT;
  void* to = &context;
  return functions->cuPointerGetAttributes(1, &requested, &to, driversAddress(address)) ==
             CUDA_SUCCESS &&
         context && context != libraryContext.load(std::memory_order_acquire);
}

void openDevice(int number) {
  functions = driver();
  if (!functions)
    throw Error(TENON_ERR_SUPPORT, "there is no device: the driver libcuda.so.1 lacks functions; "
                                   "update it, or use the space host");
  functions->cuCtxGetCurrent(&turn.programContext);
  cudaError_t status = cudaSetDevice(number);
  if (status == cudaSuccess)
    status = cudaFree(nullptr); // creates the context, as cudaSetDevice() does since CUDA 12
  CUcontext context = nullptr;
  functions->cuCtxGetCurrent(&context);
  if (status != cudaSuccess)
    functions->cuCtxSetCurrent(turn.programContext);
  // check() throws, so the program's context is made current again before.
  check(status, "cudaSetDevice");
  turn.isLibraryCurrent = true;
  // Last, since from now on a CurrentDeviceScope of any thread switches to it.
  libraryContext.store(context, std::memory_order_release);
}

void takeTurn() {
  if (!turn.isLibraryCurrent)
    setCurrent(libraryContext.load(std::memory_order_acquire));
}

} // namespace cuda

} // namespace tenon
