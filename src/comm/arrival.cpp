// SPDX-License-Identifier: BSD-2-Clause
#include "comm/arrival.hpp"

#include "comm/patience.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

namespace tenon {

namespace {

// Outlives the call where somebody was absent: the attribute of the parent owns it then.
struct Arrival {
  MPI_Request come = MPI_REQUEST_NULL, voted = MPI_REQUEST_NULL;
  int vote = 0, all = 0;
};

// MPI has the buffers still, unless the parent is freed when all is over: they stay for good then.
int release(MPI_Comm, int, void* value, void*) {
  static auto& pending = *new std::vector<std::unique_ptr<Arrival>>;
  static std::mutex mutex;
  std::unique_ptr<Arrival> arrival(static_cast<Arrival*>(value));
  if (arrival->voted != MPI_REQUEST_NULL) {
    const std::scoped_lock lock(mutex);
    pending.push_back(std::move(arrival));
  }
  return MPI_SUCCESS;
}

int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release, &made, nullptr),
             "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

void checkInStep(MPI_Comm parent) {
  void* value = nullptr;
  int found = 0;
  checkMpi(MPI_Comm_get_attr(parent, keyval(), static_cast<void*>(&value), &found),
           "MPI_Comm_get_attr");
  if (found)
    throw Error(
        TENON_ERR_STATE,
        "ranks were absent from the first call on this communicator, so it can no longer be "
        "used; create the objects on another communicator");
}

// Until the request is complete, or the deadline.
bool comes(MPI_Comm parent, MPI_Request& request, double deadline) {
  int size = 0, done = 0;
  checkMpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  for (Patience patience(parent);;) {
    checkMpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done || MPI_Wtime() >= deadline)
      return done != 0;
    patience.wait([&] {
      std::vector<int> ranks(size);
      std::iota(ranks.begin(), ranks.end(), 0);
      return someOfText(ranks);
    });
  }
}

} // namespace

void awaitAllRanks(MPI_Comm parent, double seconds) {
  int isInter = 0, size = 0;
  checkMpi(MPI_Comm_test_inter(parent, &isInter), "MPI_Comm_test_inter");
  if (isInter)
    throw Error(TENON_ERR_ARG, "comm is an intercommunicator; pass an intracommunicator, such as "
                               "MPI_Intercomm_merge() makes of it");
  checkInStep(parent);
  checkMpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  if (size == 1)
    return;
  auto arrival = std::make_unique<Arrival>();
  checkMpi(MPI_Ibarrier(parent, &arrival->come), "MPI_Ibarrier");
  arrival->vote = comes(parent, arrival->come, MPI_Wtime() + seconds) ? 1 : 0;
  checkMpi(
      MPI_Iallreduce(&arrival->vote, &arrival->all, 1, MPI_INT, MPI_MIN, parent, &arrival->voted),
      "MPI_Iallreduce");
  if (arrival->vote == 1)
    comes(parent, arrival->voted, std::numeric_limits<double>::infinity());
  if (arrival->all == 1)
    return;
  checkMpi(MPI_Comm_set_attr(parent, keyval(), arrival.release()), "MPI_Comm_set_attr");
  throw Error(TENON_ERR_TIMEOUT,
              fmt::format("after {} s some of the {} ranks of the communicator had not arrived at "
                          "the first collective call on it; is it called on all of its ranks? "
                          "(-tenon_agree_timeout sets the time)",
                          seconds, size))
      .agreed(true);
}

} // namespace tenon
