// SPDX-License-Identifier: BSD-2-Clause
// The fake NCCL of the stand-in for CUDA. Ranks are processes of one machine and exchange data by
// files in a folder of /dev/shm, whose name is the unique id of the communicator.
//
// When a process calls a collective, the queued work of the stream runs, and the input is written
// to a file. The collective itself is work of the stream: it waits until all other ranks have made
// the call, like the kernels of NCCL, reads their files and writes the output. Sums are added from
// the last rank to the first, since NCCL promises no order.
//
// Mistakes end the program: ranks that make different calls, a communicator that is destroyed
// before it is finalized, or aborted without a failure. Two ranks on one device are an error, as in
// NCCL.
#include "standin/calls.hpp"
#include "standin/devices.hpp"
#include "standin/failures.hpp"
#include "standin/memory.hpp"
#include "standin/streams.hpp"

// Where NCCL's own header is installed, it is used, which checks that Tenon's declarations agree
// with it.
#if __has_include(<nccl.h>)
#include <nccl.h>
#else
#include "sys/cuda/nccl.hpp"
#endif

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace tenon::standin {

namespace {

using Bytes = std::vector<char>;

// The parameters of a call, which must be equal on all ranks.
struct Collective {
  char name[24] = "";
  std::uint64_t count = 0;
  int type = 0, root = 0;

  bool operator==(const Collective&) const = default;
  std::size_t bytes() const { return count * (type == ncclFloat32 || type == ncclInt32 ? 4 : 8); }
  std::string text() const {
    return std::string(name) + " of " + std::to_string(count) + " elements of type " +
           std::to_string(type) + ", root " + std::to_string(root);
  }
};

// The text of the latest failure, for ncclGetLastError().
std::string& lastError() {
  static std::string text;
  return text;
}

ncclResult_t fail(ncclResult_t result, std::string why) {
  lastError() = std::move(why);
  return result;
}

} // namespace

} // namespace tenon::standin

using namespace tenon::standin;

struct ncclComm {
  std::string folder; // of the files that ranks exchange
  int ranks, rank;
  std::uint64_t calls = 0, collectives = 0; // numbers of calls, all or collectives only
  bool hasFailed = false, isFinal = false;

  ncclComm(std::string path, int count, int number)
      : folder(std::move(path)), ranks(count), rank(number) {}
  ncclComm(const ncclComm&) = delete;
  ncclComm& operator=(const ncclComm&) = delete;
  ~ncclComm() {
    // Only the last rank finds the folder empty and can remove it; the error of others is ignored.
    std::error_code isUsed;
    fs::remove(folder, isUsed);
  }

  fs::path file(std::uint64_t call, int from, int to) const {
    return folder + "/" + std::to_string(call) + "." + std::to_string(from) + "." +
           std::to_string(to);
  }
  // Writes the data of this rank for all ranks, in one file with a hard link for each reader, which
  // removes its link. Returns the number of the call.
  std::uint64_t give(const Collective& what, const Bytes& data) {
    const std::uint64_t call = ++calls;
    const std::string whole = folder + "/" + std::to_string(rank);
    {
      std::ofstream out(whole, std::ios::binary);
      out.write(reinterpret_cast<const char*>(&what), sizeof what);
      out.write(data.data(), std::streamsize(data.size()));
    }
    for (int to = 0; to < ranks; ++to)
      fs::create_hard_link(whole, file(call, rank, to));
    fs::remove(whole);
    return call;
  }
  // Waits for the data of rank `from` in this call. Ends the program if that rank has made another
  // call, or none within a minute.
  Bytes take(std::uint64_t call, const Collective& what, int from) const {
    constexpr std::chrono::seconds kTimeout{60};
    const fs::path path = file(call, from, rank);
    const auto begin = std::chrono::steady_clock::now();
    while (!fs::exists(path)) {
      if (std::chrono::steady_clock::now() - begin > kTimeout)
        refuse("rank " + std::to_string(rank) + " waits for rank " + std::to_string(from) + " in " +
               what.text());
      sched_yield();
    }
    std::ifstream in(path, std::ios::binary);
    Collective other;
    in.read(reinterpret_cast<char*>(&other), sizeof other);
    if (other != what)
      refuse("rank " + std::to_string(rank) + " calls " + what.text() + ", rank " +
             std::to_string(from) + " calls " + other.text());
    Bytes data(std::istreambuf_iterator<char>(in), {});
    fs::remove(path);
    return data;
  }
};

