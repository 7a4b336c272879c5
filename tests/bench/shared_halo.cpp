// SPDX-License-Identifier: BSD-2-Clause
// Times a small network (a closure model of a solver) with wider halos: six periodic 3 x 3
// convolutions with tanh in between, in float64, 4 channels at both ends and 8 in between, on the
// same number of cells per rank. One halo exchange per convolution is compared with one for two,
// three and all six convolutions (setting halo_depth), for an evaluation as in a solver's step and
// for one with its adjoint, by shared memory and by messages. It prints the number of messages of
// rank 0, and minimum and median time.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/shared_halo
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "comm/communicator.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/host_view.hpp"
#include "layer/networks/network.hpp"
#include "support/layers.hpp"
#include "sys/log/log.hpp"
#include "sys/log/stopwatch.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon::bench {
namespace {

constexpr int kConvolutions = 6;
constexpr Index kEnds = 4, kBetween = 8;
constexpr Index kDepths[] = {1, 2, 3, kConvolutions};

struct Closure {
  Closure(const CommPtr& comm, const Layout& field, Index depth)
      : network(test::newLayer(comm, "sequential")), x(tensor(comm, field)), y(tensor(comm, field)),
        dy(tensor(comm, field)), dx(tensor(comm, field)) {
    network->setDataType(TENON_FLOAT64);
    network->set("halo_depth", depth);
    for (int i = 0; i < kConvolutions; ++i) {
      const std::vector<Window> around(2, {.kernel = 3, .padLow = 1, .padHigh = 1});
      const auto conv = test::newConv(comm, i == 0 ? kEnds : kBetween,
                                      i + 1 == kConvolutions ? kEnds : kBetween, around);
      conv->setText("boundary", "periodic");
      appendLayer(*network, conv);
      if (i + 1 < kConvolutions)
        appendLayer(*network, test::newPointwise(comm, "tanh"));
    }
    network->setUp(field);
    network->initialize(1, 0);
    fillUniform(*x, /*seed=*/1, /*stream=*/1, -1, 1);
    fillUniform(*dy, /*seed=*/1, /*stream=*/2, -1, 1);
  }
  static Ref<DTensor> tensor(const CommPtr& comm, const Layout& layout) {
    return makeRef<DTensor>(comm, layout, TENON_FLOAT64);
  }

  void evaluate() {
    network->setTraining(false);
    network->apply(*x, *y);
  }
  void withAdjoint() {
    network->setTraining(true);
    network->apply(*x, *y);
    network->applyAdjoint(*dy, dx.get());
  }

  Ref<Layer> network;
  Ref<DTensor> x, y, dy, dx;
};

template <class Run>
Index messagesOf(Run&& run) {
  static const int event = logEvent("SharedHalo");
  logEnable(true);
  Index messages = 0;
  {
    const LogScope scope(event);
    run();
    messages = logTotalsOfOpenScope().messages;
  }
  logEnable(false);
  return messages;
}

bool areNear(const DTensor& got, const DTensor& want) {
  const HostView<const double> a(got), b(want);
  for (Index i = 0; i < got.localElements(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-10))
      return false;
  return true;
}

// Returns the seconds of the slowest rank.
template <class Run>
double secondsOf(const CommPtr& comm, int calls, Run&& run) {
  run();
  MPI_Barrier(comm->mpi());
  const Stopwatch watch;
  for (int call = 0; call < calls; ++call)
    run();
  const double ownSeconds = watch.seconds() / calls;
  double slowest = ownSeconds;
  MPI_Allreduce(&ownSeconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm->mpi());
  return slowest;
}

void measure(const CommPtr& comm, Index cells, const char* transport) {
  const int ranks = comm->size(), columns = ranks > 2 ? 2 : 1, calls = cells > 32 ? 4 : 16;
  require(TenonOptionsSet("-tenon_conversion_transport", transport));
  const Layout field({.shape = {1, kEnds, cells * (ranks / columns), cells * columns},
                      .grid = Grid::make({ranks / columns, columns}),
                      .properties = parseProperties("S2,S3")});
  std::vector<std::unique_ptr<Closure>> all;
  for (const Index depth : kDepths)
    all.push_back(std::make_unique<Closure>(comm, field, depth));
  for (const bool adjoint : {false, true}) {
    const auto run = [&](Closure& one) { adjoint ? one.withAdjoint() : one.evaluate(); };
    std::vector<Index> messages;
    for (const auto& one : all) {
      run(*one);
      const bool isRight =
          areNear(*one->y, *all[0]->y) && (!adjoint || areNear(*one->dx, *all[0]->dx));
      requireEqual(comm->mpi(), "a shared halo", {isRight ? 1.0 : 0.0}, {1.0});
      messages.push_back(messagesOf([&] { run(*one); }));
    }
    std::vector<std::vector<double>> seconds(all.size());
    for (int round = 0; round < kRepetitions; ++round)
      for (std::size_t i = 0; i < all.size(); ++i)
        seconds[i].push_back(secondsOf(comm, calls, [&] { run(*all[i]); }));
    std::string line = fmt::format(
        "| {:<26} |", fmt::format("{}^2, {}{}", cells, transport, adjoint ? ", adjoint" : ""));
    for (std::size_t i = 0; i < all.size(); ++i)
      line += fmt::format(" {:>3} {:>9.1f} {:>9.1f} |", messages[i], 1e6 * quantile(seconds[i], 0),
                          1e6 * quantile(seconds[i], 0.5));
    if (comm->rank() == 0)
      fmt::print("{}\n", line);
  }
}

void run() {
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  if (comm->rank() == 0)
    fmt::print(
        "{} ranks; of 1, 2, 3 and {} that share: messages, least and median us of {} turns\n",
        comm->size(), kConvolutions, kRepetitions);
  for (const char* transport : {"shared", "messages"})
    for (const Index cells : {8, 16, 32, 64})
      measure(comm, cells, transport);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
