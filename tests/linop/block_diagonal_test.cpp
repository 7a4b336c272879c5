// SPDX-License-Identifier: BSD-2-Clause
// Tests block diagonals, operators of several fields that each have an operator of their own: each
// field gets the bits of its operator, in both directions, for operators of any layouts, element
// types, halos and index maps, also where some of them sum and others do not; each rank sends each
// neighbour one message; what cannot be one exchange is refused.
#include "comm/agreement/agreement.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "linop/exchange/block_diagonal.hpp"
#include "operators.hpp"
#include "support/draws.hpp"
#include "support/own_communicator.hpp"
#include "support/random_layout.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <random>

namespace tenon {
namespace {

using test::Ends;
using test::LayoutDraw;
using test::world;

// Tensors of the operators of a block diagonal, in one direction, with numbers of both signs.
struct BlockFields {
  BlockFields(const std::vector<LinearOpRef>& ops, Sense sense, std::uint64_t seed) {
    for (const LinearOpRef& op : ops) {
      const Ends& one = ends.emplace_back(*op, sense, seed);
      fillRaw(*one.x, seed++, /*integers=*/isInteger(op->domainType()));
      std::vector<double> values = test::elementsOf(*one.x);
      for (std::size_t n = 0; n < values.size(); n += 3)
        values[n] = n % 2 == 0 ? -0.0 : 0.0;
      test::setCells(*one.x, values);
      x.push_back(one.x.get());
      y.push_back(one.y.get());
    }
  }
  std::deque<Ends> ends;
  std::vector<const DTensor*> x;
  std::vector<DTensor*> y;
};

// Compares with the operators, each applied to its field.
void expectAsOneByOne(LinearOp& diagonal, const std::vector<LinearOpRef>& ops, Sense sense,
                      const BlockFields& fields, std::uint64_t seed) {
  const BlockFields want(ops, sense, seed);
  diagonal.applyMany(sense, fields.x, fields.y);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    copyLocal(*fields.x[i], *want.ends[i].x);
    test::act(*ops[i], sense, 1, *want.x[i], 0, *want.y[i]);
    const std::vector<double> got = test::elementsIn(*fields.y[i]),
                              expected = test::elementsIn(*want.y[i]);
    ASSERT_EQ(got.size(), expected.size());
    if (!got.empty()) {
      ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0)
          << "operator " << i << " of " << diagonal.describe();
    }
  }
}

void expectAsOneByOne(LinearOp& diagonal, const std::vector<LinearOpRef>& ops, Sense sense) {
  const BlockFields fields(ops, sense, 7), others(ops, sense, 70);
  // The same tensors again, and others in between.
  for (const BlockFields* used : {&fields, &fields, &others, &fields})
    ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(diagonal, ops, sense, *used, 700));
}

// All operators of the other tests that are one exchange, and their adjoints, of three types.
std::vector<LinearOpRef> exchanges() {
  std::vector<LinearOpRef> ops;
  const auto add = [&](const LinearOpRef& op) {
    if (op->asExchange().executors)
      ops.insert(ops.end(), {op, adjointView(op)});
  };
  for (const test::NamedOp& one : test::allOperators())
    for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64})
      add(one.make(type));
  add(test::conversion(test::onLine({9}, "S0"), test::onLine({9}, "B"), TENON_INT32));
  add(test::conversion(test::onLine({9}, "P"), test::onLine({9}, "S0"), TENON_INT64));
  return ops;
}

class BlockDiagonalBy : public testing::TestWithParam<Transport> {
protected:
  static LinearOpRef diagonal(const std::vector<LinearOpRef>& ops) {
    return collectively(*world(), [&] { return blockDiagonal(ops, test::by(GetParam())); });
  }
};

TEST_P(BlockDiagonalBy, GivesEachFieldTheBitsOfItsOperator) {
  const std::vector<LinearOpRef> all = exchanges();
  ASSERT_GT(all.size(), 100);
  std::mt19937 random(3);
  for (int trial = 0, trials = test::draws(30); trial < trials; ++trial) {
    std::vector<LinearOpRef> ops(1 + random() % 6);
    for (LinearOpRef& op : ops)
      op = all[random() % all.size()];
    const LinearOpRef op = diagonal(ops);
    for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
      ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(*op, ops, sense));
      // The adjoint as an operator.
      const LinearOpRef view = adjointView(op);
      std::vector<LinearOpRef> views;
      for (const LinearOpRef& one : ops)
        views.push_back(adjointView(one));
      ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(*view, views, sense));
    }
  }
}

