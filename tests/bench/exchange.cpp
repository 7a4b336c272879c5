// SPDX-License-Identifier: BSD-2-Clause
// Times exchanges by messages, and by the shared memory of a node, beside those of PETSc and beside
// MPI calls written by hand. Parts of the benchmark:
//
//   rows   ghosts of a mesh, in strips (two ranks: one message of two runs of rows) or scattered:
//          copies to ghosts (fill), and sums at the owners (add)
//   fields four fields of one number for each node of strips, in one exchange (by one operator, and
//          by a block diagonal of four) and in four, and by hand in one packed message
//   halo   the halo of a grid in the caller's memory, in place; "shared array" is memory that
//          the ranks of the node share
//   sum    a sum over all ranks, P -> B, of 16 numbers
//
// Open MPI sends a contiguous message above its eager limit (4 KiB on a node) in two steps, with a
// system call, whoever calls it. This is a property of two ranks of one node, not of a network:
// repeat the program with a larger limit, and without the system call, to see what is left.
//
//   mpiexec -n 2 tests/bench/exchange
//   OMPI_MCA_btl_vader_eager_limit=65536 mpiexec -n 2 tests/bench/exchange
//   OMPI_MCA_btl_vader_single_copy_mechanism=none mpiexec -n 2 tests/bench/exchange
//   mpiexec -n 2 tests/bench/exchange 11 rows           only this part, 11 rounds instead of 31
#include "bench/hand_exchange.hpp"
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "bench/slab_halo.hpp"
#include "bench/torus.hpp"
#ifdef TENON_BENCH_PETSC
#include "bench/dmda_peer.hpp"
#include "bench/sf_peer.hpp"
#endif

