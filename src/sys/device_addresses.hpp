// SPDX-License-Identifier: BSD-2-Clause
// The addresses of CUDA devices on the PCI bus, by which the processes of a node find out whether
// they use the same device: the number of a device depends on CUDA_VISIBLE_DEVICES and so differs
// between processes, its address does not.
#pragma once

#include "sys/types.hpp"

#include <vector>

namespace tenon {

// The addresses of the devices that this process sees, in the order of their numbers: domain, bus
// and device in one integer. Empty if there is none. Does not open a device.
std::vector<Index> deviceAddresses();

} // namespace tenon
