// SPDX-License-Identifier: BSD-2-Clause
// The transports between ranks, the choice of `auto`, and whether MPI sends from and receives into
// device memory.
#pragma once

#include "comm/communicator.hpp"

#include <string>
#include <string_view>

namespace tenon {

enum class Transport {
  Auto,     // Shared on a node with an arena, otherwise messages.
  Messages, // Point to point; persistent requests once bound.
  Shared,   // Shared memory of the node, or of its devices; messages to other nodes.
  // Shared memory of the node; small parts for another node in one message of the node. Auto for
  // device arrays.
  NodeAware,
};

// The choices of the option.
inline constexpr const char* kTransportChoices = "auto|messages|shared|node_aware";
Transport parseTransport(std::string_view name);
const char* transportName(Transport transport) noexcept;

// The transport of host arrays: the requested one, or the choice of `auto`. Throws
// TENON_ERR_SUPPORT with the reason if `shared` is requested on a node without an arena, unless the
// communicator has one rank. `node_aware` requires shared memory on all nodes, see nodesOf().
Transport resolveTransport(Transport requested, const Communicator& comm);
// The transport of device arrays: `auto` is shared on a node with a DeviceArena. Collective.
Transport resolveDeviceTransport(Transport requested, Communicator& comm);

// Option: whether the MPI library sends from and receives into CUDA device memory.
enum class GpuAware { Auto, On, Off };

// The choices of the option.
inline constexpr const char* kGpuAwareChoices = "auto|on|off";
GpuAware parseGpuAware(std::string_view name);

// True if MPI reads and writes device memory on all ranks; they must agree, since both ends of a
// message divide it into the same pieces. With Auto each rank asks its MPI library, if it can tell,
// and checks that its UCX is not too old. Collective the first time on a communicator. Throws
// TENON_ERR_SUPPORT for On with a UCX that is too old.
bool isGpuAware(GpuAware requested, const CommPtr& comm);
// Why this version of UCX fails with messages of device memory, or "". `cache` is the value of the
// environment variable UCX_MEMTYPE_CACHE, "" if it is not set.
std::string whyUcxFails(unsigned major, unsigned minor, const std::string& cache);

} // namespace tenon
