// SPDX-License-Identifier: BSD-2-Clause
// usage: write_until_killed FOLDER SEED Used by kills.sh, which runs it again and again in one
// folder. It reads the latest checkpoint of the folder, then trains and writes a checkpoint after
// each step, until one rank is killed at a random moment; SEED determines rank and moment. The file
// FOLDER/done has the step of the last checkpoint whose write was complete. The checkpoint that is
// read must be valid and not older than that, and its optimizer must have made as many steps as its
// name says. With SEED 0 it only reads and checks.
#include "training_run.hpp"

#include "comm/session/session.hpp"

#include <csignal>
#include <cstdio>
#include <fstream>

namespace {

using namespace tenon;

constexpr std::uint64_t kMaxMicroseconds = 1000000;
constexpr Index kNoFile = -1;

// Starts a child process that kills this process at a random moment within one second.
void endAtRandom(std::uint64_t seed) {
  if (fork() != 0)
    return;
  usleep(static_cast<useconds_t>(bitsAt(seed, 1, 0) % kMaxMicroseconds));
  kill(getppid(), SIGKILL);
  _exit(0);
}

int run(const std::string& folder, std::uint64_t seed) {
  test::TrainingRun training(test::world(), {"S0,B", "adam"});
  const Index found = training.checkpoint().readLatest(folder).value_or(kNoFile);
  const int rank = test::world()->rank();
  Index done = kNoFile;
  std::ifstream(folder + "/done") >> done;
  if (found < done || (found >= 0 && found != training.optimizer().steps())) {
    std::printf("rank %d: found step %lld, but step %lld was written\n", rank, (long long)found,
                (long long)done);
    return 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("continues from step %lld\n", (long long)found);
  if (seed == 0)
    return 0;
  if (static_cast<std::uint64_t>(rank) ==
      bitsAt(seed, 2, 0) % static_cast<std::uint64_t>(test::world()->size()))
    endAtRandom(seed);
  for (;;) {
    training.step();
    const Index step = training.optimizer().steps();
    training.checkpoint().writeStep(folder, step);
    if (rank == 0) {
      std::ofstream(folder + "/done.part") << step << "\n";
      std::filesystem::rename(folder + "/done.part", folder + "/done");
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3)
    return 2;
  tenon::initialize(&argc, &argv, MPI_COMM_NULL, "");
  int status = 1;
  try {
    status = run(argv[1], std::stoull(argv[2]));
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  tenon::finalize();
  return status;
}
