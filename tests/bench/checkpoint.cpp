// SPDX-License-Identifier: BSD-2-Clause
// Times a checkpoint: all ranks write 256 MiB (or argument 2, in MiB) to a folder (argument 1) and
// read it again, in turns with the program dd, which writes the same size to the same folder. Both
// are timed until the data is on the disk.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/checkpoint /data
#include "bench/race.hpp"

#include <tenon.h>

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace tenon::bench {
namespace {

constexpr int kRounds = 9;
constexpr double kTarget = 0.85; // of dd's rate

// Returns the seconds of the slowest rank.
template <class Run>
double seconds(Run run) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  run();
  double took = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

void runDd(const std::string& path, TenonInt mebibytes) {
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    status =
        std::system(fmt::format("dd if=/dev/zero of='{}' bs=1M count={} conv=fsync 2>/dev/null",
                                path, mebibytes)
                        .c_str());
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status != 0)
    TenonAbort(TENON_ERR_FILE);
}

void measure(const std::string& folder, TenonInt mebibytes) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const TenonInt shape[2] = {mebibytes, TenonInt(1) << 18}; // rows of a MiB
  TenonPartition line = nullptr;
  TenonLayout layout = nullptr;
  TenonDTensor x = nullptr;
  TenonCheckpoint checkpoint = nullptr;
  TenonCallAbort(TenonPartitionCreate(MPI_COMM_WORLD, 1, &ranks, &line));
  TenonCallAbort(TenonLayoutCreateSharded(line, 2, shape, "S0", &layout));
  TenonCallAbort(TenonDTensorCreate(layout, TENON_FLOAT32, &x));
  TenonCallAbort(TenonDTensorFillConstant(x, 1.5));
  TenonCallAbort(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint));
  TenonCallAbort(TenonObjectSetFromOptions((TenonObject)checkpoint));
  TenonCallAbort(TenonCheckpointAddTensor(checkpoint, x, "x"));
  const std::string file = folder + "/checkpoint.h5", other = folder + "/dd";
  std::vector<double> writes, dds, reads;
  for (int round = 0; round <= kRounds; ++round) {
    const double written =
        seconds([&] { TenonCallAbort(TenonCheckpointWrite(checkpoint, file.c_str())); });
    const double read =
        seconds([&] { TenonCallAbort(TenonCheckpointRead(checkpoint, file.c_str())); });
    const double copied = seconds([&] { runDd(other, mebibytes); });
    if (round == 0)
      continue; // the first finds new files
    writes.push_back(written);
    reads.push_back(read);
    dds.push_back(copied);
  }
  const auto rate = [&](const std::vector<double>& times) {
    return static_cast<double>(mebibytes) / quantile(times, 0.5);
  };
  const double ratio = rate(writes) / rate(dds);
  if (rank == 0)
    fmt::print("checkpoint of {} MiB on {} ranks, medians of {} rounds:\n"
               "  write {:.0f} MiB/s, dd conv=fsync {:.0f} MiB/s: {:.2f} of it (target {}: {})\n"
               "  read and verified {:.0f} MiB/s\n",
               mebibytes, ranks, kRounds, rate(writes), rate(dds), ratio, kTarget,
               ratio >= kTarget ? "met" : "missed", rate(reads));
  TenonCallAbort(TenonCheckpointDestroy(&checkpoint));
  TenonCallAbort(TenonDTensorDestroy(&x));
  TenonCallAbort(TenonLayoutDestroy(&layout));
  TenonCallAbort(TenonPartitionDestroy(&line));
  if (rank == 0) {
    std::remove(file.c_str());
    std::remove(other.c_str());
  }
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, nullptr));
  tenon::bench::measure(argc > 1 ? argv[1] : ".", argc > 2 ? std::atoll(argv[2]) : 256);
  TenonCallAbort(TenonFinalize());
  return 0;
}
