// SPDX-License-Identifier: BSD-2-Clause
// What the launcher promised. mpiexec or srun of another MPI than the program's starts every process as a world of
// its own, without a word; but it says in the environment how many there are to be.
#pragma once

#include "comm/mpi.hpp"
#include "sys/types.hpp"

#include <functional>
#include <optional>
#include <string>

namespace tenon {

struct LaunchedRanks {
  std::string variable; // that says so
  Index ranks = 0;
  bool isFirst = true; // whether this process is the first of them
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;
// None if the program was started alone, or by a launcher that says nothing.
std::optional<LaunchedRanks> launchedRanks(const Environment& environment);

// What rank 0 prints of a world of this size; "" if the launcher promised that, or nothing.
std::string unexpectedWorld(const std::optional<LaunchedRanks>& launched, Index world);
// Of MPI_COMM_WORLD and this process's environment. A world that MPI_Comm_spawn has made is not asked.
void warnOfUnexpectedWorld();
// Throws TENON_ERR_MPI unless there are -tenon_ranks ranks, if that is given.
void checkRankCount(Index ranks);

} // namespace tenon
