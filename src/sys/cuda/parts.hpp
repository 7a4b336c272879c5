// SPDX-License-Identifier: BSD-2-Clause
// What the device is made of beside its streams: memory for its buffers, and which device is
// current for a thread.
#pragma once

#include "sys/device.hpp"

namespace tenon::cuda {

// Memory from the one pool of the process, which keeps what is given back.
std::shared_ptr<MemorySource> poolMemory(int device, const Stream& stream);
std::shared_ptr<MemorySource> unpooledMemory(int device, const Stream& stream);
std::shared_ptr<MemorySource> pinnedMemory();

// The device is current by the driver's context: the runtime's cudaSetDevice() would make one on
// the program's device where the program has none yet.

// The device that the program has made current for this thread; -1 if it has made none.
int programsDevice();

// A context that a stream or memory is of: its device, and whether the library works in it.
struct ContextFound {
  int device;
  bool isLibrarys;
};
// The stream must exist: the driver may end the program otherwise.
ContextFound contextOfStream(void* stream);
// Of the context that the program has made current, which its default streams are of. One that has
// made none current has no other than the library's.
ContextFound contextOfProgram();
// False for an address of memory that belongs to no context, too, such as that of a pool.
bool isInOtherContext(const void* address);

// Opens the device for the process, and makes it current for this thread.
void openDevice(int number);
// Makes the open device current for a thread that has not been told yet.
void takeTurn();

} // namespace tenon::cuda
