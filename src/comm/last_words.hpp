// SPDX-License-Identifier: BSD-2-Clause
// Ranks that end the program with the same fatal error print it once. Each tells all others a digest
// of its error, listens for half a second, or until it has heard all, and the lowest of those that
// fail alike speaks. Nobody aborts before those that it has heard of could have spoken.
#pragma once

#include "comm/communicator.hpp"
#include "sys/handler.hpp"

namespace tenon {

// Not collective.
FatalShare shareOf(const Communicator& comm, const std::string& text);
// Between the words and the abort: waits, a second at most, if others are still to speak, as those heard of
// in shareOf(), or because another rank prints this one's error.
void awaitLastWords(bool isSpokenFor);

} // namespace tenon
