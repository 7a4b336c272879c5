// SPDX-License-Identifier: BSD-2-Clause
// Chooses transports. All ranks of a node must choose the same, since they read and write the same
// memory; the choice depends on the arena, of the host or of the devices, which all ranks of a node
// have or none.
#include "comm/transport.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/per_communicator.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/environment.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace tenon {

namespace {

constexpr const char* kNames[] = {"auto", "messages", "shared",
                                  "node_aware"}; // By value of Transport.

} // namespace

Transport parseTransport(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(kNames)); ++i)
    if (name == kNames[i])
      return static_cast<Transport>(i);
  throw Error(TENON_ERR_ARG,
              fmt::format("unknown transport '{}'; use one of {}", name, kTransportChoices));
}

const char* transportName(Transport transport) noexcept {
  return kNames[static_cast<int>(transport)];
}

Transport resolveTransport(Transport requested, const Communicator& comm) {
  if (requested == Transport::Shared && !comm.arena() && comm.size() > 1)
    throw Error(TENON_ERR_SUPPORT, fmt::format("transport \"shared\" is not available, since there "
                                               "is no shared memory: {}; use auto or messages",
                                               comm.whyNoArena()));
  if (requested == Transport::NodeAware)
    return comm.size() > 1 ? requested : Transport::Messages;
  if (requested != Transport::Auto)
    return requested;
  return comm.arena() ? Transport::Shared : Transport::Messages;
}

Transport resolveDeviceTransport(Transport requested, Communicator& comm) {
  if (requested == Transport::Messages || comm.size() == 1)
    return Transport::Messages;
  const DeviceArena::Made& made = comm.openDeviceArena();
  if (made.arena)
    return Transport::Shared;
  if (requested == Transport::Shared)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("transport \"shared\" is not available for arrays on the device, "
                            "since the ranks of the node do not share device memory: {}; set "
                            "-tenon_conversion_transport to auto or messages",
                            made.reason));
  return Transport::Messages;
}

namespace {

// True if this MPI reports that it accesses device memory. Only libraries whose answer is reliable
// are queried, see CMakeLists.txt.
bool mpiReportsGpuAware() {
#ifdef TENON_MPI_KNOWS_GPU_AWARE
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

// Why messages of device memory would fail with the UCX of this process, if MPI has loaded one. UCX
// is not linked: the library that MPI has loaded is looked up, and its version read.
std::string whyLoadedUcxFails() {
  using GetVersion = void (*)(unsigned*, unsigned*, unsigned*);
  void* const library = dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    return "";
  unsigned major = 0, minor = 0, release = 0;
  if (const auto getVersion = reinterpret_cast<GetVersion>(dlsym(library, "ucp_get_version")))
    getVersion(&major, &minor, &release);
  dlclose(library); // Drops the reference of dlopen(); MPI still has its own.
  return whyUcxFails(major, minor, environment("UCX_MEMTYPE_CACHE").value_or(""));
}

// True if the condition is true on all ranks. Throws on all ranks if one has an error. Collective.
bool isTrueOnAll(bool onThisRank, std::optional<Error> failure, Communicator& comm) {
  int onAllRanks = onThisRank ? 1 : 0;
  agree(comm, std::move(failure)); // The call below has no time limit.
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &onAllRanks, 1, MPI_INT, MPI_MIN, comm.mpi()),
           "MPI_Allreduce");
  return onAllRanks != 0;
}

} // namespace

GpuAware parseGpuAware(std::string_view name) {
  if (name == "auto")
    return GpuAware::Auto;
  return name == "on" ? GpuAware::On : GpuAware::Off;
}

std::string whyUcxFails(unsigned major, unsigned minor, const std::string& cache) {
  constexpr unsigned kMinMajor = 1, kMinMinor = 13;
  if (std::pair(major, minor) >= std::pair(kMinMajor, kMinMinor) || cache == "n" || cache == "no" ||
      cache == "0")
    return "";
  return fmt::format(
      "MPI has loaded UCX {}.{}, and versions before {}.{} take device memory of a "
      "program that is linked with the CUDA runtime statically, as Tenon is, for "
      "memory of the host; set the environment variable UCX_MEMTYPE_CACHE to n, take "
      "a later UCX, or set -tenon_gpu_aware to off",
      major, minor, kMinMajor, kMinMinor);
}

bool isGpuAware(GpuAware requested, const CommPtr& comm) {
  static PerCommunicator<std::array<std::optional<bool>, 3>> results; // By value of GpuAware.
  std::optional<bool>& result = results.of(comm)[static_cast<std::size_t>(requested)];
  if (result)
    return *result;
  // According to the option, or to MPI. Its UCX can still be too old.
  const bool isReported =
      requested == GpuAware::On || (requested == GpuAware::Auto && mpiReportsGpuAware());
  const std::string why = isReported ? whyLoadedUcxFails() : "";
  std::optional<Error> failure;
  if (!why.empty() && requested == GpuAware::On)
    failure.emplace(TENON_ERR_SUPPORT, why);
  result = isTrueOnAll(isReported && why.empty(), std::move(failure), *comm);
  return *result;
}

} // namespace tenon
