// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "comm/communicator.hpp"

#include <string_view>

namespace tenon {

// Whether the MPI library sends from and receives into the memory of CUDA devices, as the program says it.
enum class GpuAware { Auto, On, Off };

// "auto", "on", "off": the choices of the option.
inline constexpr const char* kGpuAwareChoices = "auto|on|off";
GpuAware parseGpuAware(std::string_view name);

// Whether it does on all ranks: both ends of a message cut it into the same pieces. Auto stands for what the library says
// on each rank, if it knows. Collective the first time on a communicator.
bool isGpuAware(GpuAware said, const CommPtr& comm);

} // namespace tenon
