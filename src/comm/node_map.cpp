// SPDX-License-Identifier: BSD-2-Clause
// Finds the node of each rank: each rank knows the ranks of its own node from their shared memory,
// and one all-gather tells the lowest of them to all ranks. The result is found once for a
// communicator.
#include "comm/node_map.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/per_communicator.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace tenon {

NodeMap::NodeMap(const std::vector<int>& firstOnNode) {
  std::map<int, int> numbers; // The node of each lowest rank.
  for (std::size_t rank = 0; rank < firstOnNode.size(); ++rank) {
    const auto [entry, isNew] =
        numbers.try_emplace(firstOnNode[rank], static_cast<int>(ranks_.size()));
    if (isNew)
      ranks_.emplace_back();
    nodeOf_.push_back(entry->second);
    ranks_[entry->second].push_back(static_cast<int>(rank));
  }
}

namespace {

// In place of a rank: the lowest rank on its node. All other elements are set by the all-gather.
std::vector<int> ownFirst(const Communicator& comm) {
  if (!comm.arena() && !comm.isAloneOnNode())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("transport \"node_aware\" is not available, since the ranks of a node "
                            "share no memory: {}; use auto or messages",
                            comm.whyNoArena()));
  std::vector<int> first(comm.size(), comm.rank());
  int lowest = comm.rank();
  for (int rank = 0; comm.arena() && rank < lowest; ++rank)
    if (comm.arena()->isOnNode(rank))
      lowest = rank;
  first[comm.rank()] = lowest;
  return first;
}

} // namespace

const NodeMap& nodesOf(const CommPtr& comm) {
  static PerCommunicator<std::optional<NodeMap>> maps;
  std::optional<NodeMap>& map = maps.of(comm);
  if (!map) {
    std::vector<int> first = collectively(*comm, [&] { return ownFirst(*comm); });
    checkMpi(
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, first.data(), 1, MPI_INT, comm->mpi()),
        "MPI_Allgather");
    map.emplace(first);
  }
  return *map;
}

} // namespace tenon
