// SPDX-License-Identifier: BSD-2-Clause
// Agreement between ranks. Collective calls that create or set up an object end with one: either
// all ranks succeed, or all fail with the same error, so that every rank with a valid handle fails
// alike. Work on a shared file, which may take long, ends with one that has no time limit.
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

// What ranks agree on: a text that must be the same on all, and what it says, for the message.
struct AgreedText {
  std::string what, text;
};

// Collective. Throws on all ranks the error of the lowest rank that has one; and, as
// TENON_ERR_COLLECTIVE, an error if `text` differs between ranks, where `what` names the text in
// the message. Throws TENON_ERR_TIMEOUT, naming the absent ranks, if some do not arrive within
// -tenon_agree_timeout seconds, also on those that arrive later (vote.hpp says how); after that the
// communicator is out of step and cannot be used. It needs no memory before the ranks know the
// outcome, so that a rank that has none can tell the others; the code is the same on all ranks,
// also on one that cannot keep the words.
void agree(Communicator& comm, const std::optional<Error>& mine, std::string_view what = "",
           const std::string& text = "");
// The same of several texts; the message names the first that differs.
void agree(Communicator& comm, const std::optional<Error>& mine, std::span<const AgreedText> said);

// Runs a body on every rank and agrees on its outcome, and on the text that `describe` makes of its
// result. The body can make collective calls that agree themselves: their error is common already
// and passes as it is. A rank that fails before such a call meets the others in the agreement in
// which they are. So all work of one rank that can fail, and each allocation can, belongs into such
// a body, and none of it between an agreement and a call of MPI that all ranks make after it: there
// a rank that fails would leave the others waiting.
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

// Runs a body on every rank and agrees on its outcome alone.
template <class Body>
auto collectively(Communicator& comm, Body&& body) {
  return collectively(comm, "", std::forward<Body>(body),
                      [](const auto&) { return std::string(); });
}

// Collective. Throws TENON_ERR_COLLECTIVE on all ranks unless `describe` makes the same text on
// all.
template <class Describe>
void agreeOnText(Communicator& comm, std::string_view what, Describe&& describe) {
  collectively(
      comm, what, [] { return true; },
      [&](bool) -> std::string { return std::forward<Describe>(describe)(); });
}

// Agreement after work that may take long, as with a shared file: these calls wait for all ranks,
// however long that takes.

// Collective. Throws on all ranks the error of the lowest rank that has one.
void agreeWithoutLimit(Communicator& comm, const std::optional<Error>& mine);
// Collective. Throws TENON_ERR_COLLECTIVE on all ranks unless all pass the same text.
void agreeWithoutLimit(Communicator& comm, std::string_view what, const std::string& text);

// Collective. Returns the text of rank `from`; the texts of the other ranks are not read. Throws
// TENON_ERR_MEMORY on all ranks if one cannot keep it.
std::string broadcastText(Communicator& comm, const std::string& text, int from);

// Collective. Reduces each number over all ranks, to the sum or to the largest.
void reduceNumbers(const Communicator& comm, std::vector<std::uint64_t>& numbers, MPI_Op op);

} // namespace tenon
