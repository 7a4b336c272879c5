// SPDX-License-Identifier: BSD-2-Clause
// Groups of devices by NCCL. All processes of a group must end it together: after the kernels of
// one process have finished, its last messages can still be in flight, and processes on the same
// node can read its memory. Destructors do not wait for other processes; therefore a group is ended
// by a collective call, or aborted after a failure (ncclCommAbort()). Class DeviceGroup is in
// sys/device_group.hpp.
#include "sys/device_group.hpp"

#include "sys/cuda/nccl.hpp"
#include "sys/cuda/retry.hpp"
#include "sys/cuda/shared_library.hpp"
#include "sys/data_type.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace tenon {

namespace {

#define TENON_NCCL_TABLE(X)                                                                        \
  X(ncclGetVersion)                                                                                \
  X(ncclGetErrorString)                                                                            \
  X(ncclGetLastError)                                                                              \
  X(ncclGetUniqueId)                                                                               \
  X(ncclCommInitRank)                                                                              \
  X(ncclCommFinalize)                                                                              \
  X(ncclCommDestroy)                                                                               \
  X(ncclCommAbort)                                                                                 \
  X(ncclCommGetAsyncError)                                                                         \
  X(ncclGroupStart)                                                                                \
  X(ncclGroupEnd)                                                                                  \
  X(ncclAllReduce)                                                                                 \
  X(ncclReduce)                                                                                    \
  X(ncclBroadcast)                                                                                 \
  X(ncclReduceScatter)                                                                             \
  X(ncclAllGather)

#define TENON_MEMBER(name) decltype(&::name) name;
struct NcclTable {
  TENON_NCCL_TABLE(TENON_MEMBER)
};
#undef TENON_MEMBER

const NcclTable& nccl() {
#define TENON_NAME(name) #name,
#define TENON_FIND(name) library.find<decltype(&::name)>(#name),
  static const NcclTable table = [] {
    constexpr const char* names[] = {TENON_NCCL_TABLE(TENON_NAME)};
    const cuda::Library library(kNccl, kNcclLibrary, names);
    return NcclTable{TENON_NCCL_TABLE(TENON_FIND)};
  }();
#undef TENON_FIND
#undef TENON_NAME
  return table;
}

static_assert(sizeof(DeviceGroup::Name) == sizeof(ncclUniqueId));

ncclComm_t commOf(void* handle) {
  return static_cast<ncclComm_t>(handle);
}

ncclDataType_t ncclTypeOf(TenonDataType type) {
  switch (type) {
  case TENON_FLOAT32:
    return ncclFloat32;
  case TENON_FLOAT64:
    return ncclFloat64;
  case TENON_INT32:
    return ncclInt32;
  default:
    return ncclInt64;
  }
}

// NCCL's last error names the ranks, or the address that did not respond.
void checkNccl(ncclResult_t status, const char* what, ncclComm_t comm) {
  if (status != ncclSuccess)
    throw Error(TENON_ERR_LIBRARY,
                fmt::format("{} failed in {}: {} (result {}): {}{}; the environment variable "
                            "NCCL_DEBUG=WARN shows more, and -tenon_reduction auto does without "
                            "NCCL",
                            kNccl, what, nccl().ncclGetErrorString(status), int(status),
                            nccl().ncclGetLastError(comm),
                            status == ncclInvalidUsage
                                ? "; each rank needs a device of its own (-tenon_device)"
                                : ""));
}

bool areEqual(std::span<const Index> cuts) {
  const Index first = cuts[1] - cuts[0];
  for (std::size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] - cuts[i - 1] != first)
      return false;
  return true;
}

} // namespace

std::string DeviceGroup::library() {
  int version = 0;
  checkNccl(nccl().ncclGetVersion(&version), "ncclGetVersion", nullptr);
  return fmt::format("{} {}.{}.{}", kNccl, version / 10000, version / 100 % 100, version % 100);
}

