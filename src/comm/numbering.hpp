// SPDX-License-Identifier: BSD-2-Clause
// Numbering of mesh nodes: the user's ids become row numbers. The nodes that a rank owns get
// consecutive rows in the order in which it lists them, rank by rank.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

#include <vector>

namespace tenon {

struct Numbering {
  std::vector<Index> cuts;   // First row of each rank, and the total number of rows.
  std::vector<Index> wanted; // Rows of the wanted ids, in their order.
};

// The rank that stores the directory entry of an id: a hash, which spreads ids of any pattern
// evenly.
int directoryRankOf(Index id, int ranks);

// Numbers the owned ids of all ranks. Collective. Memory on a rank is proportional to its own lists
// and its share of a directory that is distributed by hash. Throws TENON_ERR_LAYOUT on all ranks if
// an id is owned twice, or a wanted id is not owned, with the id and the ranks.
Numbering numberRows(Communicator& comm, const std::vector<Index>& owned,
                     const std::vector<Index>& wanted);

// The rows of all ranks sorted by id; this rank gets rows cuts[rank] to cuts[rank + 1] of that
// order. `first` is the row of its first owned id. The ids of all ranks must be distinct.
// Collective; a rank stores only its own lists and one number per rank.
std::vector<Index> rowsById(Communicator& comm, const std::vector<Index>& owned, Index first,
                            const std::vector<Index>& cuts);

} // namespace tenon
