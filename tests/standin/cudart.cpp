// SPDX-License-Identifier: BSD-2-Clause
// The fake CUDA runtime (libcudart) of the stand-in, by which tests of device code run on machines
// without a GPU. The shared library of the stand-in is linked in place of the runtime, and this
// file defines the runtime's functions that Tenon calls, including those that code compiled by nvcc
// calls before main() and at a launch. Device memory is in memory.hpp, streams in streams.hpp, and
// the execution of kernels in kernels.hpp.
//
// The runtime promises little about an asynchronous copy with the host, and the stand-in exposes
// programs that assume more: the target of a copy to the host is NaN until the copy is done, and a
// source on the host that is changed before the copy is done ends the program.
//
// Environment variables:
//   TENON_STANDIN_BYTES=N        bytes of device memory
//   TENON_STANDIN_FAIL=F:N       call N of the function F fails (failures.hpp)
//   TENON_STANDIN_DEVICES=N      number of devices, 1 by default
//   TENON_STANDIN_SHOWS_OTHER=1  memory of another process that is opened (CUDA IPC) is not the
//                                memory that the process has exported
//   TENON_STANDIN_DRIVER=N       version of the driver, by default that of the runtime
//   TENON_STANDIN_MODEL=A100     an A100 in place of an H200; or the path of a file with cuDNN's
//                                description of a device
//   TENON_STANDIN_POOLS=0        a device without memory pools, as parts of a virtual GPU are
//   TENON_STANDIN_HMM=1          the device reaches all memory of the host (heterogeneous memory
//                                management, HMM)
//   TENON_STANDIN_ADDRESSES=1    ends the program if a kernel's parameter contains an address of
//                                the host, other than of registered memory. Padding in the
//                                parameter can contain such an address by chance, so this is a
//                                hint, and only the stand-in's own tests use it.
#include "standin/calls.hpp"
#include "standin/devices.hpp"
#include "standin/failures.hpp"
#include "standin/kernels.hpp"
#include "standin/memory.hpp"
#include "standin/streams.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

struct CUmemPoolHandle_st {
  CUcontext context;         // primary context of the device
  std::size_t threshold = 0; // bytes that the pool retains when the host waits for the device
};
struct CUgraph_st {
  std::shared_ptr<tenon::standin::Graph> recorded;
};
struct CUgraphExec_st {
  std::shared_ptr<tenon::standin::Graph> recorded;
};

namespace tenon::standin {

namespace {

// The state of the process; used while the lock of the stand-in is held (Call).
struct State {
  std::map<const char*, std::size_t> hostMemory; // bytes of pinned and registered host memory
  // Addresses and bytes of host memory that queued copies have to read.
  std::multimap<const char*, std::size_t> sources;
  std::set<const void*> loaded; // kernels that were launched before
  cudaMemPool_t pool = nullptr;
  cudaError_t lastError = cudaSuccess; // for cudaGetLastError()
  cudaError_t failure = cudaSuccess;   // after a fault of a kernel, all later calls return this
};

State& state() {
  static auto* all = new State;
  return *all;
}

cudaError_t fail(cudaError_t status) {
  return state().lastError = status;
}

bool isMapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address / page * page), page, &resident) == 0;
}

std::string hexadecimal(std::uintptr_t number) {
  char text[2 + 2 * sizeof number + 1];
  std::snprintf(text, sizeof text, "0x%zx", std::size_t(number));
  return text;
}

// With TENON_STANDIN_ADDRESSES: ends the program if a word of a kernel's parameter is an address of
// the host that a device could not access.
void checkParameter(const char* bytes, std::size_t count) {
  static const bool isWanted = std::getenv("TENON_STANDIN_ADDRESSES") != nullptr;
  if (!isWanted)
    return;
  // The range of addresses of a process on Linux; smaller words are probably integers.
  constexpr std::uintptr_t kMin = std::uintptr_t(1) << 32, kMax = std::uintptr_t(1) << 47;
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= count; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    const auto* p = reinterpret_cast<const void*>(word);
    if (word >= kMin && word < kMax && !DeviceMemory::get().contains(p) && !isRegistered(p) &&
        isMapped(word))
      refuse("a kernel is given an address of the host, " + hexadecimal(word) + ", at byte " +
             std::to_string(at) + " of its parameter");
  }
}

