// SPDX-License-Identifier: BSD-2-Clause
// Compares the launcher's number of ranks, and the number of threads, with the job that runs. Both
// situations can be intended, so both are warnings, printed by one rank; -tenon_ranks makes the
// first an error.
#include "comm/session/launcher.hpp"

#include "sys/errors/error.hpp"
#include "sys/options/environment.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"
#include "sys/text/text.hpp"
#include "sys/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace tenon {

namespace {

// The variables of launchers, the innermost launcher first: mpiexec in a SLURM job inherits the
// variables of SLURM, and so do processes of MPI_Comm_spawn.
struct Launcher {
  const char *ranks, *rank; // Variables with the number of ranks, and with the process's rank.
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};
// Set in a job of several components, each of which has its own numbers.
constexpr const char* kSeveralComponents = "SLURM_HET_SIZE";

std::optional<Index> numberIn(const Environment& environment, const char* name) {
  const auto text = environment(name);
  Index number = 0;
  if (!text)
    return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool isNumber = error == std::errc() && end == text->data() + text->size();
  return isNumber ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<LaunchedRanks> launchedRanks(const Environment& environment) {
  if (environment(kSeveralComponents))
    return std::nullopt;
  for (const Launcher& launcher : kLaunchers)
    if (const auto ranks = numberIn(environment, launcher.ranks))
      return LaunchedRanks{.variable = launcher.ranks,
                           .ranks = *ranks,
                           .isFirst = numberIn(environment, launcher.rank).value_or(0) == 0};
  return std::nullopt;
}

std::string unexpectedWorld(const std::optional<LaunchedRanks>& launched, Index world) {
  if (!launched || launched->ranks == world || !launched->isFirst)
    return "";
  return fmt::format(
      "Tenon: MPI_COMM_WORLD has {}, but the launcher started {} ({}); program and launcher may "
      "belong to different MPIs: use mpiexec of the MPI that the program was built with, or srun "
      "--mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH); -tenon_ranks {} makes this an error\n",
      counted(world, "rank"), launched->ranks, launched->variable, launched->ranks);
}

void warnOfUnexpectedWorld() {
  MPI_Comm parent = MPI_COMM_NULL;
  checkMpi(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
  if (parent != MPI_COMM_NULL)
    return;
  int size = 0, rank = 0;
  checkMpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  checkMpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  if (rank == 0)
    printError(unexpectedWorld(launchedRanks(environment), size));
}

void checkRankCount(Index ranks) {
  const auto expected = options().findInt("", "ranks");
  if (expected && *expected != ranks)
    throw Error(TENON_ERR_MPI,
                fmt::format("the program runs on {}, but -tenon_ranks is {}; check that launcher "
                            "and program belong to the same MPI (srun --mpi=pmix for Open MPI, "
                            "--mpi=pmi2 for MPICH)",
                            counted(ranks, "rank"), *expected));
}

namespace {

NodeLoad loadOfNode(const Node& node) {
  NodeLoad load;
  load.ranks = node.size;
  const long long threads = openMpThreads();
  long long sum = 0, maximum = 0;
  checkMpi(MPI_Allreduce(&threads, &sum, 1, MPI_LONG_LONG, MPI_SUM, node.comm), "MPI_Allreduce");
  checkMpi(MPI_Allreduce(&threads, &maximum, 1, MPI_LONG_LONG, MPI_MAX, node.comm),
           "MPI_Allreduce");
  // Ranks can be bound to the same CPUs or to different ones, so the masks are united, then
  // counted.
  std::vector<std::uint64_t> cpus = allowedCpus();
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, cpus.data(), static_cast<int>(cpus.size()), MPI_UINT64_T,
                         MPI_BOR, node.comm),
           "MPI_Allreduce");
  load.threads = sum;
  load.mostThreads = static_cast<int>(maximum);
  for (const std::uint64_t word : cpus)
    load.cpus += std::popcount(word);
  return load;
}

} // namespace

bool isOversubscribed(const NodeLoad& load) {
  // No warning if a number is unknown.
  return load.cpus > 0 && load.mostThreads > 1 && load.threads > load.cpus;
}

int threadShare(const NodeLoad& load) {
  return std::max(1, load.cpus / load.ranks);
}

std::string oversubscription(const NodeLoad& load, bool isLimited) {
  const int share = threadShare(load);
  const std::string own =
      isLimited ? fmt::format("Tenon's own loops take {} a rank, but BLAS, oneDNN and the program "
                              "itself ",
                              counted(share, "thread"))
                : "";
  return fmt::format("Tenon: {} with {} in all for {}, on the node of rank 0{}{}will be slow; set "
                     "OMP_NUM_THREADS={}\n",
                     counted(load.ranks, "rank"), counted(load.threads, "OpenMP thread"),
                     counted(load.cpus, "CPU"), isLimited ? ": " : ", ", own, share);
}

void heedOversubscription(const Communicator& comm, const Node& node) {
  const NodeLoad load = loadOfNode(node);
  if (!isOversubscribed(load))
    return;
  const bool isLimited =
      options().getInt("", "threads") == 0 && !environment("OMP_NUM_THREADS").has_value();
  if (isLimited)
    setThreadLimit(threadShare(load));
  if (comm.rank() == 0)
    printError(oversubscription(load, isLimited));
}

} // namespace tenon
