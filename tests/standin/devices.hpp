// SPDX-License-Identifier: BSD-2-Clause
// The devices of the stand-in: TENON_STANDIN_DEVICES of them, by default one. Each has one context, which is current for
// a thread or not, whoever made it so, the runtime or the driver.
#pragma once

namespace tenon::standin {

int deviceCount();
// Of the calling thread; the first if it has none, which makes it current.
int currentDevice();
void setCurrentDevice(int device);

} // namespace tenon::standin
