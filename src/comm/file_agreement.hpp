// SPDX-License-Identifier: BSD-2-Clause
// What ranks need that share a file: to agree on the outcome of work that may take long, and to hear
// from one of them what it has read.
#pragma once

#include "comm/agreement.hpp"

#include <cstdint>
#include <vector>

namespace tenon {

// Collective; waits for all ranks, however long that takes. Throws on all ranks the error of the lowest
// rank that has one.
void agreeWithoutLimit(Communicator& comm, const std::optional<Error>& mine);

// Collective. The text of rank `from`; that of the others is not read. Throws TENON_ERR_MEMORY on all ranks if one
// cannot keep it.
std::string broadcastText(Communicator& comm, const std::string& text, int from);

// Collective. Each number over all ranks: their sum, or the largest.
void reduceNumbers(const Communicator& comm, std::vector<std::uint64_t>& numbers, MPI_Op op);

} // namespace tenon
