// SPDX-License-Identifier: BSD-2-Clause
// Times a repartition: an array of 512 x 512 x 64 float64 changes from parts of dimension 0 to
// parts of dimension 1. It is compared with a memcpy of the bytes of a rank, with three ways to do
// it with MPI alone (slab_exchange.hpp), and with the transpose of FFTW-MPI.
//
//   mpiexec -n 2 tests/bench/repartition
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "bench/slab_exchange.hpp"
#ifdef TENON_BENCH_FFTW
#include "bench/fftw_peer.hpp"
#endif

#include <algorithm>
#include <cstring>
#include <deque>

namespace tenon::bench {
namespace {

constexpr int kRows = 512, kColumns = 512, kInner = 64;
// The targets: at most this multiple of the time of
//   kLibraryCopy, kCallerCopy   a memcpy, for arrays of the library, and of the user
//   kFftw                       the transpose of FFTW-MPI, for arrays of the library
//   kByHand                     the fastest of the ways by hand, for arrays of the user
// Those for arrays of the user hold on two ranks.
constexpr Target kLibraryCopy{1.2}, kFftw{0.3}, kCallerCopy{1.5}, kByHand{0.9};

using Values = std::vector<double>;

// The values of a part; all elements of the array have different values.
Values values(Span rows, Span columns) {
  Values all;
  all.reserve(std::size_t(rows.count) * columns.count * kInner);
  for (int i = 0; i < rows.count; ++i)
    for (int j = 0; j < columns.count; ++j)
      for (int k = 0; k < kInner; ++k)
        all.push_back((double(rows.begin + i) * kColumns + columns.begin + j) * kInner + k);
  return all;
}

struct Repartition {
  Repartition(MPI_Comm comm, const Values& value, std::size_t results, Memory whose)
      : from(makeLayout(comm, {kRows, kColumns, kInner}, "S0")),
        to(makeLayout(comm, {kRows, kColumns, kInner}, "S1")),
        arrays(comm, value.size() + results, whose) {
    require(TenonLinearOpCreateConversion(from, to, TENON_FLOAT64, op.out()));
    require(TenonDTensorCreate(from, TENON_FLOAT64, x.out()));
    require(TenonDTensorCreate(to, TENON_FLOAT64, y.out()));
    if (whose != Memory::Library) {
      require(TenonDTensorPlaceArray(x, arrays.data(), nullptr, nullptr, nullptr, 0));
      require(
          TenonDTensorPlaceArray(y, arrays.data() + value.size(), nullptr, nullptr, nullptr, 0));
    }
    std::copy(value.begin(), value.end(), arrayOf<double>(x, TENON_FLOAT64));
  }
  void apply() { require(TenonLinearOpApply(op, x, y)); }

  LayoutHandle from, to;
  OpHandle op;
  TensorHandle x, y;
  UserArray arrays;
};

void addTenon(Race& race, MPI_Comm comm, Repartition& work, const Values& want,
              const std::string& method, bool bind) {
  if (bind)
    require(TenonLinearOpBind(work.op, work.x, work.y));
  // The first call also opens the lanes between ranks (linop/carriers/node_carrier.hpp). The second
  // one, whose values are checked, is like those that are timed.
  work.apply();
  work.apply();
  const double* y = arrayOf<double>(work.y, TENON_FLOAT64);
  requireEqual(comm, method, Values(y, y + want.size()), want);
  race.add(method, [&] { work.apply(); });
}

void addByHand(Race& race, MPI_Comm comm, SlabExchange& exchange, const Values& x, Values& y,
               const Values& want) {
  const auto add = [&](const std::string& method, auto run) {
    std::fill(y.begin(), y.end(), -1);
    (exchange.*run)(x.data(), y.data());
    requireEqual(comm, method, y, want);
    race.add(method, [&, run] { (exchange.*run)(x.data(), y.data()); });
  };
  add("MPI_Alltoallw", &SlabExchange::allToAll);
  add("Isend of subarrays", &SlabExchange::sendSubarrays);
  add("pack + Isend", &SlabExchange::packAndSend);
}

#ifdef TENON_BENCH_FFTW
void addFftw(Race& race, MPI_Comm comm, FftwSlabs& slabs, const Values& x, const Values& want) {
  std::copy(x.begin(), x.end(), slabs.input());
  slabs.run();
  requireEqual(comm, "FFTW", Values(slabs.output(), slabs.output() + want.size()), want);
  race.add("FFTW-MPI transpose", [&] { slabs.run(); });
}
#endif

void printAll(const Race& race, int ranks) {
  for (const char* method : {"Apply library", "bound library"}) {
    race.print(method, "library", "memcpy", kLibraryCopy);
    race.print(method, "library", "FFTW-MPI transpose", kFftw);
  }
  const std::vector<std::string> byHand{"MPI_Alltoallw", "Isend of subarrays", "pack + Isend"};
  const auto ofTwo = [&](Target target) {
    return ranks == 2 ? std::optional(target) : std::nullopt;
  };
  for (const char* memory : {"caller", "shared"})
    for (const char* how : {"Apply ", "bound "}) {
      const std::string method = std::string(how) + memory;
      race.print(method, memory, "memcpy", ofTwo(kCallerCopy));
      for (const std::string& peer : byHand)
        race.print(method, memory, peer, peer == race.best(byHand) ? ofTwo(kByHand) : std::nullopt);
    }
}

void run() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const Values x = values(partOf(kRows, ranks, rank), {0, kColumns});
  const Values want = values({0, kRows}, partOf(kColumns, ranks, rank));
  Values y(want.size());
  printHead(comm);
  Race race(comm, "repartition 512x512x64 S0 to S1");
  std::deque<Repartition> works;
  for (const bool bind : {false, true})
    for (const Memory whose : kMemories)
      addTenon(race, comm, works.emplace_back(comm, x, want.size(), whose), want,
               std::string(bind ? "bound " : "Apply ") + nameOf(whose), bind);
  SlabExchange exchange(comm, kRows, kColumns, kInner);
  addByHand(race, comm, exchange, x, y, want);
#ifdef TENON_BENCH_FFTW
  FftwSlabs slabs(comm, kRows, kColumns, kInner);
  addFftw(race, comm, slabs, x, want);
#endif
  race.add("memcpy", [&] { std::memcpy(y.data(), x.data(), x.size() * sizeof(double)); });
  race.timeByDistance();
  race.eachDistance([&] { printAll(race, ranks); });
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
