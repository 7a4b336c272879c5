// SPDX-License-Identifier: BSD-2-Clause
// Compares the memory that a plan predicts for each process with the memory that it uses: the
// growth of the process's anonymous and shared memory after some training steps, as counted by the
// kernel.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/plan_memory NETWORK BATCH OPTIMIZER
//     [TRANSPORT [LIMIT]]
//
// NETWORK is alexnet, resnet50, unet3d or fno2d; TRANSPORT is that of conversions: shared or
// messages. LIMIT is the memory limit of the plan in MiB, because of which layers can recompute
// values. It prints one line in MiB: predicted, measured, and their ratio; then the library's own
// counts on rank 0 without the optimizer: values saved for adjoints, memory that layers share in
// turns, parameters, messages, scratch.
#include "comm/mpi.hpp"
#include "comm/session/session.hpp"
#include "dtensor/fill.hpp"
#include "layer/networks/network_file.hpp"
#include "plan/layer_plan.hpp"
#include "support/world.hpp"
#include "sys/options/options.hpp"
#include "train/optimizer.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tenon::bench {
namespace {

constexpr int kSteps = 3;

struct Subject {
  const char* name;
  Shape sample;
};
const Subject kSubjects[] = {{"alexnet", {3, 227, 227}},
                             {"resnet50", {3, 224, 224}},
                             {"unet3d", {3, 48, 48, 48}},
                             {"fno2d", {12, 64, 64}}};

constexpr const char* kSegments = "/dev/shm/tenon."; // the memory that ranks share, a file for each

// Bytes of this process in the mappings of all shared segments.
double segmentsMapped() {
  std::ifstream maps("/proc/self/smaps");
  double kilobytes = 0;
  bool isSegment = false;
  for (std::string line, key; std::getline(maps, line);) {
    double value = 0;
    std::istringstream parallelizations(line);
    if (parallelizations >> key && key.back() != ':')
      isSegment = line.find(kSegments) != std::string::npos;
    else if (isSegment && key == "Pss:" && parallelizations >> value)
      kilobytes += value;
  }
  return 1024 * kilobytes;
}

// Bytes of the pages that the system has allocated for the segments of this process, used or not.
double segmentsTaken() {
  constexpr double kBlock = 512; // bytes; the unit of st_blocks
  double bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(file.path(), gone);
    if (struct stat status{};
        target.starts_with(kSegments) && stat(file.path().c_str(), &status) == 0)
      bytes += kBlock * static_cast<double>(status.st_blocks);
  }
  return bytes;
}

// Bytes of this process that are not in a file; of memory that MPI shares among processes, its
// part.
double ownMemory() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  double kilobytes = 0;
  for (std::string name; rollup >> name;)
    if (double value = 0; (name == "Pss_Anon:" || name == "Pss_Shmem:") && rollup >> value)
      kilobytes += value;
  return 1024 * kilobytes - segmentsMapped() + segmentsTaken();
}

double largestOf(double ofThisRank) {
  double largest = ofThisRank;
  MPI_Allreduce(&ofThisRank, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

void run(const Subject& subject, Index batch, const std::string& optimizerType,
         const std::string& transport, double limit) {
  const CommPtr comm = test::world();
  const double before = ownMemory();
  const auto plan = makeRef<LayerPlan>(
      readNetwork(comm, fmt::format("{}/{}.json", TENON_TEST_NETWORKS, subject.name)), batch);
  plan->set("input_shape", subject.sample);
  plan->set("optimizer_state", Index(optimizerType == "adam" ? 2 : 1));
  plan->set("memory_limit", static_cast<Index>(limit * 0x1p20));
  plan->setUp();
  Layer& network = plan->layer();
  network.initialize(1, 0);
  const auto tensor = [&](const Layout& layout) {
    return makeRef<DTensor>(comm, layout, network.dataType());
  };
  const Layout output = network.outputLayout(plan->inputLayout());
  const auto x = tensor(plan->inputLayout()), y = tensor(output), dy = tensor(output.dual());
  fillUniform(*x, /*seed=*/1, /*stream=*/1, -1, 1);
  fillUniform(*dy, /*seed=*/1, /*stream=*/2, -1e-3, 1e-3);
  const Ref<Optimizer> optimizer = makeOptimizer(optimizerType, Ref<Layer>::share(&network));
  optimizer->set("learning_rate", 1e-6);
  for (int step = 0; step < kSteps; ++step) {
    network.apply(*x, *y);
    network.applyAdjoint(*dy, nullptr);
    optimizer->step();
  }
  MPI_Barrier(comm->mpi());
  const double measured = largestOf(ownMemory() - before), mib = 0x1p20;
  const LayerPlan::Memory held = plan->memory();
  if (comm->rank() == 0)
    fmt::print(
        "{:<9} {:>5} {:>3} {:<5} {:<9} {:>8.1f} {:>8.1f} {:>6.3f}   {:.1f} {:.1f} {:.1f} {:.1f} "
        "{:.1f}\n",
        subject.name, batch, comm->size(), optimizerType, transport, plan->found().bytes / mib,
        measured / mib, plan->found().bytes / measured, double(held.saved) / mib,
        double(held.shared) / mib, double(held.parameters) / mib, double(held.messages) / mib,
        double(held.scratch) / mib);
  if (comm->rank() == 0 && !plan->found().recomputed.empty())
    fmt::print("          {}\n", recomputedText(plan->found()));
}

void runAs(int argc, char** argv) {
  if (argc < 4)
    throw Error(TENON_ERR_ARG, "pass a network, a batch and an optimizer: alexnet 64 adam");
  const std::string transport = argc > 4 ? argv[4] : "auto";
  options().set("-tenon_conversion_transport", transport);
  for (const Subject& subject : kSubjects)
    if (subject.name == std::string(argv[1]))
      return run(subject, std::atoi(argv[2]), argv[3], transport,
                 argc > 5 ? std::atof(argv[5]) : 0);
  throw Error(TENON_ERR_ARG, fmt::format("there is no network '{}'", argv[1]));
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  using namespace tenon;
  initialize(&argc, &argv, MPI_COMM_NULL, "");
  int code = 0;
  try {
    bench::runAs(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "plan_memory: {}\n", error.text());
    code = 1;
  }
  finalize();
  return code;
}
