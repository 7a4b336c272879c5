// SPDX-License-Identifier: BSD-2-Clause
// Times the computation of the schedule (the messages) of one rank, without MPI: of the rank in the
// middle of 8, 64, 512 and 4096, for halos of slabs and of blocks, and for the exchange of slabs in
// one dimension for slabs in another, in which all ranks are neighbours. The time should grow with
// the number of neighbours only, not with that of ranks: it prints the processor time per peer,
// relative to that at 64 ranks, the smallest number at which a block has all of its neighbours.
//
//   tests/bench/schedule_making
#include "bench/processor_time.hpp"
#include "geometry/layout/layout_draft.hpp"
#include "geometry/schedule/schedule.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon::bench {
namespace {

constexpr double kTarget = 1.5;         // times the time per peer at 64 ranks
constexpr int kCalls = 20, kBlock = 16; // elements of a part in each dimension
const std::vector<int> kRanks{8, 64, 512, 4096};

struct Change {
  Layout from, to;
  int rank;
};

Layout withHalos(const Layout& plain, int dims) {
  LayoutDraft draft(plain);
  for (int d = 0; d < dims; ++d)
    draft.setHaloWidths(d, 1, 1, Boundary::Zero, Boundary::Zero);
  return draft.build();
}

Layout slabs(int ranks, int dim) {
  return Layout({.shape = {Index(ranks) * kBlock, Index(ranks) * kBlock, kBlock},
                 .grid = Grid::make({ranks}),
                 .properties = {Property::shard(dim)}});
}

Change haloOfSlabs(int ranks) {
  const Layout plain = slabs(ranks, 0);
  return {plain, withHalos(plain, 1), ranks / 2};
}

Change haloOfBlocks(int ranks) {
  const int edge = static_cast<int>(std::lround(std::cbrt(ranks)));
  const Index elements = Index(edge) * kBlock;
  const GridPtr grid = Grid::make({edge, edge, edge});
  const Layout plain({.shape = {elements, elements, elements},
                      .grid = grid,
                      .properties = {Property::shard(0), Property::shard(1), Property::shard(2)}});
  return {plain, withHalos(plain, 3), grid->positionAt({edge / 2, edge / 2, edge / 2})};
}

Change exchangeOfSlabs(int ranks) {
  return {slabs(ranks, 0), slabs(ranks, 1), ranks / 2};
}

std::size_t peersOf(const Change& change) {
  const Schedule schedule = makeSchedule(change.from, change.to, change.rank);
  return schedule.sends.size() + schedule.receives.size();
}

void measure(const std::string& name, Change (*make)(int)) {
  std::vector<double> perPeer, medians;
  for (const int ranks : kRanks) {
    const Change change = make(ranks);
    const auto peers = static_cast<double>(peersOf(change));
    const std::vector<double> times =
        processorTimes(kCalls, [&](int) { makeSchedule(change.from, change.to, change.rank); });
    medians.push_back(quantile(times, 0.5));
    perPeer.push_back(medians.back() / peers);
    fmt::print("schedule of {:<20} {:>5} {:>6} {:>10.2f} {:>10.2f} {:>10.2f} {:>9.3f}", name, ranks,
               peers, medians.back(), quantile(times, 0.1), quantile(times, 0.9), perPeer.back());
    if (perPeer.size() > 2)
      fmt::print(" {:>8.2f}  <= {} {}", perPeer.back() / perPeer[1], kTarget,
                 perPeer.back() <= kTarget * perPeer[1] ? "met" : "not met");
    fmt::print("\n");
  }
}

} // namespace
} // namespace tenon::bench

int main() {
  using namespace tenon::bench;
  fmt::print("{:<32} {:>5} {:>6} {:>10} {:>10} {:>10} {:>9} {:>8}  {}\n", "work", "n", "peers",
             "us", "p10", "p90", "us/peer", "to 64", "target");
  measure("halo of slabs", haloOfSlabs);
  measure("halo of blocks", haloOfBlocks);
  measure("exchange of slabs", exchangeOfSlabs);
  return 0;
}
