// SPDX-License-Identifier: BSD-2-Clause
// The ways by which a part of a tensor travels from rank to rank.
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

enum class Transport {
  Auto,     // shared where the node has an arena, else messages
  Messages, // point to point, persistent once bound
  Shared,   // through the memory of the node, or of its devices; messages to other nodes
};

// "auto", "messages", "shared": the choices of the option.
inline constexpr const char* kTransportChoices = "auto|messages|shared";
Transport parseTransport(std::string_view name);
const char* transportName(Transport transport) noexcept;

// What auto stands for here. Throws TENON_ERR_SUPPORT with the reason if shared is asked for on a
// node that has no arena, unless the rank is alone.
Transport resolveTransport(Transport asked, const Communicator& comm);
// What auto stands for with arrays on the device: shared where the node has a DeviceArena. Collective.
Transport resolveDeviceTransport(Transport asked, Communicator& comm);

} // namespace tenon
