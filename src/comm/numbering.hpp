// SPDX-License-Identifier: BSD-2-Clause
// Rows for nodes that a program names by numbers of its own: those that a rank owns become
// consecutive rows, in the order in which it lists them, rank by rank.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

#include <vector>

namespace tenon {

struct Numbering {
  std::vector<Index> cuts;   // the first row of each rank, and the number of rows
  std::vector<Index> wanted; // the rows of the wanted ids, in their order
};

// The rank among so many at which a directory looks an id up: a hash, so that ids of any kind
// spread evenly.
int directoryRankOf(Index id, int ranks);

// Numbers the owned ids of all ranks. Collective. No rank holds more than its own lists and its
// share of a directory, in which ids are found by a hash. Throws TENON_ERR_LAYOUT on all ranks
// alike if an id is owned twice, or a wanted one by nobody, with the id and the ranks.
Numbering numberRows(Communicator& comm, const std::vector<Index>& owned,
                     const std::vector<Index>& wanted);

// The rows of all ranks in the order of their ids, of which this rank gets those from cuts[rank] up
// to cuts[rank + 1]. `first` is the row of its first owned id, and the ids of all ranks are
// distinct. Collective; no rank holds more than its own lists and a number for each rank.
std::vector<Index> rowsById(Communicator& comm, const std::vector<Index>& owned, Index first,
                            const std::vector<Index>& cuts);

} // namespace tenon
