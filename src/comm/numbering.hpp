// SPDX-License-Identifier: BSD-2-Clause
// Numbering of mesh nodes: replaces the user's ids by row numbers. The nodes that a rank owns get
// consecutive rows in the order in which the rank lists them, rank by rank. For example, rank 0
// owns the ids {70, 12} and rank 1 owns {35}: their rows are 70 -> 0, 12 -> 1 and 35 -> 2, and the
// cuts are 0, 2, 3. If rank 1 wants the id 12, a ghost that rank 0 owns, numberRows() returns its
// row 1. rowsById() returns the rows in the order of the ids: 1, 2, 0, of which rank 0 gets the
// first two and rank 1 the third.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

#include <vector>

namespace tenon {

struct Numbering {
  std::vector<Index> cuts;   // First row of each rank, and the total number of rows.
  std::vector<Index> wanted; // Rows of the ids that this rank has requested, in their order.
};

// The rank that stores the directory entry of an id: a hash, which spreads ids of any pattern
// evenly.
int directoryRankOf(Index id, int ranks);

// Numbers the owned ids of all ranks, and finds the rows of the wanted ids, which other ranks own.
// Collective. Memory on a rank is proportional to its own lists and its share of a directory that
// is distributed by hash. Throws TENON_ERR_LAYOUT on all ranks, with the id and the ranks, if an id
// is owned twice, or a wanted id is not owned.
Numbering numberRows(Communicator& comm, const std::vector<Index>& owned,
                     const std::vector<Index>& wanted);

// Sorts the rows of all ranks by id, and returns entries cuts[rank] to cuts[rank + 1] of the sorted
// list of rows. `first` is the row of this rank's first owned id. All ids must be distinct.
// Collective; a rank stores only its own lists and one number per rank.
std::vector<Index> rowsById(Communicator& comm, const std::vector<Index>& owned, Index first,
                            const std::vector<Index>& cuts);

} // namespace tenon