// FNV-1a hash.
std::uint64_t hashOf(const void* p, std::size_t bytes) {
  std::uint64_t h = 14695981039346656037ULL;
  for (std::size_t i = 0; i < bytes; ++i)
    h = (h ^ static_cast<const unsigned char*>(p)[i]) * 1099511628211ULL;
  return h;
}

bool isToBeRead(const void* p, std::size_t bytes) {
  const auto* begin = static_cast<const char*>(p);
  for (const auto& [source, length] : state().sources)
    if (source < begin + bytes && begin < source + length)
      return true;
  return false;
}

// Queues a copy. A target on the host is filled with NaN until then, unless an earlier copy has to
// read it, and a source on the host is compared, by its hash, with its content at the time of the
// call.
void copyLater(CUstream_st& s, void* to, const void* from, std::size_t bytes) {
  const DeviceMemory& memory = DeviceMemory::get();
  const bool toDevice = memory.contains(to), fromDevice = memory.contains(from);
  ++calls().copies;
  if (!(toDevice || isRegistered(to)) || !(fromDevice || isRegistered(from)))
    calls().pageableBytes += bytes;
  if (s.recording && !(toDevice && fromDevice))
    // A graph would repeat the copy at each launch, which Tenon never intends.
    refuse("a copy to or from the host is recorded");
  if (toDevice)
    memory.checkRange(to, bytes, "a copy");
  else if (!isToBeRead(to, bytes))
    std::memset(to, 0xff, bytes);
  if (fromDevice)
    memory.checkRange(from, bytes, "a copy");
  const std::uint64_t before = fromDevice ? 0 : hashOf(from, bytes);
  const auto* const source = static_cast<const char*>(from);
  if (!fromDevice)
    state().sources.emplace(source, bytes);
  enqueue(s, [=] {
    if (!fromDevice && hashOf(from, bytes) != before)
      refuse("the host's source of a copy was changed before the copy was done");
    if (const auto read = state().sources.find(source);
        !fromDevice && read != state().sources.end())
      state().sources.erase(read);
    std::memmove(to, from, bytes);
  });
}

int driverVersion() {
  const char* text = std::getenv("TENON_STANDIN_DRIVER");
  return text ? std::atoi(text) : CUDART_VERSION;
}

bool isSet(const char* name, const char* value) {
  const char* text = std::getenv(name);
  return text && std::strcmp(text, value) == 0;
}

bool hasPools() {
  return !isSet("TENON_STANDIN_POOLS", "0");
}

// Called when the host has waited for the device: trims the pool, as CUDA does, and returns the
// failure of a kernel.
cudaError_t waited() {
  if (const cudaMemPool_t pool = state().pool)
    DeviceMemory::get().trimPool(pool->threshold);
  return state().failure == cudaSuccess ? cudaSuccess : fail(state().failure);
}

} // namespace

bool isRegistered(const void* p) {
  const auto& known = state().hostMemory;
  const auto* address = static_cast<const char*>(p);
  const auto after = known.upper_bound(address);
  if (after == known.begin())
    return false;
  const auto& [begin, bytes] = *std::prev(after);
  return address < begin + bytes;
}

} // namespace tenon::standin

using namespace tenon::standin;

// The first statement of a function that can fail: takes the lock, and returns an error if a kernel
// has faulted before, or `code` if a test requested that this call fails.
#define TENON_CALL(code)                                                                           \
  const Call call;                                                                                 \
  if (state().failure != cudaSuccess)                                                              \
    return fail(state().failure);                                                                  \
  if (isToFail(__func__))                                                                          \
  return fail(code)

extern "C" {

// Tenon's launches call this first, to pass the twin of a kernel (src/kernels/cuda/launch.cuh).
__attribute__((visibility("default"))) void tenonHostTwin(const void* entry, std::size_t bytes,
                                                          TenonTwin run) {
  const Call call;
  giveTwin(entry, bytes, run);
}

// Functions that code compiled by nvcc calls before main() and around a launch. The entry, the
// address of a kernel's host stub, identifies the kernel.
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* entry, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  nameKernel(entry, name);
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) {
  return 1;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* entry) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(entry));
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*) {
  refuse("a kernel is launched by <<<>>>");
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) {
  refuse("a kernel is launched by <<<>>>");
}

