// SPDX-License-Identifier: BSD-2-Clause
// Sparse exchange, for set-up: each rank sends lists of numbers to some ranks, without knowing from
// which ranks it will receive lists. The cost grows with the number of messages of a rank, not with
// the number of ranks.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

#include <map>
#include <vector>

namespace tenon {

// The list for, or from, each rank; this rank can be included.
using SparseMessages = std::map<int, std::vector<Index>>;

// Returns the lists sent to this rank. Collective. An error is the same on all ranks.
SparseMessages sparseExchange(Communicator& comm, SparseMessages sends);

} // namespace tenon
