// SPDX-License-Identifier: BSD-2-Clause
// The vote before there is a copy of the caller's communicator, of two collective operations that
// do not block. Nobody can take them back, so those of a rank that has given up are kept for good,
// and an attribute of the caller's communicator says that it can no longer be used.
#include "comm/agreement/vote.hpp"
#include "comm/agreement/wait_policy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace tenon {

namespace {

// The two operations of a rank. They outlive the call where somebody was absent.
struct Arrival {
  MPI_Request come = MPI_REQUEST_NULL, voted = MPI_REQUEST_NULL;
  int vote = 0, all = 0;
  Arrival* next = nullptr; // of those that are kept for good
};

// That of a rank without memory, which has to come as well, to say so.
Arrival reserve;
std::atomic<bool> isReserveTaken{false};

struct EndArrival {
  void operator()(Arrival* arrival) const noexcept {
    if (arrival != &reserve)
      return delete arrival;
    reserve = {};
    isReserveTaken = false;
  }
};
using ArrivalPtr = std::unique_ptr<Arrival, EndArrival>;

ArrivalPtr makeArrival() {
  if (auto* made = new (std::nothrow) Arrival)
    return ArrivalPtr(made);
  if (isReserveTaken.exchange(true))
    throw std::bad_alloc();
  return ArrivalPtr(&reserve);
}

// MPI has the buffers of operations that are not complete, so these are kept for good.
void keep(ArrivalPtr arrival) {
  static Arrival* kept = nullptr;
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  arrival->next = std::exchange(kept, arrival.get());
  static_cast<void>(arrival.release());
}

// Whoever holds the attribute can no longer be used. It points to nothing and has no function of
// ours, since it stays after the library has ended, or was unloaded.
int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr),
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

// Waits until the request is complete, or until the deadline; returns whether it is complete.
bool comes(MPI_Comm parent, MPI_Request& request, double deadline) {
  int size = 0, rank = 0, done = 0;
  checkMpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  checkMpi(MPI_Comm_rank(parent, &rank), "MPI_Comm_rank");
  for (WaitPolicy policy(parent);;) {
    checkMpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done || MPI_Wtime() >= deadline)
      return done != 0;
    policy.wait([&] {
      std::vector<int> others(size);
      std::iota(others.begin(), others.end(), 0);
      others.erase(others.begin() + rank);
      return someOfText(others);
    });
  }
}

// A rank's vote: 0 after its timeout, the code of its error, or that it goes on.
constexpr int kTimedOut = 0, kGoesOn = std::numeric_limits<int>::max();

// The error of that code, by which no rank goes on: this rank's own, or another's.
[[noreturn]] void failAlike(TenonErrorCode code, const std::optional<Error>& mine) {
  const bool isMine = mine && mine->code() == code;
  throw madeError(code, [&] {
    return isMine ? Error(*mine)
                  : Error(code, fmt::format("another rank could not begin to use the "
                                            "communicator: {}",
                                            errorSentence(code)));
  }).agreed(isMine);
}

// The lowest of the votes of all ranks.
int lowestVote(MPI_Comm parent, int mine, double seconds) {
  ArrivalPtr arrival = makeArrival();
  checkMpi(MPI_Ibarrier(parent, &arrival->come), "MPI_Ibarrier");
  const bool haveCome = comes(parent, arrival->come, MPI_Wtime() + seconds);
  arrival->vote = haveCome ? mine : kTimedOut;
  checkMpi(
      MPI_Iallreduce(&arrival->vote, &arrival->all, 1, MPI_INT, MPI_MIN, parent, &arrival->voted),
      "MPI_Iallreduce");
  if (haveCome)
    comes(parent, arrival->voted, std::numeric_limits<double>::infinity());
  if (arrival->all != kTimedOut)
    return arrival->all;
  if (arrival->voted != MPI_REQUEST_NULL)
    keep(std::move(arrival));
  checkMpi(MPI_Comm_set_attr(parent, keyval(), nullptr), "MPI_Comm_set_attr");
  return kTimedOut;
}

} // namespace

void awaitAllRanks(MPI_Comm parent, std::optional<Error> mine) {
  const double seconds = agreeTimeout(mine);
  int isInter = 0, size = 0;
  checkMpi(MPI_Comm_test_inter(parent, &isInter), "MPI_Comm_test_inter");
  if (isInter)
    throw Error(TENON_ERR_ARG, "comm is an intercommunicator; pass an intracommunicator, such as "
                               "MPI_Intercomm_merge() makes of it");
  checkInStep(parent);
  checkMpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  const int vote = mine ? mine->code() : kGoesOn;
  const int lowest = size == 1 ? vote : lowestVote(parent, vote, seconds);
  if (lowest == kTimedOut)
    throw madeError(TENON_ERR_TIMEOUT, [&] {
      return Error(TENON_ERR_TIMEOUT,
                   fmt::format("after {} s some of the {} ranks of the communicator had not "
                               "arrived at the first collective call on it; is it called on all "
                               "of its ranks? (-tenon_agree_timeout sets the time)",
                               seconds, size));
    }).agreed(true);
  if (lowest != kGoesOn)
    failAlike(static_cast<TenonErrorCode>(lowest), mine);
}

} // namespace tenon
