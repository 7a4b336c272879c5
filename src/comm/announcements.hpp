// SPDX-License-Identifier: BSD-2-Clause
// One message of a few bytes to each of some ranks, which says once how to read what will be sent to them.
#pragma once

#include "comm/patience.hpp"

#include <type_traits>
#include <vector>

namespace tenon {

template <class Address>
class Announcements {
  static_assert(std::is_trivially_copyable_v<Address>);

public:
  Announcements(CommPtr comm, int tag) : comm_(std::move(comm)), tag_(tag) {}

  // Before they are sent.
  void add(int peer, const Address& address) { all_.push_back({peer, address}); }
  // The first time.
  void send() {
    for (; sent_ < all_.size(); ++sent_) {
      Announcement& next = all_[sent_];
      checkMpi(MPI_Isend(&next.address, sizeof next.address, MPI_BYTE, next.peer, tag_,
                         comm_->mpi(), &next.request),
               "MPI_Isend");
    }
  }
  void waitUntilRead() {
    for (Announcement& sent : all_)
      waitFor(*comm_, &sent.request, 1, [&] { return ranksText({sent.peer}); });
  }
  // That of another rank to this one.
  Address receive(int peer) const {
    Address address;
    MPI_Request request = MPI_REQUEST_NULL;
    checkMpi(MPI_Irecv(&address, sizeof address, MPI_BYTE, peer, tag_, comm_->mpi(), &request),
             "MPI_Irecv");
    waitFor(*comm_, &request, 1, [&] { return ranksText({peer}); });
    return address;
  }

private:
  struct Announcement {
    int peer;
    Address address{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  CommPtr comm_;
  int tag_;
  std::vector<Announcement> all_;
  std::size_t sent_ = 0;
};

} // namespace tenon
