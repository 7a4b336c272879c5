// SPDX-License-Identifier: BSD-2-Clause
// The devices of the stand-in: TENON_STANDIN_DEVICES of them, by default one. Each has the primary
// context, which the runtime makes current, and a second one as programs of the driver's interface
// make it. One of them is current for a thread or none, whoever made it so, the runtime or the
// driver.
#pragma once

#include <cuda.h>

#include <string>

// The second context of a device, for cuCtxSetCurrent().
extern "C" __attribute__((visibility("default"))) CUcontext tenonStandinSecondContext(int device);

namespace tenon::standin {

int deviceCount();
// H200, A100, or a file with the words in which cuDNN describes a device.
std::string modelOfDevice();
// Of the calling thread; that of the first device if it has none, which makes it current.
CUcontext currentContext();
int currentDevice();
// By its primary context.
void setCurrentDevice(int device);
CUcontext primaryContext(int device);

} // namespace tenon::standin
