// SPDX-License-Identifier: BSD-2-Clause
#include "comm/agreement.hpp"

#include "comm/file_agreement.hpp"
#include "comm/patience.hpp"
#include "comm/vote.hpp"
#include "sys/options.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>

#include <limits>

namespace tenon {

namespace {

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

void agreeWithin(double seconds, Communicator& comm, const std::optional<Error>& mine,
                 std::string_view what, const std::string& text) {
  if (comm.size() == 1) {
    if (mine)
      throw Error(*mine).agreed(true);
    return;
  }
  if (comm.isOutOfStep())
    throw Error(
        TENON_ERR_STATE,
        "ranks were absent from an earlier collective call on this communicator, so it can no "
        "longer be used; create the objects again on another communicator");
  const Ballot verdict = vote(
      comm,
      {mine ? mine->code() : TENON_SUCCESS, comm.rank(), static_cast<long long>(streamOf(text))},
      seconds);
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

} // namespace

void agree(Communicator& comm, const std::optional<Error>& mine, std::string_view what,
           const std::string& text) {
  agreeWithin(options().getReal("", "agree_timeout"), comm, mine, what, text);
}

void agreeOnText(Communicator& comm, std::string_view what, const std::string& text) {
  agree(comm, std::nullopt, what, text);
}

void agreeWithoutLimit(Communicator& comm, std::string_view what, const std::string& text) {
  agreeWithin(std::numeric_limits<double>::infinity(), comm, std::nullopt, what, text);
}

void agreeWithoutLimit(Communicator& comm, const std::optional<Error>& mine) {
  agreeWithin(std::numeric_limits<double>::infinity(), comm, mine, "", "");
}

std::string broadcastText(Communicator& comm, std::string text, int from) {
  long long length = static_cast<long long>(text.size());
  checkMpi(MPI_Bcast(&length, 1, MPI_LONG_LONG, from, comm.mpi()), "MPI_Bcast");
  text.resize(length);
  checkMpi(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, from, comm.mpi()),
           "MPI_Bcast");
  return text;
}

void reduceNumbers(const Communicator& comm, std::vector<std::uint64_t>& numbers, MPI_Op op) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()),
                          MPI_UINT64_T, op, comm.mpi(), &request),
           "MPI_Iallreduce");
  waitFor(comm, &request, 1, [&] { return someOfText(othersOf(comm)); });
}

} // namespace tenon
