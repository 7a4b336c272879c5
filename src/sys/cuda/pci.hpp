// SPDX-License-Identifier: BSD-2-Clause
// Detection of a computer without an NVIDIA GPU; works without a driver.
#pragma once

#include <string>

namespace tenon::cuda {

// True if the PCI bus lists devices and none of them is an NVIDIA GPU. Each device is a folder with
// the files vendor (0x10de for NVIDIA) and class (0x03...: a display or 3D controller). False if
// the bus cannot be read.
bool isWithoutGpu(const std::string& devices = "/sys/bus/pci/devices");

} // namespace tenon::cuda
