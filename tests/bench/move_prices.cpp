// SPDX-License-Identifier: BSD-2-Clause
// Times parts of planning at 4096 ranks, without MPI: the processor time to find a route, to count
// the data that one position of the process grid moves, and to price a movement by one position, by
// one kind of links, and by the levels of the machine.
//
//   tests/bench/move_prices
#include "bench/processor_time.hpp"
#include "geometry/layout/layout_draft.hpp"
#include "geometry/schedule/traffic.hpp"
#include "machine/route.hpp"

#include <fmt/format.h>

namespace tenon::bench {
namespace {

constexpr double kRouteTarget = 1000, kCountTarget = 4; // us
constexpr int kRouteCalls = 3, kCountCalls = 4096, kPriceCalls = 512;

const Shape kImages{256, 64, 224, 224};
const GridPtr kBinary = Grid::make(std::vector<int>(12, 2)), kCube = Grid::make({16, 16, 16}),
              kSquare = Grid::make({64, 64}), kLine = Grid::make({4096}),
              kFour = Grid::make({8, 8, 8, 8});

Layout on(const GridPtr& grid, const Shape& shape, const std::string& properties) {
  return Layout({.shape = shape, .grid = grid, .properties = parseProperties(properties)});
}

// The same property on so many consecutive axes.
Layout onBinary(const Shape& shape, std::initializer_list<std::pair<Property, int>> runs) {
  Properties properties;
  for (const auto& [property, axes] : runs)
    properties.insert(properties.end(), axes, property);
  return Layout({.shape = shape, .grid = kBinary, .properties = properties});
}

Layout withHalo(const Layout& plain) {
  LayoutDraft draft(plain);
  for (int d : {2, 3})
    draft.setHaloWidths(d, 1, 1, Boundary::Zero, Boundary::Zero);
  return draft.build();
}

struct Move {
  std::string name;
  Layout from, to;
};

std::vector<Move> routes() {
  const Property p = Property::partial(), b = Property::broadcast();
  const auto s = [](int dim) { return Property::shard(dim); };
  const Shape few{16}, many{1 << 20};
  return {
      {"sum, 64 B, 12 binary axes", onBinary(few, {{p, 12}}), onBinary(few, {{b, 12}})},
      {"sum, 4 MiB, 12 binary axes", onBinary(many, {{p, 12}}), onBinary(many, {{b, 12}})},
      {"channels gathered, 12 binary axes",
       onBinary(kImages, {{s(0), 4}, {s(1), 4}, {s(2), 2}, {s(3), 2}}),
       onBinary(kImages, {{s(0), 4}, {b, 4}, {s(2), 2}, {s(3), 2}})},
      {"channels summed, 12 binary axes",
       onBinary(kImages, {{s(0), 4}, {p, 4}, {s(2), 2}, {s(3), 2}}),
       onBinary(kImages, {{s(0), 4}, {s(1), 4}, {s(2), 2}, {s(3), 2}})},
      {"slabs to slabs, 4096", on(kLine, {8192, 8192}, "S0"), on(kLine, {8192, 8192}, "S1")},
      {"sum to root, 4096", on(kLine, {8192, 8192}, "P"), on(kLine, {8192, 8192}, "R")},
      {"rows to columns, 64x64", on(kSquare, {8192, 8192}, "S0,S0"),
       on(kSquare, {8192, 8192}, "S1,S1")},
      {"P,S2,S3 to S0,S1,B, 16x16x16", on(kCube, kImages, "P,S2,S3"),
       on(kCube, kImages, "S0,S1,B")},
      {"S0,S2,P to B,S1, 16x16x16 to 64x64", on(kCube, kImages, "S0,S2,P"),
       on(kSquare, kImages, "B,S1")},
      {"P,P,P,P to S0,S1,B,S2, 8x8x8x8", on(kFour, kImages, "P,P,P,P"),
       on(kFour, kImages, "S0,S1,B,S2")},
  };
}

std::vector<Move> moves() {
  const Layout blocks = on(kCube, kImages, "S0,S2,S3");
  return {
      {"halo of blocks, 16x16x16", blocks, withHalo(blocks)},
      {"adjoint of it", withHalo(blocks).dual(), blocks},
      {"channels to batch, 16x16x16", on(kCube, kImages, "S1,S2,S3"), blocks},
      {"channels gathered, 16x16x16", on(kCube, kImages, "S1,S2,S3"),
       on(kCube, kImages, "B,S2,S3")},
      {"blocks to 64x64", blocks, on(kSquare, kImages, "S0,S1")},
      {"slabs to slabs, 4096", on(kLine, {8192, 8192}, "S0"), on(kLine, {8192, 8192}, "S1")},
  };
}

void print(const std::string& what, const std::string& name, const std::vector<double>& times,
           double target) {
  const double median = quantile(times, 0.5);
  fmt::print("{:<22} {:<36} {:>9.2f} {:>9.2f} {:>9.2f}  <= {} {}\n", what, name, median,
             quantile(times, 0.1), quantile(times, 0.9), target,
             median <= target ? "met" : "not met");
}

void measureRoutes() {
  for (const Move& move : routes())
    print("findRoute", move.name,
          processorTimes(kRouteCalls, [&](int) { findRoute(move.from, move.to, 4, {}); }),
          kRouteTarget);
}

void measureMoves() {
  LinkRates nodes;
  nodes.levels = {{32, 1e-6, 4e8}, {16, 1e-6, 4e9}};
  const std::vector<Index> units{32, 16};
  for (const Move& move : moves()) {
    const auto roleOf = [](int call) { return call % 2 == 0 ? Role::Source : Role::Target; };
    print("countFlow", move.name,
          processorTimes(kCountCalls,
                         [&](int call) { countFlow(move.from, move.to, call, roleOf(call)); }),
          kCountTarget);
    print(
        "countFlow by level", move.name,
        processorTimes(kCountCalls,
                       [&](int call) { countFlow(move.from, move.to, call, roleOf(call), units); }),
        kCountTarget);
    for (const LinkRates& rates : {LinkRates{}, nodes})
      print(
          rates.levels.empty() ? "priceOfMove" : "priceOfMove by level", move.name,
          processorTimes(kPriceCalls,
                         [&](int) { priceOfMove(move.from, move.to, 4, rates, Sampling::First); }),
          2 * kCountTarget);
  }
}

} // namespace
} // namespace tenon::bench

int main() {
  using namespace tenon::bench;
  fmt::print("{:<22} {:<36} {:>9} {:>9} {:>9}  {}\n", "work", "of", "us", "p10", "p90", "target");
  measureRoutes();
  measureMoves();
  return 0;
}
