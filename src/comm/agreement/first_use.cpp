// SPDX-License-Identifier: BSD-2-Clause
// The vote at the first use of a user's communicator, before the library has duplicated it:
// MPI_Ibarrier with a timeout, then MPI_Iallreduce of the ranks' votes (vote.hpp explains why).
// These operations cannot be cancelled. If a rank has given up, its requests and their buffers are
// never freed, and an attribute of the user's communicator marks it as unusable.
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

// The two operations of a rank. They are retained if a rank was absent.
struct Arrival {
  // The barrier, and the reduction of the votes.
  MPI_Request barrier = MPI_REQUEST_NULL, reduction = MPI_REQUEST_NULL;
  int ownVote = 0, minimum = 0; // The vote of this rank, and the minimum of all votes.
  Arrival* next = nullptr;      // Next in the list of retained arrivals.
};

// Static memory for the operations of a rank that cannot allocate any: it must vote too, to report
// its lack of memory.
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
  if (auto* arrival = new (std::nothrow) Arrival)
    return ArrivalPtr(arrival);
  if (isReserveTaken.exchange(true))
    throw std::bad_alloc();
  return ArrivalPtr(&reserve);
}

// Retains an arrival: MPI still uses the buffers of operations that are not complete.
void retain(ArrivalPtr arrival) {
  static Arrival* retainedList = nullptr;
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  arrival->next = std::exchange(retainedList, arrival.get());
  static_cast<void>(arrival.release());
}

// Attribute that marks a communicator as unusable. It has no value and no delete function, since it
// remains after the library has ended or has been unloaded.
int keyval() {
  static const int key = [] {
    int newKey = MPI_KEYVAL_INVALID;
    checkMpi(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &newKey, nullptr),
        "MPI_Comm_create_keyval");
    return newKey;
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

// Waits until the request is complete or the deadline has passed; returns true if it is complete.
bool completesBy(MPI_Comm parent, MPI_Request& request, double deadline) {
  int size = 0, rank = 0, done = 0;
  checkMpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  checkMpi(MPI_Comm_rank(parent, &rank), "MPI_Comm_rank");
  for (WaitPolicy policy(parent, WaitPolicy::Look::Mpi);;) {
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

// A rank's vote: 0 after its timeout, the code of its error, or kSuccess.
constexpr int kTimeout = 0, kSuccess = std::numeric_limits<int>::max();

// Throws the error of that code: this rank's own, or one that names another rank.
[[noreturn]] void failAlike(TenonErrorCode code, const std::optional<Error>& mine) {
  const bool isMine = mine && mine->code() == code;
  throw madeError(code, [&] {
    return isMine ? Error(*mine)
                  : Error(code, fmt::format("another rank could not begin to use the "
                                            "communicator: {}",
                                            errorSentence(code)));
  }).agreed(isMine);
}

// The lowest of the votes of all ranks, with `vote` as that of this rank; kTimeout if some rank
// does not arrive within `seconds`. Collective.
int lowestVote(MPI_Comm parent, int vote, double seconds) {
  ArrivalPtr arrival = makeArrival();
  checkMpi(MPI_Ibarrier(parent, &arrival->barrier), "MPI_Ibarrier");
  const bool allArrived = completesBy(parent, arrival->barrier, MPI_Wtime() + seconds);
  arrival->ownVote = allArrived ? vote : kTimeout;
  checkMpi(MPI_Iallreduce(&arrival->ownVote, &arrival->minimum, 1, MPI_INT, MPI_MIN, parent,
                          &arrival->reduction),
           "MPI_Iallreduce");
  if (allArrived)
    completesBy(parent, arrival->reduction, std::numeric_limits<double>::infinity());
  if (arrival->minimum != kTimeout)
    return arrival->minimum;
  // A request that is complete is MPI_REQUEST_NULL. On a rank that has timed out, both can be
  // pending.
  if (arrival->reduction != MPI_REQUEST_NULL)
    retain(std::move(arrival));
  checkMpi(MPI_Comm_set_attr(parent, keyval(), nullptr), "MPI_Comm_set_attr");
  return kTimeout;
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
  const int vote = mine ? mine->code() : kSuccess;
  const int lowest = size == 1 ? vote : lowestVote(parent, vote, seconds);
  if (lowest == kTimeout)
    throw madeError(TENON_ERR_TIMEOUT, [&] {
      return Error(TENON_ERR_TIMEOUT,
                   fmt::format("after {} s some of the {} ranks of the communicator had not "
                               "arrived at the first collective call on it; is it called on all "
                               "of its ranks? (-tenon_agree_timeout sets the time)",
                               seconds, size));
    }).agreed(true);
  if (lowest != kSuccess)
    failAlike(static_cast<TenonErrorCode>(lowest), mine);
}

} // namespace tenon