// The processes of two grids can be in contrary orders. Sums keep the orders of their grids, or are
// refused.
TEST_P(BlockDiagonalBy, KeepsTheOrderOfSums) {
  int made = 0, trials = test::draws(30);
  for (int trial = 0; trial < trials; ++trial) {
    LayoutDraw draw(9000 + trial);
    std::vector<LinearOpRef> ops;
    for (int i = draw.between(2, 4); i > 0; --i) {
      const Shape shape = draw.shape(1, 4, 6);
      const GridPtr a = draw.grid(world()->size(), 3),
                    b = draw.chance(60) ? a : draw.grid(world()->size(), 3);
      const Layout from = draw.layout(shape, a, /*haloPercent=*/30, /*coveringHalos=*/false),
                   to = draw.layout(shape, b, /*haloPercent=*/30, /*coveringHalos=*/false);
      ops.push_back(makeConversion(world(), from, to, i % 2 == 0 ? TENON_FLOAT64 : TENON_FLOAT32,
                                   test::by(RoutePolicy{RouteMode::Exchange, {}})));
    }
    LinearOpRef op;
    try {
      op = diagonal(ops);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), TENON_ERR_SUPPORT);
      ASSERT_NE(error.text().find("contrary orders"), std::string::npos) << error.text();
      continue;
    }
    ++made;
    // An adjoint can be refused only with its operator, so both directions are there.
    for (const Sense sense : {Sense::Forward, Sense::Adjoint})
      ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(*op, ops, sense)) << "trial " << trial;
  }
  EXPECT_GE(made, trials / 4);
}

// Parts of several chunks, and parts that are read in place, of elements of two sizes.
TEST_P(BlockDiagonalBy, CanBeLarge) {
  const Index ranks = world()->size();
  const auto op = [&](const char* from, const char* to, Index columns, TenonDataType type) {
    const Shape shape = {10 * ranks + 1, columns};
    return makeRef<Conversion>(world(), test::onLine(shape, from), test::onLine(shape, to), type,
                               test::by(GetParam()));
  };
  const std::vector<LinearOpRef> ops = {
      op("S0", "S1", 4001, TENON_FLOAT32), op("P", "B", 3, TENON_FLOAT64),
      op("P", "S1", 999, TENON_FLOAT64), op("S0", "B", 1, TENON_FLOAT32)};
  const LinearOpRef large = diagonal(ops);
  for (const Sense sense : {Sense::Forward, Sense::Adjoint})
    for (int isPrivate = 0; isPrivate < 3; ++isPrivate) {
      // All arrays in the arena, or those of some fields elsewhere.
      const BlockFields fields(ops, sense, 5);
      for (int i = 0; i < isPrivate; ++i)
        fields.ends[i].x->setPrivate(true);
      ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(*large, ops, sense, fields, 5));
    }
}

// Columns of a mesh-like line beside a surface and a wide halo: 5 columns of 4 layers and 5 surface
// elements on each rank.
struct Ocean {
  static constexpr Index kRows = 5, kLayers = 4;
  Layout column = test::onLine({kRows * world()->size(), kLayers}, "S0"),
         surface = test::onLine({kRows * world()->size()}, "S0");
  std::vector<LinearOpRef> ops;

  // `transport` is that of the operators.
  explicit Ocean(Transport transport) {
    const auto halo = [&](const Layout& plain, Index width, TenonDataType type) {
      ops.push_back(makeRef<Conversion>(
          world(), plain, test::withHalo(plain, width, Boundary::Zero), type, test::by(transport)));
    };
    halo(column, 1, TENON_FLOAT64);
    halo(column, 1, TENON_FLOAT64);
    halo(surface, 1, TENON_FLOAT32);
    halo(surface, 2, TENON_FLOAT64);
  }
  // Bytes of the elements for a neighbour.
  static constexpr Index kBytes = 2 * kLayers * 8 + 1 * 4 + 2 * 8;
};

