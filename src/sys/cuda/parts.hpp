// SPDX-License-Identifier: BSD-2-Clause
// Internals of the device: its sources of memory, and the current device of a thread.
#pragma once

#include "sys/device.hpp"

namespace tenon::cuda {

// Memory of the pool of this process, which caches freed memory; memory outside the pool; and
// page-locked host memory.
std::shared_ptr<MemorySource> poolMemory(int device, const Stream& stream);
std::shared_ptr<MemorySource> unpooledMemory(int device, const Stream& stream);
std::shared_ptr<MemorySource> pinnedMemory();

// The library makes its device current by the driver's context: the runtime's cudaSetDevice() would
// create a context on the program's device if the program has none yet.

// The device that the program has made current for this thread, or -1 if it has made none current.
int programsDevice();

// Context of a stream or of memory: its device, and whether it is the library's context.
struct ContextFound {
  int device;
  bool isLibraryContext;
};
// The stream must exist: for an invalid handle the driver can crash.
ContextFound contextOfStream(void* stream);
// The context that the program has made current, to which its default streams belong. If it has
// made none current, it uses the library's.
ContextFound contextOfProgram();
// True for memory of another context than the library's. False for memory that belongs to no
// context, such as that of a pool.
bool isInOtherContext(const void* address);

// Opens the device for the process and makes it current for this thread.
void openDevice(int number);
// Makes the open device current for a thread that has not used it yet.
void takeTurn();

} // namespace tenon::cuda
