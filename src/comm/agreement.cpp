// SPDX-License-Identifier: BSD-2-Clause
#include "comm/agreement.hpp"

#include "sys/options.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sched.h>

namespace tenon {

namespace {

// What every rank tells rank 0, and what rank 0 answers: the first failure and whose it is. The
// digest stands for a text that must be the same on all ranks.
struct Ballot {
  long long code = TENON_SUCCESS;
  long long rank = 0;
  long long digest = 0;
};
constexpr int kBallotLength = 3;

// Looks once at least: requests that share a deadline must not miss it for one that is late.
bool wait(MPI_Request& request, double deadline) {
  for (;;) {
    int done = 0;
    checkMpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done || MPI_Wtime() >= deadline)
      return done != 0;
    sched_yield();
  }
}

[[noreturn]] void giveUp(Communicator& comm, const std::vector<int>& absent, double seconds) {
  comm.setOutOfStep();
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
    checkMpi(MPI_Irecv(&ballots[r], kBallotLength, MPI_LONG_LONG, r, Communicator::kAgreementTag,
                       comm.mpi(), &requests[r]),
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
    giveUp(comm, absent, seconds);
  }
  for (int r = 1; r < comm.size() && verdict.code == TENON_SUCCESS; ++r) {
    const bool disagrees = ballots[r].digest != verdict.digest;
    verdict.code = ballots[r].code;
    if (verdict.code == TENON_SUCCESS && disagrees)
      verdict.code = TENON_ERR_COLLECTIVE;
    verdict.rank = r;
  }
  return verdict;
}

// Rank 0 waits for the others, so it is given less time than they are: then it is the one to speak.
constexpr double kPatienceOfOthers = 1.25;

Ballot vote(Communicator& comm, Ballot mine) {
  const double seconds = options().getReal("", "agree_timeout");
  if (comm.rank() == 0) {
    const Ballot verdict = collect(comm, mine, seconds);
    for (int r = 1; r < comm.size(); ++r)
      checkMpi(MPI_Send(&verdict, kBallotLength, MPI_LONG_LONG, r, Communicator::kAgreementTag,
                        comm.mpi()),
               "MPI_Send");
    return verdict;
  }
  Ballot verdict;
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Irecv(&verdict, kBallotLength, MPI_LONG_LONG, 0, Communicator::kAgreementTag,
                     comm.mpi(), &request),
           "MPI_Irecv");
  checkMpi(
      MPI_Send(&mine, kBallotLength, MPI_LONG_LONG, 0, Communicator::kAgreementTag, comm.mpi()),
      "MPI_Send");
  if (!wait(request, MPI_Wtime() + seconds * kPatienceOfOthers)) {
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    giveUp(comm, {0}, seconds);
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

// The words of a failure that one rank at least reported: the lowest one lends its own to all.
std::string failureText(Communicator& comm, const std::optional<Error>& mine, int speaker) {
  const std::string text = broadcastText(comm, mine ? mine->text() : std::string(), speaker);
  int failures = mine ? 1 : 0;
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, comm.mpi()),
           "MPI_Allreduce");
  return failures == comm.size() ? text
                                 : fmt::format("rank {} of {}: {}", speaker, comm.size(), text);
}

bool endsWord(char c) {
  return std::string_view(" ;()").find(c) != std::string_view::npos;
}

// Long texts that differ in a few words are hard to compare by eye: shows these words, with the one
// before them.
std::string differenceText(std::string_view what, std::string_view first, int other,
                           std::string_view second) {
  const std::size_t shorter = std::min(first.size(), second.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && first[head] == second[head])
    ++head;
  // Back to the beginning of the word before.
  for (const bool delimiters : {false, true, false})
    while (head > 0 && endsWord(first[head - 1]) == delimiters)
      --head;
  while (tail < shorter - head && first.rbegin()[tail] == second.rbegin()[tail])
    ++tail;
  while (tail > 0 && !endsWord(first.rbegin()[tail - 1]))
    --tail;
  const std::string text =
      fmt::format("{} must be the same on all ranks: on rank 0 it is {}", what, first);
  if (head + tail == 0)
    return fmt::format("{}, on rank {} it is {}", text, other, second);
  const auto middle = [&](std::string_view whole) {
    return whole.substr(head, whole.size() - head - tail);
  };
  return fmt::format("{}; on rank {} it has '{}' in place of '{}'", text, other, middle(second),
                     middle(first));
}

std::string disagreementText(Communicator& comm, std::string_view what, const std::string& text,
                             int other) {
  const std::string first = broadcastText(comm, text, 0);
  const std::string second = broadcastText(comm, text, other);
  const std::string firstWhat = broadcastText(comm, std::string(what), 0);
  const std::string secondWhat = broadcastText(comm, std::string(what), other);
  if (firstWhat == secondWhat)
    return differenceText(what, first, other, second);
  const auto subject = [](const std::string& of, const std::string& value) {
    return of.empty() ? "its outcome alone" : fmt::format("{}: {}", of, value);
  };
  return fmt::format("ranks 0 and {} are in different collective calls: rank 0 is to agree on {}; "
                     "rank {} on {}",
                     other, subject(firstWhat, first), other, subject(secondWhat, second));
}

// Ranks that failed early drew fewer tags than the others.
void alignTags(Communicator& comm) {
  int tag = comm.lastTag();
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &tag, 1, MPI_INT, MPI_MAX, comm.mpi()), "MPI_Allreduce");
  comm.setLastTag(tag);
}

} // namespace

void agree(Communicator& comm, const std::optional<Error>& mine, std::string_view what,
           const std::string& text) {
  if (comm.size() == 1) {
    if (mine)
      throw Error(*mine).agreed(true);
    return;
  }
  if (comm.isOutOfStep())
    throw Error(TENON_ERR_STATE,
                "ranks were absent from an earlier collective call on this communicator, so that "
                "it cannot be used any more; create the objects anew on another one");
  const Ballot verdict = vote(comm, {mine ? mine->code() : TENON_SUCCESS, comm.rank(),
                                     static_cast<long long>(streamOf(text))});
  if (verdict.code == TENON_SUCCESS)
    return;
  const int speaker = static_cast<int>(verdict.rank);
  alignTags(comm);
  int reported = comm.rank() == speaker && mine ? 1 : 0;
  checkMpi(MPI_Bcast(&reported, 1, MPI_INT, speaker, comm.mpi()), "MPI_Bcast");
  const std::string words =
      reported ? failureText(comm, mine, speaker) : disagreementText(comm, what, text, speaker);
  throw Error(static_cast<TenonErrorCode>(verdict.code), words,
              mine ? mine->where() : std::source_location::current())
      .agreed(comm.rank() == speaker);
}

void agreeOnText(Communicator& comm, std::string_view what, const std::string& text) {
  agree(comm, std::nullopt, what, text);
}

} // namespace tenon