#include <tenon/index_map.h>

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace tenon::bench {
namespace {

constexpr Target kRows{1.0}, kSmallRows{1.2}, kHalo{1.0}, kSum{1.2}, kShared{1.0}, kFourFields{1.3},
    kSharedLarge{0.7};
constexpr TenonInt kSmallRow = 1, kLargeRow = 32; // numbers

int rounds = kRepetitions;

// Operators that are created while it exists use this transport.
class ByTransport {
public:
  explicit ByTransport(const char* transport) { set(transport); }
  ~ByTransport() { set("auto"); }
  ByTransport(const ByTransport&) = delete;
  ByTransport& operator=(const ByTransport&) = delete;

private:
  static void set(const char* transport) {
    require(TenonOptionsSet("-tenon_conversion_transport", transport));
  }
};

// A field with its ghosts in one array of the library.
struct Fill {
  tools::IndexMap nodes;
  LayoutHandle plain, ghosted, dual;
  OpHandle op, adjoint;
  TensorHandle memory, x, u, du;
  double* array = nullptr;

  Fill(MPI_Comm comm, const Torus& torus, TenonInt columns, const char* transport, bool isBound) {
    const TenonInt shape[] = {0, columns};
    const ByTransport by(transport);
    require(TenonIndexMapCreateFromIds(comm, torus.owned, torus.listed(), torus.ids.data(),
                                       nodes.out()));
    require(TenonIndexMapGetLayouts(nodes, 2, shape, plain.out(), ghosted.out()));
    require(TenonLayoutGetDual(ghosted, dual.out()));
    require(TenonLinearOpCreateIndexMap(nodes, plain, TENON_FLOAT64, op.out()));
    require(TenonLinearOpCreateAdjoint(op, adjoint.out()));
    require(TenonDTensorCreate(ghosted, TENON_FLOAT64, memory.out()));
    array = arrayOf<double>(memory, TENON_FLOAT64);
    require(TenonDTensorCreate(plain, TENON_FLOAT64, x.out()));
    require(TenonDTensorCreate(ghosted, TENON_FLOAT64, u.out()));
    require(TenonDTensorCreate(dual, TENON_FLOAT64, du.out()));
    const TenonInt behind[] = {torus.listed() - torus.owned, 0};
    require(TenonDTensorPlaceArray(x, array, nullptr, nullptr, nullptr, 0));
    for (TenonDTensor tensor : {TenonDTensor(u), TenonDTensor(du)})
      require(TenonDTensorPlaceArray(tensor, array, nullptr, nullptr, behind, 0));
    if (isBound) {
      require(TenonLinearOpBind(op, x, u));
      require(TenonLinearOpBind(adjoint, du, x));
    }
  }
  void fill() { require(TenonLinearOpApply(op, x, u)); }
  void add() { require(TenonLinearOpApplyAdjoint(op, du, x)); }
};

Values valuesOf(const Torus& torus, TenonInt columns, bool complete) {
  Values values(std::size_t(torus.listed() * columns), -1);
  for (TenonInt i = 0; i < (complete ? torus.listed() : torus.owned); ++i)
    for (TenonInt c = 0; c < columns; ++c)
      values[std::size_t(i * columns + c)] = double(torus.ids[i] * columns + c);
  return values;
}

// All methods for one torus, with an array each.
struct RowMethods {
  MPI_Comm comm;
  const Torus& torus;
  TenonInt columns;
  std::deque<Fill> fills;
  std::deque<Values> arrays;
  HandExchange hand;
#ifdef TENON_BENCH_PETSC
  StarForest forest;
#endif

  RowMethods(MPI_Comm given, const Torus& on, TenonInt count)
      : comm(given), torus(on), columns(count),
        hand(given, int(on.owned), on.ghostRanks, on.ghostRows, int(count))
#ifdef TENON_BENCH_PETSC
        ,
        forest(given, int(on.owned), on.ghostRanks, on.ghostRows, int(count))
#endif
  {
    for (const char* transport : {"messages", "auto"})
      for (const bool isBound : {false, true})
        fills.emplace_back(comm, torus, columns, transport, isBound);
  }
  void addTo(Race& race, bool adds) {
    const char* names[] = {"messages", "messages, bound", "shared memory", "shared, bound"};
    for (std::size_t i = 0; i < fills.size(); ++i)
      add(
          race, names[i], fills[i].array, adds, [this, i](double*) { fills[i].fill(); },
          [this, i](double*) { fills[i].add(); });
    add(
        race, "by hand", newArray(), adds, [this](double* a) { hand.fill(a); },
        [this](double* a) { hand.add(a); });
    if (!adds)
      add(race, "MPI datatypes", newArray(), adds, [this](double* a) { hand.fillByTypes(a); }, {});
#ifdef TENON_BENCH_PETSC
    add(
        race, "PetscSF", newArray(), adds, [this](double* a) { forest.fill(a); },
        [this](double* a) { forest.add(a); });
#endif
  }

private:
  using Method = std::function<void(double*)>;
  double* newArray() {
    return arrays.emplace_back(std::size_t(torus.listed() * columns)).data();
  }
  void add(Race& race, const char* name, double* array, bool adds, const Method& fill,
           const Method& sum) {
    const Values before = valuesOf(torus, columns, /*complete=*/false),
                 after = valuesOf(torus, columns, /*complete=*/true);
    std::copy(before.begin(), before.end(), array);
    fill(array);
    requireEqual(comm, name, Values(array, array + after.size()), after);
    // The ghosts are 0; otherwise the sums would grow with each call.
    if (adds)
      std::fill(array + torus.owned * columns, array + torus.listed() * columns, 0.0);
    race.add(name, [method = adds ? sum : fill, array] { method(array); });
  }
};

void measureRows(MPI_Comm comm, const Torus& torus, TenonInt columns) {
  RowMethods methods(comm, torus, columns);
  for (const bool adds : {false, true}) {
    Race race(comm, fmt::format("{} {} x {}", adds ? "add" : "fill", torus.name(), columns), 20,
              rounds);
    methods.addTo(race, adds);
    race.timeByDistance();
    race.eachDistance([&] {
      for (const char* method : {"messages", "messages, bound"}) {
        race.print(method, "library", "PetscSF", columns == kSmallRow ? kSmallRows : kRows);
        race.print(method, "library", "by hand");
        if (!adds)
          race.print(method, "library", "MPI datatypes");
      }
      for (const char* method : {"shared memory", "shared, bound"})
        race.print(method, "library", "PetscSF", columns < kLargeRow ? kShared : kSharedLarge);
    });
  }
}

// Several fields with their ghosts. The operator of the first one is applied to all of them, or the
// block diagonal of the operators of all.
struct Fields {
  static constexpr int kCount = 4;
  std::deque<Fill> each;
  OpHandle blocks, blocksAdjoint;
  std::vector<TenonDTensor> x, u, du;

  Fields(MPI_Comm comm, const Torus& torus, const char* transport) {
    std::vector<TenonLinearOp> ops;
    for (int i = 0; i < kCount; ++i) {
      Fill& field = each.emplace_back(comm, torus, 1, transport, /*isBound=*/false);
      std::ranges::copy(valuesOf(torus, 1, /*complete=*/false), field.array);
      x.push_back(field.x);
      u.push_back(field.u);
      du.push_back(field.du);
      ops.push_back(field.op);
    }
    const ByTransport by(transport);
    require(TenonLinearOpCreateBlockDiagonal(kCount, ops.data(), blocks.out()));
    require(TenonLinearOpCreateAdjoint(blocks, blocksAdjoint.out()));
  }
  void fill() { fillBy(each[0].op); }
  void fillBy(TenonLinearOp op) { require(TenonLinearOpApplyMany(op, kCount, x.data(), u.data())); }
  void clearGhosts(const Torus& torus) {
    for (Fill& field : each)
      std::fill(field.array + torus.owned, field.array + torus.listed(), 0.0);
  }
  void add() { addBy(each[0].adjoint); }
  void addBy(TenonLinearOp adjoint) {
    require(TenonLinearOpApplyMany(adjoint, kCount, du.data(), x.data()));
  }
};

// The same by hand: the first field alone, and all of them in one message.
struct FieldsByHand {
  HandExchange one, all;
  std::deque<Values> arrays;
  std::vector<double*> each;

  FieldsByHand(MPI_Comm comm, const Torus& torus)
      : one(comm, int(torus.owned), torus.ghostRanks, torus.ghostRows, 1),
        all(comm, int(torus.owned), torus.ghostRanks, torus.ghostRows, 1, Fields::kCount),
        arrays(Fields::kCount, valuesOf(torus, 1, /*complete=*/false)) {
    for (Values& array : arrays)
      each.push_back(array.data());
  }
  void clearGhosts(const Torus& torus) {
    for (Values& array : arrays)
      std::fill(array.begin() + torus.owned, array.end(), 0.0);
  }
};

// "four fields" of the methods to be compared are one message a neighbour, "four calls" are four.
void raceFields(Race& race, Fields& together, Fields& apart, FieldsByHand& hand, bool adds) {
  race.add("one field", [&, adds] { adds ? apart.each[0].add() : apart.each[0].fill(); });
  race.add("four fields", [&, adds] { adds ? together.add() : together.fill(); });
  race.add("block diagonal", [&, adds] {
    adds ? together.addBy(together.blocksAdjoint) : together.fillBy(together.blocks);
  });
  race.add("four calls", [&, adds] {
    for (Fill& field : apart.each)
      adds ? field.add() : field.fill();
  });
  race.add("one by hand",
           [&, adds] { adds ? hand.one.add(hand.each[0]) : hand.one.fill(hand.each[0]); });
  race.add("four by hand", [&, adds] {
    adds ? hand.all.addTogether(hand.each) : hand.all.fillTogether(hand.each);
  });
}

void measureFields(MPI_Comm comm, const Torus& torus, const char* transport) {
  Fields together(comm, torus, transport), apart(comm, torus, transport);
  FieldsByHand hand(comm, torus);
  const Values after = valuesOf(torus, 1, /*complete=*/true);
  for (const TenonLinearOp op :
       {TenonLinearOp(together.each[0].op), TenonLinearOp(together.blocks)}) {
    together.clearGhosts(torus);
    together.fillBy(op);
    for (const Fill& field : together.each)
      requireEqual(comm, "four fields", Values(field.array, field.array + after.size()), after);
  }
  hand.all.fillTogether(hand.each);
  for (const Values& array : hand.arrays)
    requireEqual(comm, "four by hand", array, after);
#ifdef TENON_BENCH_PETSC
  StarForest forest(comm, int(torus.owned), torus.ghostRanks, torus.ghostRows, 1);
  std::deque<Values> arrays(Fields::kCount, Values(after.size()));
#endif
  for (const bool adds : {false, true}) {
    // The ghosts are 0; otherwise the sums would grow with each call.
    for (Fields* fields : {&together, &apart})
      fields->clearGhosts(torus);
    hand.clearGhosts(torus);
    Race race(comm,
              fmt::format("{} {}, {}", adds ? "add" : "fill", torus.name(),
                          *transport == 'm' ? "messages" : "shared memory"),
              20, rounds);
    raceFields(race, together, apart, hand, adds);
#ifdef TENON_BENCH_PETSC
    race.add("PetscSF, four", [&] {
      for (Values& array : arrays)
        adds ? forest.add(array.data()) : forest.fill(array.data());
    });
#endif
    race.timeByDistance();
    race.eachDistance([&] {
      race.print("four fields", "library", "one field", kFourFields);
      race.print("block diagonal", "library", "four fields");
      for (const char* peer : {"four calls", "PetscSF, four", "four by hand"})
        race.print("four fields", "library", peer);
      race.print("four by hand", "caller", "one by hand");
    });
  }
}

// In the rows "changed", each method first writes the cells that it sends, as a solver does.
void measureHalo(MPI_Comm comm, int cells, bool changes) {
  const Slabs s(comm, cells, 1);
  Race race(comm, fmt::format("halo {}^3 x {}{}", cells, kChannels, changes ? ", changed" : ""), 20,
            rounds);
  const auto add = [&](const std::string& method, double* data, const std::function<void()>& run) {
    run();
    run();
    requireEqual(comm, method, Values(data, data + s.size()), s.values(true));
    race.add(method, [&s, data, run, changes] {
      if (changes)
        s.change(data);
      run();
    });
  };
  std::deque<Halo> halos;
  for (const bool isBound : {false, true}) {
    const ByTransport by("messages");
    Halo& halo = halos.emplace_back(comm, s, Memory::Caller);
    if (isBound)
      require(TenonLinearOpBind(halo.op, halo.x, halo.y));
    add(isBound ? "messages, bound" : "messages", halo.data, [&halo] { halo.apply(); });
  }
  for (const Memory whose : {Memory::Caller, Memory::Shared}) {
    Halo& halo = halos.emplace_back(comm, s, whose);
    add(whose == Memory::Caller ? "shared memory" : "shared array", halo.data,
        [&halo] { halo.apply(); });
  }
  Persistent persistent(comm, s);
  add("by hand", persistent.values.data(), [&] { persistent.run(); });
#ifdef TENON_BENCH_PETSC
  DmdaHalo dmda(comm, cells, kChannels, s.width);
  const Values values = s.values(false);
  std::copy(values.begin(), values.end(), dmda.array());
  add("PETSc DMLocalToLocal", dmda.array(), [&] { dmda.run(); });
#endif
  race.timeByDistance();
  race.eachDistance([&] {
    for (const char* method : {"messages", "messages, bound", "shared memory", "shared array"}) {
      race.print(method, "caller", "PETSc DMLocalToLocal", kHalo);
      race.print(method, "caller", "by hand");
    }
  });
}

// A sum of a few numbers over all ranks.
struct Sum {
  LayoutHandle contributions, sums;
  OpHandle op;
  TensorHandle x, y;

  Sum(MPI_Comm comm, TenonInt count, const char* transport, bool isBound)
      : contributions(makeLayout(comm, {count}, "P")), sums(makeLayout(comm, {count}, "B")) {
    const ByTransport by(transport);
    require(TenonLinearOpCreateConversion(contributions, sums, TENON_FLOAT64, op.out()));
    require(TenonDTensorCreate(contributions, TENON_FLOAT64, x.out()));
    require(TenonDTensorCreate(sums, TENON_FLOAT64, y.out()));
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    for (TenonInt i = 0; i < count; ++i)
      arrayOf<double>(x, TENON_FLOAT64)[i] = double(i + 3 * rank);
    if (isBound)
      require(TenonLinearOpBind(op, x, y));
  }
  void apply() { require(TenonLinearOpApply(op, x, y)); }
};

void measureSum(MPI_Comm comm, TenonInt count) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Race race(comm, fmt::format("sum of {}", count), 20, rounds);
  Values contributions, sums(count);
  for (TenonInt i = 0; i < count; ++i)
    contributions.push_back(double(i + 3 * rank));
  const auto reduce = [&] {
    MPI_Allreduce(contributions.data(), sums.data(), int(count), MPI_DOUBLE, MPI_SUM, comm);
  };
  reduce();
  std::deque<Sum> ours;
  for (const char* transport : {"messages", "auto"})
    for (const bool isBound : {false, true}) {
      Sum& sum = ours.emplace_back(comm, count, transport, isBound);
      const std::string method = std::string(*transport == 'm' ? "messages" : "shared memory") +
                                 (isBound ? ", bound" : "");
      sum.apply();
      const double* y = arrayOf<double>(sum.y, TENON_FLOAT64);
      requireEqual(comm, method, {y, y + count}, sums);
      race.add(method, [&sum] { sum.apply(); });
    }
  race.add("MPI_Allreduce", reduce);
  race.timeByDistance();
  race.eachDistance([&] {
    for (const char* method :
         {"messages", "messages, bound", "shared memory", "shared memory, bound"})
      race.print(method, "library", "MPI_Allreduce", kSum);
  });
}

void run(const Selection& selected) {
  rounds = selected.rounds;
  const MPI_Comm comm = MPI_COMM_WORLD;
  printHead(comm, rounds);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  if (selected.has("rows") && ranks > 1) // else there are no ghosts
    for (const bool scattered : {false, true}) {
      const Torus torus(comm, scattered ? 60 : 100, scattered);
      for (const TenonInt columns : {1, 8, 32, 47})
        measureRows(comm, torus, columns);
    }
  if (selected.has("fields") && ranks > 1)
    for (const char* transport : {"messages", "auto"})
      measureFields(comm, Torus(comm, 100, /*isScattered=*/false), transport);
  if (selected.has("halo"))
    for (const bool changes : {false, true})
      for (const int cells : {16, 64})
        measureHalo(comm, cells, changes);
  if (selected.has("sum"))
    measureSum(comm, 16);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  using namespace tenon::bench;
  return benchmarkMain(argc, argv, [selected = Selection::of(argc, argv)] { run(selected); });
}
