// SPDX-License-Identifier: BSD-2-Clause
// Which device is current for a thread, by the driver's context: the runtime's cudaSetDevice() would make one on the
// program's device where the program has none yet.
#pragma once

namespace tenon::cuda {

// Of the device that the program has made current for this thread; -1 if it has made none.
int programsDevice();
int deviceOfStream(void* stream);
// Opens the device for the process, and makes it current for this thread.
void openDevice(int number);
// Makes the open device current for a thread that has not been told yet.
void takeTurn();

} // namespace tenon::cuda
