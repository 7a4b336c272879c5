// SPDX-License-Identifier: BSD-2-Clause
// Combines the outcomes of all ranks into one error:
//   1. vote() finds the lowest rank with an error, or whose text (by its digest) differs from rank
//      0's. If there is none, the agreement ends here.
//   2. The text of this rank's error, or the two texts that differ, are broadcast.
//   3. All ranks throw an error with the same code and text.
// Texts are broadcast in pieces of fixed size, so a rank without memory for them can take part.
#include "comm/agreement/agreement.hpp"

#include "comm/agreement/vote.hpp"
#include "comm/agreement/wait_policy.hpp"
#include "sys/errors/guard.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

namespace tenon {

namespace {

// Broadcasts the text of rank `root`, in pieces of fixed size; the texts of other ranks are
// ignored. Returns nothing on a rank without memory for the text.
std::optional<std::string> sharedText(Communicator& comm, std::string_view text, int root) {
  std::array<char, 4096> piece{};
  auto remaining = static_cast<long long>(text.size());
  checkMpi(MPI_Bcast(&remaining, 1, MPI_LONG_LONG, root, comm.mpi()), "MPI_Bcast");
  std::optional<std::string> received{std::in_place};
  while (remaining > 0) {
    const auto size = static_cast<std::size_t>(std::min<long long>(remaining, piece.size()));
    if (comm.rank() == root)
      text = text.substr(text.copy(piece.data(), size));
    checkMpi(MPI_Bcast(piece.data(), static_cast<int>(size), MPI_CHAR, root, comm.mpi()),
             "MPI_Bcast");
    remaining -= static_cast<long long>(size);
    try {
      if (received)
        received->append(piece.data(), size);
    } catch (const std::bad_alloc&) {
      received.reset();
    }
  }
  return received;
}

// The text, or an error if there was no memory for it. Called after all broadcasts.
std::string_view textOrThrow(const std::optional<std::string>& text) {
  if (!text)
    throw std::bad_alloc();
  return *text;
}

// The error text of rank `firstFailed`, the lowest rank that failed. It begins with the number of
// the rank, unless all ranks failed.
std::string failureText(Communicator& comm, const std::optional<Error>& mine, int firstFailed) {
  const auto text = sharedText(comm, mine ? std::string_view(mine->text()) : "", firstFailed);
  int failures = mine ? 1 : 0;
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, comm.mpi()),
           "MPI_Allreduce");
  return failures == comm.size()
             ? std::string(textOrThrow(text))
             : fmt::format("rank {} of {}: {}", firstFailed, comm.size(), textOrThrow(text));
}

bool endsWord(char c) {
  return std::string_view(" ;()").find(c) != std::string_view::npos;
}

// The difference of the text `first` of rank 0 and the text `second` of rank `other`. Long texts
// that differ in a few words are hard to compare by eye, so only these words are shown, with the
// word before them: "on rank 3 it has 'stride 2' in place of 'stride 1'".
std::string differenceText(std::string_view what, std::string_view first, int other,
                           std::string_view second) {
  const std::size_t minLength = std::min(first.size(), second.size());
  std::size_t head = 0, tail = 0;
  while (head < minLength && first[head] == second[head])
    ++head;
  // Moves head back to the beginning of this word, past the delimiters before it, and to the
  // beginning of the word before those.
  for (const bool areDelimiters : {false, true, false})
    while (head > 0 && endsWord(first[head - 1]) == areDelimiters)
      --head;
  while (tail < minLength - head && first.rbegin()[tail] == second.rbegin()[tail])
    ++tail;
  while (tail > 0 && !endsWord(first.rbegin()[tail - 1]))
    --tail;
  const std::string text =
      fmt::format("{} must be the same on all ranks: on rank 0 it is {}", what, first);
  if (head + tail == 0)
    return fmt::format("{}, on rank {} it is {}", text, other, second);
  const auto differingWords = [&](std::string_view whole) {
    return whole.substr(head, whole.size() - head - tail);
  };
  return fmt::format("{}; on rank {} it has '{}' in place of '{}'", text, other,
                     differingWords(second), differingWords(first));
}

// The texts of a rank in an agreement: one text, or several.
class RankTexts {
public:
  RankTexts(std::string_view what, std::string_view text) : what_(what), text_(text) {}
  explicit RankTexts(std::span<const AgreedText> several) : several_(several), isOne_(false) {}

  long long count() const { return isOne_ ? 1 : static_cast<long long>(several_.size()); }
  // Empty if i is beyond the last text.
  std::string_view what(long long i) const {
    return isOne_ ? what_ : i < count() ? std::string_view(several_[i].what) : "";
  }
  std::string_view text(long long i) const {
    return isOne_ ? text_ : i < count() ? std::string_view(several_[i].text) : "";
  }
  long long digest(long long i) const { return static_cast<long long>(streamOf(text(i))); }
  // Digest of all texts; that of a single text is its own digest.
  long long digest() const {
    auto combined = static_cast<std::uint64_t>(digest(0));
    for (long long i = 1; i < count(); ++i)
      combined = combined * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(digest(i));
    return static_cast<long long>(combined);
  }

private:
  std::string_view what_, text_;
  std::span<const AgreedText> several_;
  bool isOne_ = true;
};

