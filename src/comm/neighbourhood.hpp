// SPDX-License-Identifier: BSD-2-Clause
// The collective transport: all messages between neighbours in one non-blocking neighbourhood
// all-to-all, on a communicator that knows who sends to whom.
#pragma once

#include "comm/exchange.hpp"

#include <string>

namespace tenon {

class Neighbourhood {
public:
  // The name stands for who sends to whom on all ranks. Throws TENON_ERR_SUPPORT for messages of
  // more bytes than MPI counts here.
  Neighbourhood(CommPtr comm, std::string name, const std::vector<Message>& sends,
                const std::vector<Message>& receives);

  // The first time collective: it makes the communicator, if there is none of that name.
  void start();
  void wait();

private:
  // Messages lie one after the other in one buffer.
  struct Side {
    std::byte* data = nullptr;
    std::vector<int> peers, counts, places;
    explicit Side(const std::vector<Message>& messages);
  };

  CommPtr comm_;
  std::string name_;
  Side sends_, receives_;
  SubCommPtr graph_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace tenon
