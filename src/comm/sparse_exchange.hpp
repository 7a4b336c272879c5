// SPDX-License-Identifier: BSD-2-Clause
// Sparse exchange, for set-up: each rank sends lists to some ranks, and no rank knows from which
// ranks it will receive. The cost grows with the number of a rank's messages, not with the number
// of ranks.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

#include <map>
#include <vector>

namespace tenon {

// By rank; can include this rank.
using SparseMessages = std::map<int, std::vector<Index>>;

// Returns the lists sent to this rank. Collective. An error is the same on all ranks.
SparseMessages sparseExchange(Communicator& comm, SparseMessages sends);

} // namespace tenon