// Index of the first text that differs between rank 0 and another rank. Allocates nothing.
long long firstDifference(Communicator& comm, const RankTexts& texts, int other) {
  const auto broadcast = [&](int root, long long value) {
    checkMpi(MPI_Bcast(&value, 1, MPI_LONG_LONG, root, comm.mpi()), "MPI_Bcast");
    return value;
  };
  const long long count = std::max(broadcast(0, texts.count()), broadcast(other, texts.count()));
  // The last text need not be compared: it differs if no earlier one does.
  for (long long i = 0; i < count - 1; ++i)
    if (broadcast(0, texts.digest(i)) != broadcast(other, texts.digest(i)))
      return i;
  return std::max(count - 1, 0LL);
}

// The text of a disagreement between two ranks. Different names of the text mean that the ranks are
// in different collective calls; if the API functions differ, both are named.
std::string disagreementText(Communicator& comm, const RankTexts& texts, int other) {
  const long long index = firstDifference(comm, texts, other);
  const std::string_view what = texts.what(index), text = texts.text(index);
  const auto first = sharedText(comm, text, 0), second = sharedText(comm, text, other),
             firstWhat = sharedText(comm, what, 0), secondWhat = sharedText(comm, what, other),
             firstCall = sharedText(comm, currentFunction(), 0),
             secondCall = sharedText(comm, currentFunction(), other);
  const std::string calls =
      firstCall == secondCall ? ""
                              : fmt::format(" (rank 0 is in {}, rank {} in {})",
                                            textOrThrow(firstCall), other, textOrThrow(secondCall));
  if (textOrThrow(firstWhat) == textOrThrow(secondWhat))
    return differenceText(what, textOrThrow(first), other, textOrThrow(second)) + calls;
  const auto subject = [](const auto& name, const auto& value) {
    return name->empty() ? "its outcome alone"
                         : fmt::format("{}: {}", textOrThrow(name), textOrThrow(value));
  };
  return fmt::format("ranks 0 and {} are in different collective calls: rank 0 is to agree on {}; "
                     "rank {} on {}{}",
                     other, subject(firstWhat, first), other, subject(secondWhat, second), calls);
}

// Sets the message tag counters of all ranks to the largest one, since ranks that failed early have
// created fewer objects, each of which takes a tag.
void alignTags(Communicator& comm) {
  int tag = comm.lastTag();
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &tag, 1, MPI_INT, MPI_MAX, comm.mpi()), "MPI_Allreduce");
  comm.setLastTag(tag);
}

void agreeWithin(double seconds, Communicator& comm, const std::optional<Error>& mine,
                 const RankTexts& texts) {
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
  const Ballot ballot{
      .code = mine ? mine->code() : TENON_SUCCESS, .rank = comm.rank(), .digest = texts.digest()};
  const Ballot verdict = vote(comm, ballot, seconds);
  if (verdict.code == TENON_SUCCESS)
    return;
  const int firstFailed = static_cast<int>(verdict.rank);
  alignTags(comm);
  // 1 if the rank of the verdict had an error, 0 if only its text differs from rank 0's.
  int hadError = comm.rank() == firstFailed && mine ? 1 : 0;
  checkMpi(MPI_Bcast(&hadError, 1, MPI_INT, firstFailed, comm.mpi()), "MPI_Bcast");
  const auto code = static_cast<TenonErrorCode>(verdict.code);
  throw madeError(code, [&] {
    return Error(code,
                 hadError ? failureText(comm, mine, firstFailed)
                          : disagreementText(comm, texts, firstFailed),
                 mine ? mine->where() : std::source_location::current());
  }).agreed(comm.rank() == firstFailed);
}

} // namespace

void agree(Communicator& comm, const std::optional<Error>& mine, std::string_view what,
           const std::string& text) {
  std::optional<Error> outcome = mine;
  const double seconds = agreeTimeout(outcome);
  agreeWithin(seconds, comm, outcome, {what, text});
}

void agree(Communicator& comm, const std::optional<Error>& mine,
           std::span<const AgreedText> texts) {
  std::optional<Error> outcome = mine;
  const double seconds = agreeTimeout(outcome);
  agreeWithin(seconds, comm, outcome, RankTexts(texts));
}

void agreeWithoutLimit(Communicator& comm, std::string_view what, const std::string& text) {
  agreeWithin(std::numeric_limits<double>::infinity(), comm, std::nullopt, {what, text});
}

void agreeWithoutLimit(Communicator& comm, const std::optional<Error>& mine) {
  agreeWithin(std::numeric_limits<double>::infinity(), comm, mine, {"", ""});
}

std::string broadcastText(Communicator& comm, const std::string& text, int from) {
  auto shared = sharedText(comm, text, from);
  agreeWithoutLimit(comm, shared ? std::nullopt : std::optional(Error::outOfMemory()));
  return std::move(*shared);
}

void reduceNumbers(const Communicator& comm, std::vector<std::uint64_t>& numbers, MPI_Op op) {
  // MPICH 4.0 compares numbers of type MPI_UINT64_T as signed ones, among which those from 2^63 on
  // are negative. With the highest bit inverted, signed numbers have the order of unsigned ones.
  const bool areCompared = op == MPI_MAX;
  const auto invertHighestBits = [&] {
    for (std::uint64_t& number : numbers)
      number ^= std::uint64_t(1) << 63;
  };
  if (areCompared)
    invertHighestBits();
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()),
                          areCompared ? MPI_INT64_T : MPI_UINT64_T, op, comm.mpi(), &request),
           "MPI_Iallreduce");
  waitFor(comm, &request, 1, [&] { return someOfText(othersOf(comm)); });
  if (areCompared)
    invertHighestBits();
}

} // namespace tenon
