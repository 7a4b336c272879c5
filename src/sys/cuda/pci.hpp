// SPDX-License-Identifier: BSD-2-Clause
// Whether a computer has an NVIDIA GPU at all, which is known without a driver.
#pragma once

#include <string>

namespace tenon::cuda {

// Whether the kernel lists devices of the PCI bus, and no NVIDIA GPU among them: each device has a
// folder with the files vendor (0x10de) and class (0x03 and more: a display or 3D controller).
// False where the bus cannot be read.
bool isWithoutGpu(const std::string& devices = "/sys/bus/pci/devices");

} // namespace tenon::cuda
