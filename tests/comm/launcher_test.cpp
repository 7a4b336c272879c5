// SPDX-License-Identifier: BSD-2-Clause
// Tests the warning about a launcher that has started another number of ranks than MPI has:
// environment variables of the test are passed to launchedRanks() in place of those of the process.
#include "comm/session/launcher.hpp"

#include "support/world.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tenon {
namespace {

using Variables = std::map<std::string, std::string>;

std::string warning(const Variables& variables, Index world) {
  return unexpectedWorld(launchedRanks([&](const std::string& name) -> std::optional<std::string> {
                           const auto found = variables.find(name);
                           return found == variables.end() ? std::nullopt
                                                           : std::optional(found->second);
                         }),
                         world);
}

TEST(Launcher, IsBelievedWhereItPromisesAnotherWorld) {
  EXPECT_EQ("", warning({}, 1));
  EXPECT_EQ("", warning({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}, 4));
  // If srun --mpi=pmix starts a program built with MPICH, there are four worlds of one rank. Only
  // the process that is rank 0 for the launcher prints the warning.
  const std::string said = warning({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}, 1);
  EXPECT_NE(said.find("has 1 rank, but the launcher started 4 (SLURM_STEP_NUM_TASKS)"), said.npos)
      << said;
  EXPECT_EQ("", warning({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}}, 1));
  EXPECT_NE("", warning({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}}, 1));
  EXPECT_NE("", warning({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}, 1));
}

TEST(Launcher, OfInnermostCounts) {
  // mpiexec starts one daemon on each node by srun, so srun's variables count the daemons.
  // SLURM_NTASKS alone belongs to the allocation and says nothing about a launch.
  EXPECT_EQ("", warning({{"SLURM_STEP_NUM_TASKS", "2"}, {"OMPI_COMM_WORLD_SIZE", "8"}}, 8));
  EXPECT_EQ("", warning({{"SLURM_NTASKS", "4"}}, 1));
  EXPECT_EQ("", warning({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_HET_SIZE", "2"}}, 6));
  EXPECT_EQ("", warning({{"SLURM_STEP_NUM_TASKS", "none"}}, 1));
}

TEST(Launcher, OptionMakesItAnError) {
  EXPECT_NO_THROW(checkRankCount(3));
  options().set("-tenon_ranks", "4");
  EXPECT_NO_THROW(checkRankCount(4));
  try {
    checkRankCount(1);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(TENON_ERR_MPI, error.code());
    EXPECT_NE(error.text().find("runs on 1 rank, but -tenon_ranks is 4"), std::string::npos)
        << error.text();
  }
  options().clear();
}

} // namespace
} // namespace tenon
