// SPDX-License-Identifier: BSD-2-Clause
// In layouts with copies on several ranks, all copies of a loss and of a reduced gradient are
// bitwise equal. Process grids have the ranks in random orders, because the order of a sum could
// depend on it.
#include "layer_run.hpp"

#include "sys/options/options.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace tenon {
namespace {

using test::tensor;
using test::world;

// A grid of two axes with the ranks in a random order.
GridPtr shuffledGrid(unsigned seed) {
  const int ranks = world()->size(), lines = std::max(1, ranks / 3);
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  order.resize(ranks / lines * lines);
  return seed % 2 == 0 ? Grid::make({ranks / lines, lines}, order)
                       : Grid::make({lines, ranks / lines}, order);
}

Layout on(const GridPtr& grid, const Shape& shape, const char* properties) {
  return Layout({.shape = shape, .grid = grid, .properties = parseProperties(properties)});
}

// Expects equal bits on all ranks of the grid, for a tensor that is B (replicated) on all axes.
void expectEqualCopies(const DTensor& y, const std::string& what) {
  MPI_Comm copies = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, y.position() < 0 ? MPI_UNDEFINED : 0, 0, &copies);
  if (copies == MPI_COMM_NULL)
    return;
  const std::vector<double> mine = test::localCells(y);
  std::vector<double> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, copies);
  EXPECT_EQ(std::memcmp(first.data(), mine.data(), 8 * mine.size()), 0) << what;
  MPI_Comm_free(&copies);
}

class CopiesByRoute : public testing::TestWithParam<const char*> {
protected:
  CopiesByRoute() { options().set("-tenon_conversion_route", GetParam()); }
  ~CopiesByRoute() override { options().set("-tenon_conversion_route", "auto"); }
};

TEST_P(CopiesByRoute, OfALossAreEqualBitByBit) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const GridPtr grid = shuffledGrid(seed);
    const auto layer = test::newLayer(world(), "meansquarederror");
    const Ref<DTensor> target = tensor(on(grid, {12, 5}, "S0,B"));
    fillConstant(*target, 0);
    layer->setTarget(target);
    test::Step step(layer, on(grid, {12, 5}, "S0,B"));
    fillUniform(*step.x, seed, /*stream=*/1, -1, 1);
    step.apply();
    expectEqualCopies(*step.y, step.y->layout().describe());
  }
}

// If the batch is split, each rank has a contribution to each gradient, and the reduction adds
// them.
TEST_P(CopiesByRoute, OfAParametersGradientAreEqualBitByBit) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const GridPtr grid = shuffledGrid(seed);
    const auto layer = test::newAffine(world(), 4, 3);
    test::Step step(layer, on(grid, {12, 4}, "S0,B"));
    test::fillParameters(*layer);
    fillUniform(*step.x, seed, /*stream=*/1, -1, 1);
    test::fillValid(*step.dy, seed);
    step.apply();
    step.adjoint();
    for (const auto& parameter : layer->parameters()) {
      const DTensor& gradient = parameter->gradient();
      const Ref<DTensor> sum = tensor(on(grid, gradient.layout().shape(), "B,B"));
      makeConversion(world(), gradient.layout(), sum->layout(), TENON_FLOAT64)
          ->apply(gradient, *sum);
      expectEqualCopies(*sum, parameter->name());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Routes, CopiesByRoute,
                         testing::Values("auto", "exchange", "chain", "collective"));

} // namespace
} // namespace tenon