DeviceGroup::Name DeviceGroup::makeName() {
  ncclUniqueId id{};
  checkNccl(nccl().ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  return std::bit_cast<Name>(id);
}

DeviceGroup::DeviceGroup(const Name& name, int members, int member) {
  cuda::returnSpare(); // NCCL allocates hundreds of megabytes from the driver
  ncclComm_t comm = nullptr;
  checkNccl(nccl().ncclCommInitRank(&comm, members, std::bit_cast<ncclUniqueId>(name), member),
            "ncclCommInitRank", nullptr);
  handle_ = comm;
}

DeviceGroup::~DeviceGroup() {
  if (!isConfirmed_)
    giveUp();
}

std::optional<Error> DeviceGroup::failure() noexcept {
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
  try {
    last_.synchronise();
    if (handle_ && !failure_)
      checkNoFailure();
  } catch (...) {
    failure_ = caughtError();
  }
  return failure_;
}

void DeviceGroup::end() {
  if (!handle_)
    return;
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
  checkNccl(nccl().ncclCommFinalize(commOf(handle_)), "ncclCommFinalize", commOf(handle_));
  checkNccl(nccl().ncclCommDestroy(commOf(std::exchange(handle_, nullptr))), "ncclCommDestroy",
            nullptr);
}

void DeviceGroup::giveUp() noexcept {
  if (!handle_)
    return;
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
  nccl().ncclCommAbort(commOf(std::exchange(handle_, nullptr)));
}

// Checks for failures of earlier calls, including those of other processes.
void DeviceGroup::checkNoFailure() const {
  ncclResult_t earlier = ncclSuccess;
  checkNccl(nccl().ncclCommGetAsyncError(commOf(handle_), &earlier), "ncclCommGetAsyncError",
            commOf(handle_));
  checkNccl(earlier, "a collective that was queued earlier", commOf(handle_));
}

template <class Call>
void DeviceGroup::queue(const char* what, const Stream& stream, Call call) {
  if (!handle_)
    throw Error(TENON_ERR_STATE, fmt::format("{} is called after its group has ended", what));
  try {
    checkNoFailure();
    checkNccl(call(commOf(handle_), static_cast<cudaStream_t>(stream.handle())), what,
              commOf(handle_));
  } catch (const Error& error) {
    failure_ = error;
    throw;
  }
  stream.record(last_);
}

void DeviceGroup::allReduce(const void* from, void* to, Index n, TenonDataType type,
                            const Stream& stream) {
  queue("ncclAllReduce", stream, [&](ncclComm_t comm, cudaStream_t on) {
    return nccl().ncclAllReduce(from, to, std::size_t(n), ncclTypeOf(type), ncclSum, comm, on);
  });
}

void DeviceGroup::reduce(const void* from, void* to, Index n, TenonDataType type,
                         const Stream& stream) {
  queue("ncclReduce", stream, [&](ncclComm_t comm, cudaStream_t on) {
    return nccl().ncclReduce(from, to, std::size_t(n), ncclTypeOf(type), ncclSum, 0, comm, on);
  });
}

void DeviceGroup::broadcast(const void* from, void* to, Index n, TenonDataType type,
                            const Stream& stream) {
  queue("ncclBroadcast", stream, [&](ncclComm_t comm, cudaStream_t on) {
    return nccl().ncclBroadcast(from, to, std::size_t(n), ncclTypeOf(type), 0, comm, on);
  });
}

namespace {

// NCCL splits an array into equal pieces only. Uneven pieces are separate collectives, grouped into
// one.
template <class Call>
ncclResult_t eachPiece(std::span<const Index> cuts, TenonDataType type, Call call) {
  if (const ncclResult_t status = nccl().ncclGroupStart(); status != ncclSuccess)
    return status;
  ncclResult_t first = ncclSuccess;
  for (std::size_t i = 0; i + 1 < cuts.size() && first == ncclSuccess; ++i)
    if (const auto count = std::size_t(cuts[i + 1] - cuts[i]); count > 0)
      first = call(std::size_t(cuts[i]) * std::size_t(dataTypeSize(type)), count, int(i));
  const ncclResult_t last = nccl().ncclGroupEnd(); // also after a failure
  return first == ncclSuccess ? last : first;
}

} // namespace

// Pieces of equal size are one collective of NCCL; otherwise one reduction per piece.
void DeviceGroup::reduceScatter(const void* from, void* to, std::span<const Index> cuts,
                                TenonDataType type, const Stream& stream) {
  if (areEqual(cuts))
    return queue("ncclReduceScatter", stream, [&](ncclComm_t comm, cudaStream_t on) {
      return nccl().ncclReduceScatter(from, to, std::size_t(cuts[1] - cuts[0]), ncclTypeOf(type),
                                      ncclSum, comm, on);
    });
  queue("ncclReduce", stream, [&](ncclComm_t comm, cudaStream_t on) {
    return eachPiece(cuts, type, [&](std::size_t offset, std::size_t count, int root) {
      return nccl().ncclReduce(static_cast<const std::byte*>(from) + offset, to, count,
                               ncclTypeOf(type), ncclSum, root, comm, on);
    });
  });
}

void DeviceGroup::allGather(const void* from, void* to, std::span<const Index> cuts,
                            TenonDataType type, const Stream& stream) {
  if (areEqual(cuts))
    return queue("ncclAllGather", stream, [&](ncclComm_t comm, cudaStream_t on) {
      return nccl().ncclAllGather(from, to, std::size_t(cuts[1] - cuts[0]), ncclTypeOf(type), comm,
                                  on);
    });
  queue("ncclBroadcast", stream, [&](ncclComm_t comm, cudaStream_t on) {
    return eachPiece(cuts, type, [&](std::size_t offset, std::size_t count, int root) {
      return nccl().ncclBroadcast(from, static_cast<std::byte*>(to) + offset, count,
                                  ncclTypeOf(type), root, comm, on);
    });
  });
}

} // namespace tenon
