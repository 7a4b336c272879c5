// SPDX-License-Identifier: BSD-2-Clause
// The transports, by which parts of a tensor go from rank to rank, and what `auto` stands for.
// Below them, whether MPI sends from and receives into device memory.
#pragma once

#include "comm/communicator.hpp"

#include <string>
#include <string_view>

namespace tenon {

enum class Transport {
  Auto,     // shared where the node has an arena, else messages
  Messages, // point to point, persistent once bound
  Shared,   // through the memory of the node, or of its devices; messages to other nodes
};

// The choices of the option.
inline constexpr const char* kTransportChoices = "auto|messages|shared";
Transport parseTransport(std::string_view name);
const char* transportName(Transport transport) noexcept;

// What a transport that was requested stands for here, as `auto` does. Throws TENON_ERR_SUPPORT
// with the reason if `shared` is requested on a node that has no arena, unless the rank is alone.
Transport resolveTransport(Transport requested, const Communicator& comm);
// The transport of arrays on the device: auto is shared where the node has a DeviceArena.
// Collective.
Transport resolveDeviceTransport(Transport requested, Communicator& comm);

// Whether the MPI library sends from and receives into the memory of CUDA devices, as the program
// tells it.
enum class GpuAware { Auto, On, Off };

// The choices of the option.
inline constexpr const char* kGpuAwareChoices = "auto|on|off";
GpuAware parseGpuAware(std::string_view name);

// Whether it does so on all ranks, since both ends of a message cut it into the same pieces. Auto
// stands for what the library says on each rank, if it knows, and if its UCX is not too old.
// Collective the first time on a communicator. Throws TENON_ERR_SUPPORT where the program says so
// and UCX is too old.
bool isGpuAware(GpuAware said, const CommPtr& comm);
// Why a version of UCX fails with messages of device memory, with this value of its environment
// variable UCX_MEMTYPE_CACHE ("" if it is not set); "" if it does not.
std::string whyUcxFails(unsigned major, unsigned minor, const std::string& cache);

} // namespace tenon