namespace tenon::standin {

namespace {

template <class T>
void addTo(Bytes& sum, const Bytes& contribution) {
  auto* const to = reinterpret_cast<T*>(sum.data());
  const auto* const from = reinterpret_cast<const T*>(contribution.data());
  for (std::size_t i = 0; i < sum.size() / sizeof(T); ++i)
    to[i] += from[i];
}

Bytes sumOf(const std::vector<Bytes>& given, int type) {
  Bytes sum = given.back();
  for (std::size_t i = given.size() - 1; i-- > 0;)
    if (type == ncclFloat32)
      addTo<float>(sum, given[i]);
    else if (type == ncclFloat64)
      addTo<double>(sum, given[i]);
    else if (type == ncclInt32)
      addTo<std::int32_t>(sum, given[i]);
    else
      addTo<std::int64_t>(sum, given[i]);
  return sum;
}

// Runs a collective: this rank gives `givenBytes` bytes at `from`, and gets `takenBytes` bytes at
// `to`. finish() computes the output from the inputs of all ranks, a list by rank.
template <class Finish>
ncclResult_t run(ncclComm_t comm, const Collective& what, const void* from, std::size_t givenBytes,
                 void* to, std::size_t takenBytes, cudaStream_t on, Finish finish) {
  const Call call;
  if (isToFail(what.name)) {
    comm->hasFailed = true;
    return fail(ncclSystemError, std::string("the stand-in was told that ") + what.name + " fails");
  }
  CUstream_st* const stream = streamHere(on, what.name);
  if (!stream)
    return fail(ncclInvalidArgument, "the stream is of another context");
  Bytes given(givenBytes);
  if (givenBytes > 0)
    DeviceMemory::get().checkRange(from, givenBytes, what.name);
  if (takenBytes > 0)
    DeviceMemory::get().checkRange(to, takenBytes, what.name);
  enqueue(*stream, [&] {
    if (givenBytes > 0)
      std::memcpy(given.data(), from, givenBytes);
  });
  drain(*stream);
  const std::uint64_t number = comm->give(what, given);
  ++comm->collectives;
  ++calls().libraries;
  enqueue(*stream, [=] {
    std::vector<Bytes> all;
    for (int rank = 0; rank < comm->ranks; ++rank)
      all.push_back(comm->take(number, what, rank));
    const Bytes result = finish(all);
    if (takenBytes > 0)
      std::memcpy(to, result.data(), takenBytes);
  });
  return ncclSuccess;
}

// Collects the parameters of a call of the function `name`.
Collective collective(const char* name, std::size_t count, ncclDataType_t type, int root = 0) {
  Collective what{.count = count, .type = type, .root = root};
  std::strncpy(what.name, name, sizeof what.name - 1);
  return what;
}

} // namespace

} // namespace tenon::standin

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = 2 * 10000 + 99 * 100; // 2.99, by the formula of NCCL_VERSION
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclInvalidUsage ? "invalid usage" : "a failure of the stand-in";
}

