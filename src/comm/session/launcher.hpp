// SPDX-License-Identifier: BSD-2-Clause
// Two checks at initialisation, which warn of a job that runs in an unintended way:
// - Number of ranks: if mpiexec or srun belongs to another MPI library than the program, each
//   process silently has an MPI_COMM_WORLD of size 1. The launcher's environment variables have the
//   intended number of ranks.
// - Number of threads: by default every rank starts as many OpenMP threads as there are CPUs, also
//   if several ranks run on the node.
#pragma once

#include "comm/communicator.hpp"
#include "comm/memory/node.hpp"
#include "comm/mpi.hpp"
#include "sys/types.hpp"

#include <functional>
#include <optional>
#include <string>

namespace tenon {

// The ranks that the launcher has started, according to the environment.
struct LaunchedRanks {
  std::string variable; // The environment variable with that number.
  Index ranks = 0;
  bool isFirst = true; // True if this process is the first of them.
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;
// Empty if the program was started without a launcher, or by one that sets no variable.
std::optional<LaunchedRanks> launchedRanks(const Environment& environment);

// The text that rank 0 prints about a world of this size, or "" if the launcher started that many
// ranks or is unknown.
std::string unexpectedWorld(const std::optional<LaunchedRanks>& launched, Index world);
// Prints that text for MPI_COMM_WORLD and the environment of this process. A world made by
// MPI_Comm_spawn is not checked.
void warnOfUnexpectedWorld();
// Throws TENON_ERR_MPI unless the number of ranks is -tenon_ranks, if that option is set.
void checkRankCount(Index ranks);

// More threads than CPUs: at the end of parallel regions kernels then wait for threads that are not
// running, and take many times as long. This happens if several ranks are started on a node without
// a number of threads per rank. The library then limits its own loops to a rank's share of the
// CPUs, and warns about other libraries.

// The ranks of one node: their number, their OpenMP threads (the sum, and the largest number of a
// rank), and the CPUs on which at least one of them can run, or 0 if unknown.
struct NodeLoad {
  int ranks = 1;
  Index threads = 1;
  int mostThreads = 1;
  int cpus = 0;
};

// True if some rank has several threads and the ranks together have more threads than CPUs. Ranks
// of one thread each that outnumber the CPUs are intended.
bool isOversubscribed(const NodeLoad& load);
// The number of threads per rank with which threads do not outnumber CPUs, at least 1.
int threadShare(const NodeLoad& load);
// The warning about an oversubscribed node; `isLimited` if the library's loops have been limited.
std::string oversubscription(const NodeLoad& load, bool isLimited);
// Limits this rank's loops to its share of an oversubscribed node, unless the user has set a number
// of threads. Rank 0 prints the warning about its node. Collective over the node of each rank.
void heedOversubscription(const Communicator& comm, const Node& node);

} // namespace tenon
