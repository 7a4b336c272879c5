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
#include "bench/slab_exchange.hpp"
#ifdef TENON_BENCH_PETSC
#include "bench/dmda_peer.hpp"
#endif

#include <fmt/format.h>

#include <cstring>

namespace tenon::bench {
namespace {

constexpr int kChannels = 16;
constexpr Target kLibrary{1.5}, kCaller{0.65};

using Values = std::vector<double>;

// This rank's slabs of the grid, with the ghosts inside the domain.
struct Slabs {
  Slabs(MPI_Comm comm, int n, int ghostWidth) : cells(n), width(ghostWidth) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    own = partOf(n, ranks, rank);
    low = rank > 0 ? width : 0;
    high = rank < ranks - 1 ? width : 0;
  }
  std::size_t slab() const { return std::size_t(cells) * cells * kChannels; }
  std::size_t size() const { return (low + own.count + high) * slab(); }
  std::size_t ghostBytes() const { return (low + high) * slab() * sizeof(double); }
  // Returns the values of the array, with the right values in the ghosts or with -1.
  Values values(bool complete) const {
    Values all(size(), -1);
    for (int i = 0; i < low + own.count + high; ++i)
      if (complete || (i >= low && i < low + own.count))
        for (std::size_t j = 0; j < slab(); ++j)
          all[i * slab() + j] = double(own.begin - low + i) * double(slab()) + double(j);
    return all;
  }

  // Writes the cells that are sent, with the values that they have already.
  void change(double* data) const {
    static volatile double one = 1;
    const double factor = one;
    const auto scale = [&](std::size_t first, int slabs) {
      for (std::size_t i = first * slab(); i < (first + slabs) * slab(); ++i)
        data[i] *= factor;
    };
    scale(low, low);
    scale(low + own.count - high, high);
  }

  int cells, width, rank = 0, ranks = 0, low = 0, high = 0;
  Span own{};
};

LayoutHandle ghosted(TenonLayout plain, int width) {
  LayoutHandle layout;
  require(TenonLayoutCreateLike(plain, layout.out()));
  require(TenonLayoutSetHalo(layout, 0, width, width, TENON_BOUNDARY_NONE, TENON_BOUNDARY_NONE));
  require(TenonLayoutSetUp(layout));
  return layout;
}

struct Halo {
  Halo(MPI_Comm comm, const Slabs& s, Memory whose)
      : from(makeLayout(comm, {s.cells, s.cells, s.cells, kChannels}, "S0")),
        to(ghosted(from, s.width)), array(comm, s.size(), whose) {
    require(TenonLinearOpCreateHalo(from, to, TENON_FLOAT64, op.out()));
    require(TenonDTensorCreate(to, TENON_FLOAT64, memory.out()));
    require(TenonDTensorCreate(from, TENON_FLOAT64, x.out()));
    require(TenonDTensorCreate(to, TENON_FLOAT64, y.out()));
    data = whose == Memory::Library ? arrayOf<double>(memory, TENON_FLOAT64) : array.data();
    const TenonInt low[] = {s.low, 0, 0, 0}, high[] = {s.high, 0, 0, 0};
    for (TenonDTensor tensor : {TenonDTensor(x), TenonDTensor(y)})
      require(TenonDTensorPlaceArray(tensor, data + s.low * s.slab(), nullptr, low, high, 0));
    const Values values = s.values(false);
    std::copy(values.begin(), values.end(), data);
  }
  void apply() { require(TenonLinearOpApply(op, x, y)); }

  LayoutHandle from, to;
  OpHandle op;
  TensorHandle memory, x, y;
  UserArray array;
  double* data = nullptr;
};

// The exchange written by hand. Slabs are contiguous, so persistent messages need no derived types.
class Persistent {
public:
  Persistent(MPI_Comm comm, const Slabs& s) : values(s.values(false)) {
    const int count = static_cast<int>(s.width * s.slab());
    const auto exchange = [&](int peer, std::size_t ghosts, std::size_t owned) {
      MPI_Recv_init(values.data() + ghosts * s.slab(), count, MPI_DOUBLE, peer, 0, comm,
                    &requests_.emplace_back());
      MPI_Send_init(values.data() + owned * s.slab(), count, MPI_DOUBLE, peer, 0, comm,
                    &requests_.emplace_back());
    };
    requests_.reserve(4);
    if (s.low > 0)
      exchange(s.rank - 1, 0, s.low);
    if (s.high > 0)
      exchange(s.rank + 1, s.low + s.own.count, s.low + s.own.count - s.width);
  }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;
  ~Persistent() {
    for (MPI_Request& request : requests_)
      MPI_Request_free(&request);
  }
  void run() {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  Values values;

private:
  std::vector<MPI_Request> requests_;
};

// A ping-pong between the two ranks of each pair.
void pingPong(MPI_Comm comm, const Slabs& s) {
  const int peer = s.rank ^ 1;
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
            cells > 64 ? 10 : 30);
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