// The first launch of a kernel needs memory of the driver for its code. The grid has one dimension,
// as all launches of Tenon.
cudaError_t cudaLaunchKernel(const void* entry, dim3 grid, dim3 block, void** arguments,
                             std::size_t, cudaStream_t stream) {
  TENON_CALL(cudaErrorLaunchOutOfResources);
  if (state().loaded.count(entry) == 0 && !hasRoomForLibraries())
    return fail(cudaErrorMemoryAllocation);
  state().loaded.insert(entry);
  CUstream_st* const s = streamHere(stream, "cudaLaunchKernel");
  if (!s)
    return fail(cudaErrorInvalidResourceHandle);
  const std::size_t count = parameterBytes(entry);
  constexpr unsigned kMaxThreads = 1024, kMaxBlocks = 0x7fffffff;
  if (grid.x < 1 || grid.x > kMaxBlocks || grid.y != 1 || grid.z != 1 || block.x < 1 ||
      block.x > kMaxThreads)
    return fail(cudaErrorInvalidConfiguration);
  const auto* bytes = static_cast<const char*>(arguments[0]);
  checkParameter(bytes, count);
  ++calls().kernels;
  enqueue(*s, [entry, parameter = std::vector<char>(bytes, bytes + count), grid, block] {
    const std::vector<unsigned> order = blockOrder(grid.x);
    runKernel(entry, {parameter.data(), grid.x, block.x, order.empty() ? nullptr : order.data()});
    if (isToFail("kernel"))
      state().failure = cudaErrorIllegalAddress;
  });
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

// The device.
cudaError_t cudaGetDeviceCount(int* count) {
  *count = deviceCount();
  if (driverVersion() / 1000 < CUDART_VERSION / 1000)
    return fail(cudaErrorInsufficientDriver);
  return *count > 0 ? cudaSuccess : fail(cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int device) {
  TENON_CALL(cudaErrorDevicesUnavailable);
  if (device < 0 || device >= deviceCount())
    return fail(cudaErrorInvalidDevice);
  setCurrentDevice(device);
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = currentDevice();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  constexpr int kMultiprocessors = 3;
  *value = which == cudaDevAttrComputeCapabilityMajor ? (modelOfDevice() == "A100" ? 8 : 9)
           : which == cudaDevAttrMultiProcessorCount  ? kMultiprocessors
           : which == cudaDevAttrMemoryPoolsSupported ? (hasPools() ? 1 : 0)
                                                      : 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  properties->pciBusID = device;
  std::strcpy(properties->name, "stand-in");
  properties->major = modelOfDevice() == "A100" ? 8 : 9;
  properties->totalGlobalMem = std::size_t(80) << 30;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  TENON_CALL(cudaErrorUnknown);
  ++calls().waits;
  refuseWhileRecording(__func__);
  drainAll();
  return waited();
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = driverVersion();
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return std::exchange(state().lastError, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
  case cudaSuccess:
    return "no error";
  case cudaErrorMemoryAllocation:
    return "out of memory";
  case cudaErrorNoDevice:
    return "no CUDA-capable device is detected";
  case cudaErrorInsufficientDriver:
    return "CUDA driver version is insufficient for CUDA runtime version";
  case cudaErrorDevicesUnavailable:
    return "CUDA-capable device(s) is/are busy or unavailable";
  case cudaErrorInvalidResourceHandle:
    return "invalid resource handle";
  case cudaErrorIllegalAddress:
    return "an illegal memory access was encountered";
  default:
    return "error of the stand-in";
  }
}

// Memory.
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* wanted) {
  TENON_CALL(cudaErrorNotSupported);
  if (!hasPools())
    return fail(cudaErrorNotSupported);
  *pool = state().pool = new CUmemPoolHandle_st{primaryContext(wanted->location.id)};
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t bytes) {
  TENON_CALL(cudaErrorInvalidValue);
  DeviceMemory::get().trimPool(bytes);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  TENON_CALL(cudaErrorInvalidValue);
  if (which != cudaMemPoolAttrReleaseThreshold)
    return fail(cudaErrorNotSupported);
  pool->threshold = *static_cast<std::uint64_t*>(value);
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** p, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  TENON_CALL(cudaErrorMemoryAllocation);
  CUstream_st& s = streamOf(stream, "cudaMallocFromPoolAsync");
  *p = DeviceMemory::get().allocate(bytes, DeviceMemory::Kind::Private, pool->context);
  if (*p && s.recording) { // memory of the graph, which is NaN at the begin of each launch
    s.recording->taken.push_back(*p);
    s.recording->inUse.insert(*p);
    enqueue(s, [memory = *p, bytes] { std::memset(memory, 0xff, bytes); });
  }
  return *p ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  const Call call;
  if (!streamHere(stream, "cudaFreeAsync"))
    return fail(cudaErrorInvalidResourceHandle);
  CUstream_st& s = streamOf(stream, "cudaFreeAsync");
  if (s.recording) {
    if (s.recording->inUse.erase(p) == 0)
      refuse("memory is freed while a stream records, but was not taken meanwhile");
    return cudaSuccess;
  }
  enqueue(s, [p] {
    if (!DeviceMemory::get().deallocate(p))
      refuse("memory is freed twice, or was never allocated");
  });
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  TENON_CALL(cudaErrorMemoryAllocation);
  refuseWhileRecording(__func__);
  *p = DeviceMemory::get().allocate(bytes, DeviceMemory::Kind::Showable, currentContext());
  return *p ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* p) { // waits for the device, like the runtime
  const Call call;
  refuseWhileRecording(__func__);
  drainAll();
  return !p || DeviceMemory::get().deallocate(p) ? cudaSuccess : fail(cudaErrorInvalidValue);
}
static_assert(sizeof(DeviceMemory::Place) <= sizeof(cudaIpcMemHandle_t));
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* p) {
  TENON_CALL(cudaErrorNotSupported);
  const auto place = DeviceMemory::get().show(p);
  if (!place)
    return fail(cudaErrorInvalidValue);
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &*place, sizeof *place);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** p, cudaIpcMemHandle_t handle, unsigned) {
  TENON_CALL(cudaErrorMapBufferObjectFailed);
  DeviceMemory::Place place{};
  std::memcpy(&place, &handle, sizeof place);
  if (place.process == getpid()) // CUDA cannot open a handle in the process that exported it
    return fail(cudaErrorDeviceUninitialized);
  *p = DeviceMemory::get().openShown(place, currentContext());
  return *p ? cudaSuccess : fail(cudaErrorMapBufferObjectFailed);
}
cudaError_t cudaIpcCloseMemHandle(void* p) {
  TENON_CALL(cudaErrorInvalidValue);
  if (DeviceMemory::get().contextOf(p) != currentContext())
    return fail(cudaErrorInvalidValue);
  return DeviceMemory::get().closeShown(p) ? cudaSuccess : fail(cudaErrorInvalidValue);
}
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  TENON_CALL(cudaErrorMemoryAllocation);
  refuseWhileRecording(__func__);
  constexpr std::size_t kPage = 4096;
  *p = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!*p)
    return fail(cudaErrorMemoryAllocation);
  state().hostMemory[static_cast<char*>(*p)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) { // waits for the device, like the runtime
  const Call call;
  refuseWhileRecording(__func__);
  drainAll();
  state().hostMemory.erase(static_cast<char*>(p));
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned) {
  TENON_CALL(cudaErrorNotSupported);
  refuseWhileRecording(__func__);
  if (isRegistered(p))
    return fail(cudaErrorHostMemoryAlreadyRegistered);
  state().hostMemory[static_cast<char*>(p)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* p) {
  TENON_CALL(cudaErrorInvalidValue);
  refuseWhileRecording(__func__);
  drainAll();
  return state().hostMemory.erase(static_cast<char*>(p)) > 0
             ? cudaSuccess
             : fail(cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* p) {
  const Call call;
  *found = {};
  found->type = DeviceMemory::get().contains(p) ? cudaMemoryTypeDevice
                : isRegistered(p)               ? cudaMemoryTypeHost
                                                : cudaMemoryTypeUnregistered;
  if (found->type != cudaMemoryTypeUnregistered || isSet("TENON_STANDIN_HMM", "1"))
    found->devicePointer = const_cast<void*>(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  TENON_CALL(cudaErrorInvalidValue);
  copyLater(streamOf(stream, "cudaMemcpyAsync"), to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  TENON_CALL(cudaErrorInvalidValue);
  DeviceMemory::get().checkRange(to, bytes, "cudaMemsetAsync");
  ++calls().copies;
  enqueue(streamOf(stream, "cudaMemsetAsync"), [=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}

// Streams and events.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  TENON_CALL(cudaErrorInvalidValue);
  *s = makeStream(flags);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  const Call call;
  endStream(&streamOf(s, "cudaStreamDestroy"));
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  TENON_CALL(cudaErrorUnknown);
  ++calls().waits;
  refuseWhileRecording(__func__);
  CUstream_st& stream = streamOf(s, "cudaStreamSynchronize");
  awaitOrdered(stream);
  drain(stream);
  return waited();
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  TENON_CALL(cudaErrorMemoryAllocation);
  *e = new CUevent_st;
  (*e)->context = currentContext();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream) {
  TENON_CALL(cudaErrorInvalidValue);
  CUstream_st& s = streamOf(stream, "cudaEventRecord");
  refuseWhileRecording(__func__);
  if (e->context != s.context)
    return fail(cudaErrorInvalidResourceHandle);
  ++calls().events;
  auto recording = std::make_shared<Recording>(Recording{&s});
  e->last = recording;
  enqueue(s, [recording, &s] {
    recording->isDone = true;
    recording->seconds = s.seconds;
  });
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  TENON_CALL(cudaErrorUnknown);
  if (!begin->last || !end->last)
    return fail(cudaErrorInvalidResourceHandle);
  if (!begin->last->isDone || !end->last->isDone)
    return fail(cudaErrorNotReady);
  *milliseconds = static_cast<float>(1e3 * (end->last->seconds - begin->last->seconds));
  return cudaSuccess;
}
// Queues an entry without work that waits for the latest recording of the event.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned) {
  const Call call;
  enqueue(streamOf(stream, "cudaStreamWaitEvent"), nullptr, e->last);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  TENON_CALL(cudaErrorUnknown);
  ++calls().waits;
  refuseWhileRecording(__func__);
  if (e->last && !e->last->isDone)
    drain(*e->last->stream, e->last.get());
  return waited();
}
// After 20 calls for one recording, the program probably polls until the event is done: the work
// runs.
cudaError_t cudaEventQuery(cudaEvent_t e) {
  TENON_CALL(cudaErrorUnknown);
  refuseWhileRecording(__func__);
  constexpr int kPolls = 20;
  if (!e->last || e->last->isDone)
    return cudaSuccess;
  if (++e->last->requested > kPolls)
    drain(*e->last->stream, e->last.get());
  return e->last->isDone ? cudaSuccess : fail(cudaErrorNotReady);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Call call;
  *status = streamOf(stream, "cudaStreamIsCapturing").recording ? cudaStreamCaptureStatusActive
                                                                : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

// Graphs, each of the work of one stream.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  TENON_CALL(cudaErrorStreamCaptureUnsupported);
  refuseWhileRecording(__func__);
  streamOf(stream, "cudaStreamBeginCapture").recording = std::make_shared<Graph>();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Call call;
  auto recorded = std::exchange(streamOf(stream, "cudaStreamEndCapture").recording, nullptr);
  *graph = nullptr;
  if (isToFail(__func__))
    return fail(cudaErrorStreamCaptureInvalidated);
  if (!recorded->inUse.empty())
    refuse("memory that was taken while a stream recorded was not given back");
  *graph = new CUgraph_st{std::move(recorded)};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  TENON_CALL(cudaErrorMemoryAllocation);
  if (!hasRoomForLibraries())
    return fail(cudaErrorMemoryAllocation);
  *made = new CUgraphExec_st{graph->recorded};
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const Call call;
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  TENON_CALL(cudaErrorUnknown);
  CUstream_st& s = streamOf(stream, "cudaGraphLaunch");
  ++calls().graphs;
  for (const auto& run : graph->recorded->work)
    enqueue(s, [run, kept = graph->recorded] { run(); });
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  const Call call;
  delete graph;
  return cudaSuccess;
}

} // extern "C"