TEST_P(BlockDiagonalBy, SendsANeighbourOneMessage) {
  const Ocean ocean(GetParam());
  const LinearOpRef op = diagonal(ocean.ops);
  const int rank = world()->rank();
  const Index neighbours = (rank > 0) + (rank + 1 < world()->size());
  ASSERT_TRUE(op->sent());
  EXPECT_EQ(op->sent()->messages, neighbours);
  EXPECT_EQ(op->sent()->bytes, neighbours * Ocean::kBytes);
  for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const BlockFields fields(ocean.ops, sense, 7);
    op->applyMany(sense, fields.x, fields.y); // lanes are announced
    logEnable(true);
    logReset();
    op->applyMany(sense, fields.x, fields.y);
    logEnable(false);
    Sent sent;
    for (const EventRecord& record : logSnapshot())
      sent += {record.messages, record.bytes};
    EXPECT_EQ(sent.messages, neighbours);
    EXPECT_EQ(sent.bytes, neighbours * Ocean::kBytes);
  }
}

// Applies a block diagonal and its operators one by one, with the input and output of operator 1 in
// one array of the user: `rows` rows on each rank, and a row of halo at both ends.
void expectInPlaceAsOneByOne(LinearOp& diagonal, const std::vector<LinearOpRef>& ops, Index rows,
                             Index columns) {
  for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const BlockFields together(ops, sense, 7), single(ops, sense, 7);
    std::vector<std::vector<double>> arrays;
    for (const BlockFields* fields : {&together, &single}) {
      auto& array = arrays.emplace_back((rows + 2) * columns);
      for (std::size_t n = 0; n < array.size(); ++n)
        array[n] = std::sin(static_cast<double>(n) + 100.0 * world()->rank());
      for (DTensor* tensor : {fields->ends[1].x.get(), fields->ends[1].y.get()})
        tensor->placeArray(array.data() + columns, {columns, 1}, {1, 0}, {1, 0},
                           /*readOnly=*/false);
    }
    diagonal.applyMany(sense, together.x, together.y);
    for (std::size_t i = 0; i < ops.size(); ++i)
      test::act(*ops[i], sense, 1, *single.x[i], 0, *single.y[i]);
    EXPECT_EQ(arrays[0], arrays[1]);
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (i != 1) {
        EXPECT_EQ(test::elementsIn(*together.y[i]), test::elementsIn(*single.y[i]));
      }
  }
}

// The columns are in arrays of the user with their halos, the other fields are not.
TEST_P(BlockDiagonalBy, CanBeInPlaceInSomeFields) {
  const Ocean ocean(GetParam());
  const std::vector<LinearOpRef> ops = {ocean.ops[2], ocean.ops[0], ocean.ops[3]};
  const LinearOpRef op = diagonal(ops);
  ASSERT_NO_FATAL_FAILURE(expectInPlaceAsOneByOne(*op, ops, Ocean::kRows, Ocean::kLayers));
}

// On all ranks but the first one, the only field with elements is in place: its parts, of several
// chunks, are added to one row each, which must not be added to itself.
TEST_P(BlockDiagonalBy, CanBeInPlaceWhereOtherFieldsAreEmpty) {
  const Index columns = 20000;
  const Layout one = test::onLine({1}, "S0"), row = test::onLine({world()->size(), columns}, "S0");
  const auto to = [&](const Layout& from, const Layout& to) {
    return makeRef<Conversion>(world(), from, to, TENON_FLOAT64, test::by(GetParam()));
  };
  const std::vector<LinearOpRef> ops = {to(one, one),
                                        to(row, test::withHalo(row, 1, Boundary::Zero))};
  ASSERT_NO_FATAL_FAILURE(expectInPlaceAsOneByOne(*diagonal(ops), ops, 1, columns));
}

INSTANTIATE_TEST_SUITE_P(Linop, BlockDiagonalBy,
                         testing::Values(Transport::Messages, Transport::Auto),
                         [](const auto& info) { return transportName(info.param); });

TEST(BlockDiagonal, IsItsAdjointsAdjoint) {
  const Ocean ocean(Transport::Auto);
  const std::vector<LinearOpRef> ops = {ocean.ops[0], ocean.ops[1], ocean.ops[3],
                                        adjointView(ocean.ops[0])};
  const LinearOpRef op = blockDiagonal(ops, CarrierPolicy::fromOptions());
  const AdjointTestResult exact = testAdjoint(*op, 5, /*integers=*/true);
  EXPECT_NE(exact.forwardPairing, 0);
  EXPECT_EQ(exact.forwardPairing, exact.adjointPairing);
  EXPECT_LT(testAdjoint(*op, 6, /*integers=*/false).relativeError, 1e-13);
}

