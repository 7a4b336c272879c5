// SPDX-License-Identifier: BSD-2-Clause
// Messages to ranks that do not expect them: an exchange in which no rank knows from whom it will
// hear. Its work grows with the number of a rank's messages, not with the number of ranks. For
// set-up.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

#include <map>
#include <vector>

namespace tenon {

// By rank; this one may be among them.
using SparseMessages = std::map<int, std::vector<Index>>;

// Returns what the others have sent here. Collective. Throws on all ranks alike.
SparseMessages sparseExchange(Communicator& comm, SparseMessages sends);

} // namespace tenon
