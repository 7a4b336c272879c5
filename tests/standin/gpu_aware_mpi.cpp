// SPDX-License-Identifier: BSD-2-Clause
// A fake CUDA-aware MPI library: it sends and receives device memory of the stand-in for CUDA,
// whose pages MPI itself cannot access (memory.hpp). A test program that compiles this file defines
// these MPI functions itself, and each calls the real one by its profiling name PMPI_*. For device
// memory it passes a copy on the host:
//   a send     copies from the device when it is started, whether or not the streams have written
//              the data: so a missing wait before a send gives wrong values
//   a receive  copies to the device when MPI_Testall() or MPI_Testsome() finds it complete
// Only the functions that Tenon uses for device memory are defined.
#include "comm/mpi.hpp"
#include "standin/memory.hpp"

#include <cstring>
#include <map>
#include <vector>

namespace tenon::standin {

namespace {

// A request for device memory, with the copy on the host that MPI uses.
struct Copied {
  std::byte* device;
  std::vector<std::byte> host;
  bool isSend, isPersistent;

  // Copy between device and host.
  void read() { move(host.data(), device); }
  void write() { move(device, host.data()); }

private:
  void move(std::byte* to, const std::byte* from) const {
    DeviceMemory& memory = DeviceMemory::get();
    memory.checkRange(device, host.size(), isSend ? "a send of MPI" : "a receive of MPI");
    memory.open();
    std::memcpy(to, from, host.size());
    memory.close();
  }
};

// The requests for device memory that exist, by handle.
std::map<MPI_Request, Copied>& copied() {
  static auto* all = new std::map<MPI_Request, Copied>;
  return *all;
}

Copied copyOf(const void* buffer, int count, MPI_Datatype type, bool isSend, bool isPersistent) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  auto* device = static_cast<std::byte*>(const_cast<void*>(buffer));
  return {device, std::vector<std::byte>(std::size_t(bytes) * std::size_t(count)), isSend,
          isPersistent};
}

// Creates a request for a copy: start(address) calls the PMPI function with the address on the
// host. A persistent send is copied when it is started (begin()).
template <class Start>
int withCopy(Copied copy, MPI_Request* request, Start start) {
  if (copy.isSend && !copy.isPersistent)
    copy.read();
  const int status = start(copy.host.data());
  copied().insert_or_assign(*request, std::move(copy));
  return status;
}

bool isDeviceMemory(const void* p) {
  return DeviceMemory::get().contains(p);
}

// Called before a persistent request is started.
void begin(MPI_Request request) {
  const auto at = copied().find(request);
  if (at != copied().end() && at->second.isSend)
    at->second.read();
}

// Called after a request has completed.
void finish(MPI_Request request) {
  const auto at = copied().find(request);
  if (at == copied().end())
    return;
  if (!at->second.isSend)
    at->second.write();
  if (!at->second.isPersistent)
    copied().erase(at);
}

} // namespace

} // namespace tenon::standin

using namespace tenon::standin;

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (!isDeviceMemory(data))
    return PMPI_Isend(data, count, type, to, tag, comm, request);
  return withCopy(
      copyOf(data, count, type, /*isSend=*/true, /*isPersistent=*/false), request,
      [&](void* host) { return PMPI_Isend(host, count, type, to, tag, comm, request); });
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (!isDeviceMemory(data))
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
  return withCopy(
      copyOf(data, count, type, /*isSend=*/false, /*isPersistent=*/false), request,
      [&](void* host) { return PMPI_Irecv(host, count, type, from, tag, comm, request); });
}

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (!isDeviceMemory(data))
    return PMPI_Send_init(data, count, type, to, tag, comm, request);
  return withCopy(
      copyOf(data, count, type, /*isSend=*/true, /*isPersistent=*/true), request,
      [&](void* host) { return PMPI_Send_init(host, count, type, to, tag, comm, request); });
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (!isDeviceMemory(data))
    return PMPI_Recv_init(data, count, type, from, tag, comm, request);
  return withCopy(
      copyOf(data, count, type, /*isSend=*/false, /*isPersistent=*/true), request,
      [&](void* host) { return PMPI_Recv_init(host, count, type, from, tag, comm, request); });
}

int MPI_Start(MPI_Request* request) {
  begin(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i)
    begin(requests[i]);
  return PMPI_Startall(count, requests);
}

int MPI_Testall(int count, MPI_Request requests[], int* done, MPI_Status statuses[]) {
  const std::vector<MPI_Request> before(requests, requests + count);
  const int status = PMPI_Testall(count, requests, done, statuses);
  for (int i = 0; *done && i < count; ++i)
    finish(before[i]);
  return status;
}

int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[],
                 MPI_Status statuses[]) {
  const std::vector<MPI_Request> before(requests, requests + count);
  const int status = PMPI_Testsome(count, requests, completed, indices, statuses);
  for (int i = 0; i < *completed; ++i) // MPI_UNDEFINED is negative.
    finish(before[indices[i]]);
  return status;
}

int MPI_Request_free(MPI_Request* request) {
  copied().erase(*request);
  return PMPI_Request_free(request);
}

} // extern "C"
