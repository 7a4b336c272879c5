// SPDX-License-Identifier: BSD-2-Clause
// Times the halo exchange in place of a grid of n^3 cells with 16 float64 channels, split in its
// slowest dimension, on an array with ghosts in memory of the library or of the user, which can be
// shared with the ranks of the node. It is compared with its limit (a memcpy of the bytes that a
// rank receives and two ping-pongs of 8 bytes), with persistent messages written by hand, and with
// PETSc's DMLocalToLocal, all on arrays of the same shape. In the rows "changed", each method first
// writes the cells that it sends, as a solver does in each step, so they are in the caches of the
// processor that wrote them.
//
//   mpiexec -n 2 tests/bench/halo
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "bench/slab_halo.hpp"
#ifdef TENON_BENCH_PETSC
#include "bench/dmda_peer.hpp"
#endif

#include <fmt/format.h>

#include <cstring>

namespace tenon::bench {
namespace {

// The targets on two ranks, for cells that did not change: at most 1.5 times the limit, on arrays
// of the library, and 0.65 times PETSc, on arrays of the user.
constexpr Target kLibrary{1.5}, kCaller{0.65};

// A ping-pong between the two ranks of each pair.
void pingPong(MPI_Comm comm, const Slabs& s) {
  const int peer = s.rank ^ 1; // of the pairs 0 and 1, 2 and 3, ...; the last rank can have none
  double ball = 0;
  for (int i = 0; i < 2 && peer < s.ranks; ++i) {
    if (s.rank < peer)
      MPI_Send(&ball, 1, MPI_DOUBLE, peer, 0, comm);
    MPI_Recv(&ball, 1, MPI_DOUBLE, peer, 0, comm, MPI_STATUS_IGNORE);
    if (s.rank > peer)
      MPI_Send(&ball, 1, MPI_DOUBLE, peer, 0, comm);
  }
}

template <class Run>
void addChecked(Race& race, MPI_Comm comm, const Slabs& s, const std::string& method, double* data,
                bool changes, Run run) {
  const auto step = [&s, data, changes, run] {
    if (changes)
      s.change(data);
    run();
  };
  // The first step also opens the lanes between ranks (linop/carriers/node_carrier.hpp). The second
  // one, whose values are checked, is like those that are timed.
  step();
  step();
  requireEqual(comm, method, Values(data, data + s.size()), s.values(true));
  race.add(method, step);
}

void printAll(const Race& race, const Slabs& s, bool changes) {
  for (const Memory whose : kMemories)
    for (const char* how : {"Apply ", "bound "}) {
      const char* memory = nameOf(whose);
      const std::string method = std::string(how) + memory;
      const bool library = whose == Memory::Library, targeted = s.ranks == 2 && !changes;
      if (!changes)
        race.print(method, memory, "memcpy + 2 ping-pongs",
                   library && targeted ? std::optional(kLibrary) : std::nullopt);
      race.print(method, memory, "PETSc DMLocalToLocal",
                 !library && targeted ? std::optional(kCaller) : std::nullopt);
      race.print(method, memory, "persistent messages");
    }
}

void measure(MPI_Comm comm, int cells, int width, bool changes) {
  const Slabs s(comm, cells, width);
  Race race(comm,
            fmt::format("halo {}^3 x {}, width {}{}", cells, kChannels, width,
                        changes ? ", changed" : ""),
            /*calls=*/cells > 64 ? 10 : 30);
  std::vector<std::unique_ptr<Halo>> halos;
  for (const bool bind : {false, true})
    for (const Memory whose : kMemories) {
      Halo& halo = *halos.emplace_back(std::make_unique<Halo>(comm, s, whose));
      if (bind)
        require(TenonLinearOpBind(halo.op, halo.x, halo.y));
      addChecked(race, comm, s, std::string(bind ? "bound " : "Apply ") + nameOf(whose), halo.data,
                 changes, [&halo] { halo.apply(); });
    }
  Persistent persistent(comm, s);
  addChecked(race, comm, s, "persistent messages", persistent.values.data(), changes,
             [&] { persistent.run(); });
#ifdef TENON_BENCH_PETSC
  DmdaHalo dmda(comm, cells, kChannels, width);
  const Values values = s.values(false);
  std::copy(values.begin(), values.end(), dmda.array());
  addChecked(race, comm, s, "PETSc DMLocalToLocal", dmda.array(), changes, [&] { dmda.run(); });
#endif
  const Values source(s.ghostBytes() / sizeof(double), 1);
  Values target(source.size());
  race.add("memcpy + 2 ping-pongs", [&] {
    std::memcpy(target.data(), source.data(), s.ghostBytes());
    pingPong(comm, s);
  });
  race.timeByDistance();
  race.eachDistance([&] { printAll(race, s, changes); });
}

void run() {
  printHead(MPI_COMM_WORLD);
  for (const bool changes : {false, true})
    for (const int cells : {64, 128})
      for (const int width : {1, 2})
        measure(MPI_COMM_WORLD, cells, width, changes);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
