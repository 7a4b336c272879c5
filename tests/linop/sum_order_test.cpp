// SPDX-License-Identifier: BSD-2-Clause
// Tests the order of additions: sums along an axis of the process grid are added in the order of
// grid coordinates, whatever the order of ranks in the grid, on every route and by every reduction
// program. Copies of a sum are therefore equal bit by bit. The contributions 1, 1e16, -1e16 reveal
// the order: (1 + 1e16) - 1e16 = 0 in float64, and every other order gives 1.
#include "operators.hpp"

#include "reduction/reduction_groups.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"
#include "sys/random.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace tenon {
namespace {

using test::world;

constexpr double kContributions[] = {1, 1e16, -1e16};

// Returns a grid of 3 x (ranks / 3) ranks in an order that depends on the seed; null for less than
// 3 ranks.
GridPtr shuffledGrid(unsigned seed) {
  const int lines = world()->size() / 3;
  if (lines == 2 && seed == 0)
    return Grid::make({3, 2}, {0, 5, 1, 4, 2, 3});
  std::vector<int> ranks(world()->size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::mt19937 random(seed);
  std::shuffle(ranks.begin(), ranks.end(), random);
  ranks.resize(3 * lines);
  return lines == 0 ? nullptr : Grid::make({3, lines}, std::move(ranks));
}

// Fills all elements of a rank with the contribution of its coordinate on the first axis.
void fillContributions(DTensor& x) {
  const int position = x.position();
  if (position >= 0)
    test::setCells(x,
                   std::vector<double>(x.localElements(),
                                       kContributions[x.layout().grid().coordinate(position, 0)]));
}

// Expects that all sums are 0, also on bound arrays.
void expectSumInOrder(LinearOp& op, Sense sense) {
  const test::Ends ends(op, sense, 1);
  fillContributions(*ends.x);
  test::act(op, sense, 1, *ends.x, 0, *ends.y);
  for (double cell : test::elementsOf(*ends.y))
    ASSERT_EQ(cell, 0) << op.describe();
  op.bind(sense, *ends.x, *ends.y);
  test::act(op, sense, 1, *ends.x, 0, *ends.y);
  for (double cell : test::elementsOf(*ends.y))
    ASSERT_EQ(cell, 0) << op.describe();
  op.unbind();
}

// Policies by which sums are computed along trees, in pieces, or in shares that are gathered.
constexpr LinkRates kCheapMessages{.latency = 1e-12, .overhead = 1e-12};
const RoutePolicy kPolicies[] = {
    {},
    {RouteMode::Auto, kCheapMessages},
    {RouteMode::Exchange, {}},
    {RouteMode::Chain, {}},
    {RouteMode::Chain, kCheapMessages},
    {RouteMode::Collective, {}},
    {RouteMode::Collective, kCheapMessages},
};

TEST(SumOrder, IsThatOfCoordinatesOnEveryRoute) {
  for (unsigned seed = 0; seed < 3; ++seed)
    if (const GridPtr grid = shuffledGrid(seed))
      for (const RoutePolicy& policy : kPolicies)
        for (const char* to : {"B,B", "S0,B", "R,B"})
          for (Index length : {5, 3000}) {
            const LinearOpRef made =
                makeConversion(world(), test::layoutOn(grid, {length}, "P,B"),
                               test::layoutOn(grid, {length}, to), TENON_FLOAT64, test::by(policy));
            LinearOp& op = *made;
            expectSumInOrder(op, Sense::Forward);
            if (std::string(to) == "B,B") // P,P -> B,P
              expectSumInOrder(op, Sense::Adjoint);
          }
}

// For a conversion between two grids, the order is that of the source's grid.
TEST(SumOrder, IsThatOfTheSourcesGrid) {
  for (unsigned seed = 0; seed < 3; ++seed)
    if (const GridPtr grid = shuffledGrid(seed)) {
      std::vector<int> ranks(world()->size());
      std::iota(ranks.rbegin(), ranks.rend(), 0);
      const GridPtr line = Grid::make({world()->size()}, ranks);
      const LinearOpRef made = makeConversion(world(), test::layoutOn(grid, {7}, "P,B"),
                                              test::layoutOn(line, {7}, "B"), TENON_FLOAT64);
      LinearOp& op = *made;
      expectSumInOrder(op, Sense::Forward);
    }
}

// Three parts of one element, whose halos contain the whole domain: in the adjoint, every element
// gets three contributions.
TEST(SumOrder, IsThatOfCoordinatesInTheAdjointOfAHalo) {
  for (unsigned seed = 0; seed < 3; ++seed)
    if (const GridPtr grid = shuffledGrid(seed)) {
      const Layout values = test::layoutOn(grid, {3}, "S0,P");
      const LinearOpRef made =
          makeConversion(world(), values, test::withHalo(values, 2, Boundary::Zero), TENON_FLOAT64);
      LinearOp& op = *made;
      expectSumInOrder(op, Sense::Adjoint); // S0,B with contributions in the halos -> S0,B
    }
}

class ByProgram : public testing::TestWithParam<const char*> {
protected:
  ~ByProgram() override {
    options().set("-tenon_reduction", "auto");
    options().set("-tenon_machine_levels", "");
  }
};

TEST_P(ByProgram, SumsInTheOrderOfCoordinates) {
  options().set("-tenon_reduction", GetParam());
  for (unsigned seed = 0; seed < 3; ++seed)
    if (const GridPtr grid = shuffledGrid(seed))
      for (Index length : {5, 3000}) {
        const LinearOpRef made =
            makeConversion(world(), test::layoutOn(grid, {length}, "P,B"),
                           test::layoutOn(grid, {length}, "B,B"), TENON_FLOAT64);
        LinearOp& op = *made;
        EXPECT_NE(op.describe().find("program on the hierarchy"), std::string::npos)
            << op.describe();
        expectSumInOrder(op, Sense::Forward);
        expectSumInOrder(op, Sense::Adjoint);
      }
}

INSTANTIATE_TEST_SUITE_P(All, ByProgram,
                         testing::Values("(0, InsideGroup, AllReduce)",
                                         "(0, InsideGroup, ReduceScatter), (0, InsideGroup, "
                                         "AllGather)",
                                         "(0, InsideGroup, Reduce), (0, InsideGroup, Broadcast)"));

// Groups of four ranks along axis 0, on two nodes of two pairs each: 0 1 | 2 3 and 4 5 | 6 7. In
// the first grid both groups (0 2 1 3 and 6 4 7 5) have their members 0 and 2 on one pair, and 1
// and 3 on the other. In the second grid only one of the groups (4 6 5 7) has, so no order is right
// for both.
TEST(SumOrder, OfAProgramNeedsGroupsThatStandAlike) {
  const Hierarchy machine = {2, 2, 2};
  const GridPtr alike = Grid::make({4, 2}, {0, 6, 2, 4, 1, 7, 3, 5});
  EXPECT_EQ(reductionHierarchy(*alike, {0}, machine), (Hierarchy{2, 2}));
  EXPECT_EQ(memberOrder(*alike, {0}, machine), (std::vector<int>{0, 2, 1, 3}));
  const GridPtr other = Grid::make({4, 2}, {0, 4, 1, 6, 2, 5, 3, 7});
  expectError(TENON_ERR_ARG, {"ranks 4,6,5,7 ", "ranks 0,1,2,3"},
              [&] { memberOrder(*other, {0}, machine); });
  EXPECT_TRUE(memberOrder(*other, {0}, {8}).empty());
}

// The contributions of a position: reals that are the same for copies, since coordinates on axes
// with property B do not enter the random stream.
std::vector<double> realsOf(const Layout& layout, int position, unsigned seed) {
  std::uint64_t stream = seed;
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (!layout.property(axis).isBroadcast())
      stream = 16 * stream + layout.grid().coordinate(position, axis) + 1;
  std::vector<double> reals(elements(layout.box(position)));
  for (std::size_t i = 0; i < reals.size(); ++i)
    reals[i] = uniformAt(7, stream, static_cast<Index>(i)) - 0.5;
  return reals;
}

// Expects the same bits on all ranks that differ only on axes of copies (B). Their other
// coordinates number the groups.
void expectEqualCopies(const DTensor& y, const std::string& what) {
  int group = y.position() < 0 ? MPI_UNDEFINED : 0;
  for (int axis = 0; y.position() >= 0 && axis < y.layout().grid().axes(); ++axis)
    group = 16 * group + (y.layout().property(axis).isBroadcast()
                              ? 0
                              : y.layout().grid().coordinate(y.position(), axis));
  MPI_Comm copies = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, group, 0, &copies);
  if (copies == MPI_COMM_NULL)
    return;
  const std::vector<double> mine = test::elementsOf(y);
  std::vector<double> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, copies);
  EXPECT_TRUE(mine.empty() || std::memcmp(first.data(), mine.data(), 8 * mine.size()) == 0) << what;
  MPI_Comm_free(&copies);
}

