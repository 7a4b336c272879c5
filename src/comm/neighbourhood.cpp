// SPDX-License-Identifier: BSD-2-Clause
#include "comm/neighbourhood.hpp"

#include "comm/patience.hpp"
#include "sys/error.hpp"
#include "sys/log.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

namespace tenon {

Neighbourhood::Side::Side(const std::vector<Message>& messages) {
  Index place = 0;
  for (const Message& message : messages) {
    if (place + message.bytes > std::numeric_limits<int>::max())
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("the transport neighbourhood carries less than 2 GiB in one exchange, "
                      "but rank {} alone has {} bytes; use messages",
                      message.peer, place + message.bytes));
    data = data ? data : message.data;
    peers.push_back(message.peer);
    counts.push_back(static_cast<int>(message.bytes));
    places.push_back(static_cast<int>(place));
    place += message.bytes;
  }
  // MPI wants addresses of lists that are empty, too.
  peers.reserve(1);
  counts.reserve(1);
  places.reserve(1);
}

Neighbourhood::Neighbourhood(CommPtr comm, std::string name, const std::vector<Message>& sends,
                             const std::vector<Message>& receives)
    : comm_(std::move(comm)), name_(std::move(name)), sends_(sends), receives_(receives) {}

void Neighbourhood::start() {
  if (!graph_)
    graph_ = comm_->graph(name_, receives_.peers, sends_.peers);
  checkMpi(MPI_Ineighbor_alltoallv(sends_.data, sends_.counts.data(), sends_.places.data(),
                                   MPI_BYTE, receives_.data, receives_.counts.data(),
                                   receives_.places.data(), MPI_BYTE, graph_->mpi(), &request_),
           "MPI_Ineighbor_alltoallv");
  for (int bytes : sends_.counts)
    logMessage(bytes);
}

void Neighbourhood::wait() {
  waitFor(*comm_, &request_, 1, [&] { return someOfText(receives_.peers); });
}

} // namespace tenon
