// SPDX-License-Identifier: BSD-2-Clause
// Collective calls that create or set up an object end with one agreement: either all ranks
// succeed, or all fail with the same error, so that every rank with a valid handle fails alike.
#pragma once

#include "comm/communicator.hpp"
#include "sys/error.hpp"

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tenon {

// Collective. Throws on all ranks the error of the lowest rank that has one. Throws
// TENON_ERR_TIMEOUT naming the absent ranks if some do not arrive within -tenon_agree_timeout
// seconds.
void agree(Communicator& comm, const std::optional<Error>& mine);

// Collective. Throws TENON_ERR_COLLECTIVE on all ranks unless all pass the same text; `what` names
// it in the message.
void agreeOnText(Communicator& comm, std::string_view what, const std::string& text);

// Runs a body on every rank and agrees on its outcome. The body may make collective calls that
// agree themselves: their error is common already and passes as it is; and a rank that fails before
// such a call meets the others in the agreement in which they are.
template <class Body>
auto collectively(Communicator& comm, Body&& body) {
  std::optional<Error> error;
  std::optional<decltype(body())> result;
  try {
    result.emplace(std::forward<Body>(body)());
  } catch (const Error& e) {
    if (e.isAgreed())
      throw;
    error = e;
  } catch (const std::bad_alloc&) {
    error = Error(TENON_ERR_MEMORY, "out of memory");
  }
  agree(comm, error);
  return std::move(*result);
}

} // namespace tenon