// Sums over one axis or two, beside copies and parts.
TEST(SumOrder, GivesCopiesOfRealsTheSameBits) {
  const int ranks = world()->size();
  for (unsigned seed = 0; seed < 6; ++seed)
    for (const RoutePolicy& policy : kPolicies)
      for (const auto& [from, to] : {std::pair{"P,B,P", "B,B,B"},
                                     {"P,B,S0", "B,B,B"},
                                     {"P,P,B", "B,B,S0"},
                                     {"B,P,B", "S0,B,B"}}) {
        std::vector<int> order(ranks);
        std::iota(order.begin(), order.end(), 0);
        std::mt19937 random(seed);
        std::shuffle(order.begin(), order.end(), random);
        const std::vector<int> extents = ranks >= 8   ? std::vector{2, 2, 2}
                                         : ranks >= 6 ? std::vector{3, 2, 1}
                                         : ranks >= 4 ? std::vector{2, 2, 1}
                                                      : std::vector{ranks, 1, 1};
        order.resize(extents[0] * extents[1] * extents[2]);
        const GridPtr grid = Grid::make(extents, order);
        const Layout a = test::layoutOn(grid, {37}, from), b = test::layoutOn(grid, {37}, to);
        const LinearOpRef made = makeConversion(world(), a, b, TENON_FLOAT64, test::by(policy));
        LinearOp& op = *made;
        DTensor x(world(), a, TENON_FLOAT64), y(world(), b, TENON_FLOAT64);
        if (x.position() >= 0)
          test::setCells(x, realsOf(a, x.position(), seed));
        op.apply(x, y);
        expectEqualCopies(y, op.describe());
      }
}

} // namespace
} // namespace tenon
