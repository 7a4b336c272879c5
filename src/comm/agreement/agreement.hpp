// SPDX-License-Identifier: BSD-2-Clause
// Collective calls that create or set up an object end with one agreement: either all ranks
// succeed, or all fail with the same error, so that every rank with a valid handle fails alike.
#pragma once

#include "comm/communicator.hpp"
#include "sys/errors/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

// Collective. Throws on all ranks the error of the lowest rank that has one; and, as
// TENON_ERR_COLLECTIVE, if `text` differs between ranks, where `what` names it in the message.
// Throws TENON_ERR_TIMEOUT, naming the absent ranks, if some do not arrive within
// -tenon_agree_timeout seconds, also on those that arrive later (vote.hpp says how); after that the
// communicator is out of step and refused. It needs no memory before the ranks know the outcome, so that
// a rank that has none tells the others; in place of words that it cannot keep it throws
// TENON_ERR_MEMORY.
void agree(Communicator& comm, const std::optional<Error>& mine, std::string_view what = "",
           const std::string& text = "");

// Collective. Throws TENON_ERR_COLLECTIVE on all ranks unless all pass the same text. Waits for all ranks, however long that takes.
void agreeWithoutLimit(Communicator& comm, std::string_view what, const std::string& text);

// Runs a body on every rank and agrees on its outcome, and on the text that `describe` makes of its
// result. The body may make collective calls that agree themselves: their error is common already
// and passes as it is; and a rank that fails before such a call meets the others in the agreement
// in which they are.
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

// The same where nothing but the outcome is to be agreed on.
template <class Body>
auto collectively(Communicator& comm, Body&& body) {
  return collectively(comm, "", std::forward<Body>(body),
                      [](const auto&) { return std::string(); });
}

// Collective. Throws TENON_ERR_COLLECTIVE on all ranks unless `describe` makes the same text on all.
template <class Describe>
void agreeOnText(Communicator& comm, std::string_view what, Describe&& describe) {
  collectively(
      comm, what, [] { return true; },
      [&](bool) -> std::string { return std::forward<Describe>(describe)(); });
}

// What ranks need that share a file: to agree on the outcome of work that may take long, and to hear
// from one of them what it has read.

// Collective; waits for all ranks, however long that takes. Throws on all ranks the error of the lowest
// rank that has one.
void agreeWithoutLimit(Communicator& comm, const std::optional<Error>& mine);

// Collective. The text of rank `from`; that of the others is not read. Throws TENON_ERR_MEMORY on all ranks if one
// cannot keep it.
std::string broadcastText(Communicator& comm, const std::string& text, int from);

// Collective. Each number over all ranks: their sum, or the largest.
void reduceNumbers(const Communicator& comm, std::vector<std::uint64_t>& numbers, MPI_Op op);

} // namespace tenon
