// SPDX-License-Identifier: BSD-2-Clause
// What the launcher of a job promised, and what it gave: two checks at initialisation that warn of
// a job that runs, but not as it was meant. mpiexec or srun of another MPI than the program's
// starts every process as a world of its own, without a word, but says in the environment how many
// there are to be. And a launcher that is not told how many threads a rank may have lets each start
// as many as there are CPUs.
#pragma once

#include "comm/communicator.hpp"
#include "comm/memory/node.hpp"
#include "comm/mpi.hpp"
#include "sys/types.hpp"

#include <functional>
#include <optional>
#include <string>

namespace tenon {

// The ranks that the launcher says it has started.
struct LaunchedRanks {
  std::string variable; // the environment variable that says so
  Index ranks = 0;
  bool isFirst = true; // whether this process is the first of them
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;
// None if the program was started alone, or by a launcher that says nothing.
std::optional<LaunchedRanks> launchedRanks(const Environment& environment);

// What rank 0 prints about a world of this size; "" if the launcher promised that size, or nothing.
std::string unexpectedWorld(const std::optional<LaunchedRanks>& launched, Index world);
// Prints it for MPI_COMM_WORLD and the environment of this process. A world that MPI_Comm_spawn has
// made is not checked.
void warnOfUnexpectedWorld();
// Throws TENON_ERR_MPI unless there are -tenon_ranks ranks, if that is given.
void checkRankCount(Index ranks);

// More threads than CPUs. Kernels then wait at the ends of parallel regions for threads that do not
// run, and take many times as long. That happens to whoever starts several ranks on a node and does
// not say how many threads each may have: the library's own loops then keep to a rank's share of
// the CPUs, and the user is told of the others.

// The ranks of one node: their number, their OpenMP threads (of all, and the most that one has),
// and the CPUs that at least one of them may run on; 0 where that is unknown.
struct NodeLoad {
  int ranks = 1;
  Index threads = 1;
  int mostThreads = 1;
  int cpus = 0;
};

// Whether some rank has several threads and all ranks together have more than there are CPUs. Ranks
// of one thread each that outnumber the CPUs are what was requested.
bool isOversubscribed(const NodeLoad& load);
// The threads of each rank with which there are no more than CPUs, where that is possible.
int threadShare(const NodeLoad& load);
// The line for the user about an oversubscribed node, whose own loops are limited or not.
std::string oversubscription(const NodeLoad& load, bool isLimited);
// Limits this rank's loops to its share of an oversubscribed node, unless the user has set a number
// of threads, and prints the line about the node of rank 0, on rank 0. Collective, with the node of
// each rank.
void heedOversubscription(const Communicator& comm, const Node& node);

} // namespace tenon
