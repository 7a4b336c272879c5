// SPDX-License-Identifier: BSD-2-Clause
// Agreement between ranks: each rank reports success or an error, and then either all ranks
// continue, or all throw the same error. Every collective call that creates or sets up an object
// ends with an agreement, which has a time limit. An agreement after long work, such as on a shared
// file, has no time limit. All functions are collective over the communicator:
//
//   agree()               on the error of each rank, or its success; optionally compares texts
//   collectively()        runs a function on each rank, then agree() on its outcome
//   agreeOnText()         only compares a text between the ranks
//   agreeWithoutLimit()   agree() without a time limit
//   broadcastText(), reduceNumbers()
#pragma once

#include "comm/communicator.hpp"
#include "sys/errors/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

// A text that agree() compares between all ranks of the communicator, such as the arguments of a
// call: they must be the same on each. `what` is its name in the error text, such as "the shape".
struct AgreedText {
  std::string what, text;
};

// Collective. `mine` is the error of this rank, or nothing if it has succeeded. Throws on all ranks
// the error of the lowest rank that has one. Throws TENON_ERR_COLLECTIVE if `text` differs between
// ranks, with `what` as its name. Throws TENON_ERR_TIMEOUT, with the absent ranks, if some do not
// arrive within -tenon_agree_timeout seconds, also on ranks that arrive later (see vote.hpp); the
// communicator is then out of step and unusable. No rank allocates memory before the outcome is
// known, so a rank that lacks memory can report this. The error code is the same on all ranks, also
// on one without memory for the text.
void agree(Communicator& comm, const std::optional<Error>& mine, std::string_view what = "",
           const std::string& text = "");
// As above, for several texts that must each be the same on all ranks. The error names the first
// one that differs.
void agree(Communicator& comm, const std::optional<Error>& mine, std::span<const AgreedText> texts);

// Runs a function, the body, on every rank. The ranks then agree on its outcome, and on the text
// that `describe` makes of its result. Example, in which an allocation can fail on one rank only:
//
//   auto lists = collectively(comm, [&] { return std::vector<int>(n); });
//   MPI_Ialltoall(...);          // Called on all ranks, or, after an error, on none.
//
// The body can make collective calls that agree themselves. Their error is already the same on all
// ranks and is passed on. If one rank fails before such a call, its agreement at the end of the
// body is matched by the agreement in that call on the other ranks.
//
// Rule: work that can fail on one rank, including every allocation, is in such a body, and never
// between an agreement and the MPI call that follows it on all ranks. A rank that failed there
// would leave the other ranks waiting in the MPI call.
template <class Body, class Describe>
auto collectively(Communicator& comm, std::string_view what, Body&& body, Describe&& describe) {
  std::optional<Error> error;
  std::optional<decltype(body())> result;
  std::string text;
  try {
    result.emplace(std::forward<Body>(body)());
    text = std::forward<Describe>(describe)(*result);
  } catch (...) {
    error = caughtError();
    if (error->isAgreed())
      throw;
  }
  agree(comm, error, what, text);
  return std::move(*result);
}

// Runs a body on every rank and agrees on its outcome only.
template <class Body>
auto collectively(Communicator& comm, Body&& body) {
  return collectively(comm, "", std::forward<Body>(body),
                      [](const auto&) { return std::string(); });
}

// Collective. Throws TENON_ERR_COLLECTIVE on all ranks unless `describe` returns the same text on
// all.
template <class Describe>
void agreeOnText(Communicator& comm, std::string_view what, Describe&& describe) {
  collectively(
      comm, what, [] { return true; },
      [&](bool) -> std::string { return std::forward<Describe>(describe)(); });
}

// Agreement after long work, such as on a shared file: these calls wait for all ranks without a
// time limit.

// Collective. Throws on all ranks the error of the lowest rank that has one.
void agreeWithoutLimit(Communicator& comm, const std::optional<Error>& mine);
// Collective. Throws TENON_ERR_COLLECTIVE on all ranks unless all pass the same text.
void agreeWithoutLimit(Communicator& comm, std::string_view what, const std::string& text);

// Collective. Returns the text of rank `from`; the texts of other ranks are ignored. Throws
// TENON_ERR_MEMORY on all ranks if one has no memory for it.
std::string broadcastText(Communicator& comm, const std::string& text, int from);

// Collective. Reduces each number over all ranks, with MPI_SUM or MPI_MAX.
void reduceNumbers(const Communicator& comm, std::vector<std::uint64_t>& numbers, MPI_Op op);

} // namespace tenon
