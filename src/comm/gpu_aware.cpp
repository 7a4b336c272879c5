// SPDX-License-Identifier: BSD-2-Clause
#include "comm/gpu_aware.hpp"

#include "comm/agreement.hpp"

#include <array>
#include <map>
#include <mutex>
#include <optional>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace tenon {

namespace {

bool mpiSaysSo() {
#ifdef TENON_MPI_KNOWS_GPU_AWARE
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

using Found = std::array<std::optional<bool>, 3>; // by what this rank says

Found& foundOn(const CommPtr& comm) {
  static std::mutex mutex;
  static std::map<std::weak_ptr<Communicator>, Found, std::owner_less<>> all;
  const std::scoped_lock lock(mutex);
  std::erase_if(all, [](const auto& entry) { return entry.first.expired(); });
  return all[comm];
}

bool isSoOnAll(bool mine, Communicator& comm) {
  int all = mine ? 1 : 0;
  agree(comm, std::nullopt); // the call below has no time limit
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm.mpi()), "MPI_Allreduce");
  return all != 0;
}

} // namespace

GpuAware parseGpuAware(std::string_view name) {
  if (name == "auto")
    return GpuAware::Auto;
  return name == "on" ? GpuAware::On : GpuAware::Off;
}

bool isGpuAware(GpuAware said, const CommPtr& comm) {
  std::optional<bool>& found = foundOn(comm)[static_cast<std::size_t>(said)];
  if (!found)
    found = isSoOnAll(said == GpuAware::On || (said == GpuAware::Auto && mpiSaysSo()), *comm);
  return *found;
}

} // namespace tenon