const char* ncclGetLastError(ncclComm_t) {
  return lastError().c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const Call call;
  if (isToFail(__func__))
    return fail(ncclSystemError, "the stand-in was told that ncclGetUniqueId fails");
  std::string folder = "/dev/shm/tenon_standin_nccl_XXXXXX";
  if (!mkdtemp(folder.data()))
    return fail(ncclSystemError, "no folder for the stand-in's files");
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, folder.data(), folder.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  const Call call;
  auto made = std::make_unique<ncclComm>(id.internal, ranks, rank);
  const bool fails = isToFail(__func__);
  const int device = fails ? -1 : currentDevice();
  const Collective what = collective(__func__, 1, ncclInt64);
  Bytes mine(sizeof device);
  std::memcpy(mine.data(), &device, sizeof device);
  const std::uint64_t number = made->give(what, mine);
  std::vector<int> devices(std::size_t(ranks), 0);
  for (int r = 0; r < ranks; ++r) {
    const Bytes told = made->take(number, what, r);
    std::memcpy(&devices[std::size_t(r)], told.data(), sizeof device);
  }
  for (int r = 0; r < ranks; ++r) {
    if (devices[std::size_t(r)] < 0)
      return fail(ncclSystemError, "rank " + std::to_string(r) + " did not answer");
    for (int other = 0; other < r; ++other)
      if (devices[std::size_t(r)] == devices[std::size_t(other)])
        return fail(ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(r) +
                                          " and rank " + std::to_string(other) +
                                          " both on CUDA device " +
                                          std::to_string(devices[std::size_t(r)]));
  }
  *comm = made.release();
  return ncclSuccess;
}

// Waits for the other ranks, like NCCL with blocking communicators.
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const Call call;
  const Collective what = collective(__func__, 0, ncclInt64);
  const std::uint64_t number = comm->give(what, {});
  for (int rank = 0; rank < comm->ranks; ++rank)
    comm->take(number, what, rank);
  comm->isFinal = true;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const Call call;
  if (!comm->isFinal)
    refuse("a group is destroyed that was not finalized");
  delete comm;
  return ncclSuccess;
}

// Valid after a failure only: otherwise other ranks may still have to receive data of this one, or
// read its memory.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const Call call;
  if (comm->collectives > 0 && !comm->hasFailed)
    refuse(
        "rank " + std::to_string(comm->rank) +
        " gives up a group that has not failed, of whose collectives others may wait for a part");
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
  const Call call;
  const bool fails = isToFail(__func__);
  comm->hasFailed |= fails;
  *result = fails ? fail(ncclRemoteError, "a remote process has ended") : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  return isToFail(__func__) ? fail(ncclSystemError, "the group") : ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  const Collective what = collective(__func__, count, type);
  return run(comm, what, from, what.bytes(), to, what.bytes(), stream,
             [=](const std::vector<Bytes>& all) { return sumOf(all, type); });
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  const Collective what = collective(__func__, count, type, root);
  return run(comm, what, from, what.bytes(), to, comm->rank == root ? what.bytes() : 0, stream,
             [=](const std::vector<Bytes>& all) { return sumOf(all, type); });
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const Collective what = collective(__func__, count, type, root);
  return run(comm, what, from, comm->rank == root ? what.bytes() : 0, to, what.bytes(), stream,
             [=](const std::vector<Bytes>& all) { return all[std::size_t(root)]; });
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  const Collective what = collective(__func__, count, type);
  const std::size_t offset = std::size_t(comm->rank) * what.bytes();
  return run(comm, what, from, std::size_t(comm->ranks) * what.bytes(), to, what.bytes(), stream,
             [=](const std::vector<Bytes>& all) {
               const Bytes sum = sumOf(all, type);
               return Bytes(sum.begin() + std::ptrdiff_t(offset),
                            sum.begin() + std::ptrdiff_t(offset + what.bytes()));
             });
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  const Collective what = collective(__func__, count, type);
  return run(comm, what, from, what.bytes(), to, std::size_t(comm->ranks) * what.bytes(), stream,
             [=](const std::vector<Bytes>& all) {
               Bytes whole;
               for (const Bytes& one : all)
                 whole.insert(whole.end(), one.begin(), one.end());
               return whole;
             });
}

} // extern "C"