TEST(BlockDiagonal, HasTheOperatorsOfAnotherInItsPlace) {
  const Ocean ocean(Transport::Auto);
  const CarrierPolicy policy = CarrierPolicy::fromOptions();
  const LinearOpRef inner = blockDiagonal({ocean.ops[0], ocean.ops[2]}, policy);
  const LinearOpRef outer = blockDiagonal({ocean.ops[3], inner, adjointView(inner)}, policy);
  const std::vector<LinearOpRef> flat = {ocean.ops[3], ocean.ops[0], ocean.ops[2],
                                         adjointView(ocean.ops[0]), adjointView(ocean.ops[2])};
  ASSERT_EQ(outer->blocks().size(), flat.size());
  for (const Sense sense : {Sense::Forward, Sense::Adjoint})
    ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(*outer, flat, sense));
}

TEST(BlockDiagonal, RefusesWhatIsNotOneExchange) {
  const Ocean ocean(Transport::Auto);
  const CarrierPolicy policy = CarrierPolicy::fromOptions();
  const auto expectRefused = [&](TenonErrorCode code, const std::vector<LinearOpRef>& ops,
                                 std::initializer_list<const char*> words) {
    expectError(code, words, [&] { blockDiagonal(ops, policy); });
  };
  expectRefused(TENON_ERR_ARG, {}, {"0 operators", "1 to 64"});
  expectRefused(TENON_ERR_ARG, std::vector<LinearOpRef>(65, ocean.ops[0]), {"65 operators"});
  expectRefused(TENON_ERR_SUPPORT, {ocean.ops[0], test::twice(ocean.column, TENON_FLOAT64)},
                {"operator 1", "type shell", "not one exchange", "by itself"});
  const LinearOpRef halo = ocean.ops[0];
  expectRefused(TENON_ERR_SUPPORT, {halo, halo, scale(2, halo)}, {"operator 2", "type scale"});
  expectRefused(TENON_ERR_SUPPORT, {blockDiagonal({halo, halo}, policy), scale(2, halo)},
                {"operator 1", "type scale"});
  const LinearOpRef elsewhere = makeRef<Conversion>(test::ownCommunicator(), ocean.column,
                                                    ocean.column, TENON_FLOAT64, policy);
  expectRefused(TENON_ERR_ARG, {halo, elsewhere}, {"operators 0 and 1", "different communicators"});
}

TEST(BlockDiagonal, IsAppliedToAsManyFieldsAsItHasOperators) {
  const Ocean ocean(Transport::Auto);
  const LinearOpRef op = blockDiagonal(ocean.ops, CarrierPolicy::fromOptions());
  const BlockFields fields(ocean.ops, Sense::Forward, 7);
  const auto& x = fields.x;
  const auto& y = fields.y;
  using Inputs = std::vector<const DTensor*>;
  using Outputs = std::vector<DTensor*>;
  const auto many = [&](const Inputs& from, const Outputs& to) {
    return [&op, from, to] { op->applyMany(Sense::Forward, from, to); };
  };
  expectError(TENON_ERR_ARG, {"4 operators", "3 inputs"},
              many({x[0], x[1], x[2]}, {y[0], y[1], y[2]}));
  expectError(TENON_ERR_DATATYPE, {"field 2", "input"},
              many({x[0], x[1], x[3], x[3]}, {y[0], y[1], y[2], y[3]}));
  expectError(TENON_ERR_LAYOUT, {"field 3", "output"},
              many({x[0], x[1], x[2], x[3]}, {y[0], y[1], y[2], fields.ends[3].x.get()}));
  for (const auto& one :
       {std::function<void()>([&] { op->apply(*x[0], *y[0]); }),
        std::function<void()>([&] { op->applyAdjoint(*x[0], *y[0]); }),
        std::function<void()>([&] { scale(2, op); }), std::function<void()>([&] { sum({op}); }),
        std::function<void()>([&] { compose({op}); }),
        std::function<void()>([&] { adjointView(op)->apply(*x[0], *y[0]); })})
    expectError(TENON_ERR_SUPPORT, {"block diagonal", "4 tensors"}, one);
  op->applyMany(Sense::Forward, x, y);
}

} // namespace
} // namespace tenon
