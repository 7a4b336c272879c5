// SPDX-License-Identifier: BSD-2-Clause
// Repeats one small exchange by messages, for callgrind to count its instructions, which no load of
// the machine changes but by the number of looks of a wait. Arguments: the exchange, its number of
// fields, and how often:
//
//   fill   ghosts of a mesh of 100^2 nodes in strips: 200 numbers on two ranks, in place
//   add    its adjoint, which adds them at their owners
//   fillblocks, addblocks   the same by a block diagonal with an operator for each field
//   sum    P -> B of 16 numbers
//
//   export TENON_OPTIONS='-tenon_conversion_transport messages'
//   count="valgrind --tool=callgrind --toggle-collect=repeat* --callgrind-out-file=count.%p"
//   mpiexec -n 2 $count build/bench/tests/bench/exchange_count add 1 500
//   callgrind_annotate --threshold=100 count.PID
//
// The functions of this program are those of the library, without the calls in C; divide by 500.
#include "bench/torus.hpp"
#include "comm/session/session.hpp"
#include "linop/exchange/block_diagonal.hpp"
#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "linop/exchange/make_index_map.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>

// The function that callgrind is told to look for.
[[gnu::noinline]] void repeat(int times, const std::function<void()>& exchange) {
  for (int i = 0; i < times; ++i)
    exchange();
}

namespace tenon::bench {
namespace {

constexpr int kBefore = 4; // Exchanges that are not counted.

void count(int times, const std::function<void()>& exchange) {
  for (int i = 0; i < kBefore; ++i)
    exchange();
  MPI_Barrier(MPI_COMM_WORLD);
  repeat(times, exchange);
}

void countSums(const CommPtr& comm, int times) {
  const GridPtr grid = Grid::make({comm->size()});
  const auto layoutOf = [&](const char* property) {
    return Layout({.shape = {16}, .grid = grid, .properties = parseProperties(property)});
  };
  const Layout from = layoutOf("P"), to = layoutOf("B");
  const LinearOpRef op =
      makeConversion(comm, from, to, TENON_FLOAT64, MovementPolicy::fromOptions());
  const auto x = makeRef<DTensor>(comm, from, TENON_FLOAT64),
             y = makeRef<DTensor>(comm, to, TENON_FLOAT64);
  count(times, [&] { op->apply(*x, *y); });
}

void countGhosts(const CommPtr& comm, Sense sense, bool byBlocks, int fields, int times) {
  const Torus torus(MPI_COMM_WORLD, 100, /*isScattered=*/false);
  const IndexMapPtr map =
      makeIndexMapFromIds(*comm, torus.owned, {torus.ids.begin(), torus.ids.end()});
  const auto [owned, ghosted] = map->layoutsOf({0, 1});
  const CarrierPolicy policy = CarrierPolicy::fromOptions();
  const auto op = makeRef<IndexMapOp>(comm, map, owned, TENON_FLOAT64, policy);
  std::deque<std::vector<double>> arrays;
  std::deque<Ref<DTensor>> tensors;
  std::vector<const DTensor*> x;
  std::vector<DTensor*> y;
  for (int field = 0; field < fields; ++field) {
    double* const array = arrays.emplace_back(torus.listed(), 0.0).data();
    const auto place = [&](const Layout& layout, Index ghosts) {
      DTensor& tensor = *tensors.emplace_back(makeRef<DTensor>(comm, layout, TENON_FLOAT64));
      tensor.placeArray(array, {1, 1}, {0, 0}, {ghosts, 0}, /*readOnly=*/false);
      return &tensor;
    };
    DTensor* const small = place(owned, 0);
    DTensor* const large =
        place(sense == Sense::Forward ? ghosted : ghosted.dual(), torus.listed() - torus.owned);
    x.push_back(sense == Sense::Forward ? small : large);
    y.push_back(sense == Sense::Forward ? large : small);
  }
  if (byBlocks) {
    const LinearOpRef blocks =
        blockDiagonal(std::vector<LinearOpRef>(fields, LinearOpRef(op)), policy);
    return count(times, [&] { blocks->applyMany(sense, x, y); });
  }
  if (fields > 1)
    return count(times, [&] { op->applyMany(sense, x, y); });
  count(times, [&] {
    if (sense == Sense::Forward)
      op->apply(*x[0], *y[0]);
    else
      op->applyAdjoint(*x[0], *y[0]);
  });
}

void run(const std::string& exchange, int fields, int times) {
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  if (exchange == "sum")
    countSums(comm, times);
  else
    countGhosts(comm, exchange.starts_with("add") ? Sense::Adjoint : Sense::Forward,
                exchange.ends_with("blocks"), fields, times);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("arguments: fill|add|fillblocks|addblocks|sum FIELDS TIMES\n", stderr);
    return 1;
  }
  MPI_Init(&argc, &argv);
  tenon::initialize(&argc, &argv, MPI_COMM_WORLD, "");
  tenon::bench::run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
  tenon::finalize();
  MPI_Finalize();
}
