// SPDX-License-Identifier: BSD-2-Clause
// The event logs of all ranks as one table.
#pragma once

#include "comm/communicator.hpp"

namespace tenon {

// Rank 0 prints the table. Collective.
void printLogView(Communicator& comm);

} // namespace tenon
