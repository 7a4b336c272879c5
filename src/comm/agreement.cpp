// SPDX-License-Identifier: BSD-2-Clause
#include "comm/agreement.hpp"

#include "sys/options.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sched.h>

namespace tenon {

namespace {

// What every rank tells rank 0, and what rank 0 answers.
struct Ballot {
  int code = TENON_SUCCESS;
  int rank = 0;
};

bool wait(MPI_Request& request, double deadline) {
  int done = 0;
  while (!done && MPI_Wtime() < deadline) {
    checkMpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (!done)
      sched_yield();
  }
  return done != 0;
}

[[noreturn]] void giveUp(const std::vector<int>& absent, double seconds) {
  throw Error(
      TENON_ERR_TIMEOUT,
      fmt::format(
          "after {} s ranks {} had not arrived at a collective call that the others are in; is it "
          "called on all ranks of the communicator? (-tenon_agree_timeout sets the time)",
          seconds, fmt::join(absent, ",")));
}

// Rank 0 hears all ballots and keeps the first failure.
Ballot collect(Communicator& comm, Ballot verdict, double seconds) {
  std::vector<Ballot> ballots(comm.size());
  std::vector<MPI_Request> requests(comm.size(), MPI_REQUEST_NULL);
  for (int r = 1; r < comm.size(); ++r)
    checkMpi(MPI_Irecv(&ballots[r], 2, MPI_INT, r, Communicator::kAgreementTag, comm.mpi(),
                       &requests[r]),
             "MPI_Irecv");
  const double deadline = MPI_Wtime() + seconds;
  std::vector<int> absent;
  for (int r = 1; r < comm.size(); ++r)
    if (!wait(requests[r], deadline))
      absent.push_back(r);
  if (!absent.empty()) {
    for (int r : absent) {
      MPI_Cancel(&requests[r]);
      MPI_Request_free(&requests[r]);
    }
    giveUp(absent, seconds);
  }
  for (int r = 1; r < comm.size() && verdict.code == TENON_SUCCESS; ++r)
    verdict = ballots[r];
  return verdict;
}

// Rank 0 waits for the others, so it is given less time than they are: then it is the one to speak.
constexpr double kPatienceOfOthers = 1.25;

Ballot vote(Communicator& comm, Ballot mine) {
  const double seconds = options().getReal("", "agree_timeout");
  if (comm.rank() == 0) {
    const Ballot verdict = collect(comm, mine, seconds);
    for (int r = 1; r < comm.size(); ++r)
      checkMpi(MPI_Send(&verdict, 2, MPI_INT, r, Communicator::kAgreementTag, comm.mpi()),
               "MPI_Send");
    return verdict;
  }
  Ballot verdict;
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Irecv(&verdict, 2, MPI_INT, 0, Communicator::kAgreementTag, comm.mpi(), &request),
           "MPI_Irecv");
  checkMpi(MPI_Send(&mine, 2, MPI_INT, 0, Communicator::kAgreementTag, comm.mpi()), "MPI_Send");
  if (!wait(request, MPI_Wtime() + seconds * kPatienceOfOthers)) {
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    giveUp({0}, seconds);
  }
  return verdict;
}

std::string broadcastText(Communicator& comm, std::string text, int from) {
  long long length = static_cast<long long>(text.size());
  checkMpi(MPI_Bcast(&length, 1, MPI_LONG_LONG, from, comm.mpi()), "MPI_Bcast");
  text.resize(length);
  checkMpi(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, from, comm.mpi()),
           "MPI_Bcast");
  return text;
}

} // namespace

void agree(Communicator& comm, const std::optional<Error>& mine) {
  if (comm.size() == 1) {
    if (mine)
      throw *mine;
    return;
  }
  const Ballot verdict = vote(comm, {mine ? mine->code() : TENON_SUCCESS, comm.rank()});
  if (verdict.code == TENON_SUCCESS)
    return;
  // The lowest failing rank lends its words to all.
  const std::string text = broadcastText(comm, mine ? mine->text() : std::string(), verdict.rank);
  int failures = mine ? 1 : 0;
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, comm.mpi()),
           "MPI_Allreduce");
  const std::string who =
      failures == comm.size() ? "" : fmt::format("rank {} of {}: ", verdict.rank, comm.size());
  const auto where = mine ? mine->where() : std::source_location::current();
  Error error(static_cast<TenonErrorCode>(verdict.code), who + text, where);
  error.agreed(comm.rank() == verdict.rank);
  throw error;
}

void agreeOnText(Communicator& comm, std::string_view what, const std::string& text) {
  const std::string first = broadcastText(comm, text, 0);
  std::optional<Error> error;
  if (text != first)
    error = Error(TENON_ERR_COLLECTIVE,
                  fmt::format("{} must be the same on all ranks: here it is {}, on rank 0 it is {}",
                              what, text, first));
  agree(comm, error);
}

} // namespace tenon
