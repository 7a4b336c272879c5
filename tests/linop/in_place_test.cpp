// SPDX-License-Identifier: BSD-2-Clause
// Tests operators between two tensors that use the same array of the user: halo exchanges and their
// adjoints, where the tensor without halos is the inner part of the one with halos, must give the
// same values as between two arrays; other operators on one array must be rejected.
#include "dtensor/stride_sums.hpp"
#include "operators.hpp"
#include "support/conversion_definition.hpp"
#include "support/random_layout.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::LayoutDraw;
using test::world;

// A layout without halos, and the same with halos of values.
struct Halo {
  Layout plain, halos;
};

Halo drawHalo(LayoutDraw& draw) {
  const Shape shape = draw.shape(1, 4, 6);
  const Layout drawn =
      draw.layout(shape, draw.grid(world()->size(), 3), /*haloPercent=*/70, draw.chance(50));
  LayoutSpec spec = drawn.spec();
  for (auto& halo : spec.halos)
    if (halo)
      halo->isPartial = false;
  Halo made{drawn.withoutHalos(), Layout(spec)};
  draw.poles(made.halos, /*onlyValues=*/true);
  draw.modesByChannel(made.plain, made.halos);
  return made;
}

constexpr double kOld = -77; // all elements of the array before an operator is applied

// One array that holds a rank's owned elements and the box of its halos, in row or column order.
class CommonArray {
public:
  CommonArray(const Layout& halos, bool columns) : rank_(halos.ndim()) {
    const int ownPosition = halos.grid().position(world()->rank());
    const Box box = halos.box(ownPosition), owned = halos.ownedBox(ownPosition);
    for (int d = 0; d < rank_; ++d) {
      low_.push_back(std::max<Index>(0, owned[d].begin - box[d].begin));
      high_.push_back(std::max<Index>(0, box[d].end - owned[d].end));
      // One more element, which belongs to neither tensor: rows are not contiguous.
      extent_.push_back(low_[d] + owned[d].size() + high_[d] + 1);
    }
    strides_ = rowMajorStrides(extent_);
    if (columns) {
      Index stride = 1;
      for (int d = 0; d < rank_; ++d) {
        strides_[d] = stride;
        stride *= extent_[d];
      }
    }
    memory_.assign(elements(extent_), kOld);
  }

  void place(DTensor& tensor) {
    Index first = 0;
    for (int d = 0; d < rank_; ++d)
      first += low_[d] * strides_[d];
    tensor.placeArray(&memory_[first], strides_, low_, high_, /*readOnly=*/false);
  }

private:
  int rank_;
  Shape extent_, strides_;
  std::vector<Index> low_, high_;
  std::vector<double> memory_;
};

std::vector<double> valuesOf(const DTensor& x) {
  std::vector<double> values;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    Index at = 0;
    for (int d = 0; d < x.ndim(); ++d)
      at += cell[d] * x.strides()[d];
    values.push_back(x.data<double>()[at]);
  });
  return values;
}

// The result of an exchange in place: that between two arrays (`apart`), except for ghosts whose
// values the user supplies (boundary mode Values), which still have theirs, kOld.
std::vector<double> inPlace(std::vector<double> apart, const DTensor& y) {
  bool holdsValues = false;
  for (int d = 0; d < y.ndim(); ++d)
    holdsValues |= y.layout().halo(d) && !y.layout().halo(d)->isPartial;
  std::size_t number = 0;
  test::forEach(y.extent(), [&](const std::vector<Index>& cell) {
    if (holdsValues && test::isUserCell(y.layout(), y.box(), cell))
      apart[number] = kOld;
    ++number;
  });
  return apart;
}

// Compares an operator on one array with the same on two. Odd seeds have the array in column order.
void expectSameInPlace(LinearOp& op, Sense sense, const Layout& halos, unsigned seed) {
  const test::Ends apart(op, sense, seed), together(op, sense, seed);
  CommonArray array(halos, /*columns=*/seed % 2 == 1);
  array.place(*together.y);
  array.place(*together.x);
  fillRaw(*together.x, seed, /*integers=*/true);
  ASSERT_EQ(valuesOf(*together.x), valuesOf(*apart.x));
  const std::string where = "seed " + std::to_string(seed) + ": " + op.describe();
  test::act(op, sense, 1, *apart.x, 0, *apart.y);
  test::act(op, sense, 1, *together.x, 0, *together.y);
  // A rank without elements in common exchanges as between two arrays.
  const bool shared = shareElements(*together.x, *together.y);
  const std::vector<double> values = valuesOf(*apart.y);
  ASSERT_EQ(valuesOf(*together.y), shared ? inPlace(values, *together.y) : values) << where;
}

class InPlace : public testing::TestWithParam<Sense> {};

TEST_P(InPlace, HalosAreFilledAndFoldedAsApart) {
  for (unsigned seed = 0; seed < 80; ++seed) {
    LayoutDraw draw(seed);
    const Halo halo = drawHalo(draw);
    Conversion op(world(), halo.plain, halo.halos, TENON_FLOAT64, CarrierPolicy::fromOptions());
    expectSameInPlace(op, GetParam(), halo.halos, seed);
  }
}

// From the layout with halos to the plain one, the operator drops the halos (trims), and its
// adjoint has zeros there (embeds).
TEST_P(InPlace, HalosAreTrimmedAndEmbeddedAsApart) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    LayoutDraw draw(seed);
    const Halo halo = drawHalo(draw);
    Conversion op(world(), halo.halos, halo.plain, TENON_FLOAT64, CarrierPolicy::fromOptions());
    expectSameInPlace(op, GetParam(), halo.halos, seed);
  }
}

TEST_P(InPlace, WorksThroughTheAdjointViewAndBound) {
  const Layout plain = test::onLine({2 * world()->size() + 1, 3}, "S0");
  const Layout halos = test::withHalo(plain, 2, Boundary::Periodic);
  const LinearOpRef op = adjointView(test::conversion(plain, halos, TENON_FLOAT64));
  expectSameInPlace(*op, GetParam(), halos, /*seed=*/7);
  const test::Ends apart(*op, GetParam(), 3), together(*op, GetParam(), 3);
  CommonArray array(halos, /*columns=*/false);
  array.place(*together.y);
  array.place(*together.x);
  op->bind(GetParam(), *together.x, *together.y);
  for (std::uint64_t round = 0; round < 3; ++round) {
    fillRaw(*apart.x, round, /*integers=*/true);
    fillRaw(*together.x, round, /*integers=*/true);
    test::act(*op, GetParam(), 1, *apart.x, 0, *apart.y);
    test::act(*op, GetParam(), 1, *together.x, 0, *together.y);
    ASSERT_EQ(valuesOf(*together.y), valuesOf(*apart.y)) << "round " << round;
  }
  op->unbind();
}

INSTANTIATE_TEST_SUITE_P(Senses, InPlace, testing::Values(Sense::Forward, Sense::Adjoint));

TEST(InPlace, OtherUsesOfOneArrayAreRefused) {
  const Layout plain = test::onLine({world()->size(), 3}, "S0");
  const Layout halos = test::withHalo(plain, 1, Boundary::Zero);
  Conversion halo(world(), plain, halos, TENON_FLOAT64, CarrierPolicy::fromOptions());
  DTensor x(world(), plain, TENON_FLOAT64), y(world(), halos, TENON_FLOAT64);
  CommonArray array(halos, false);
  array.place(x);
  array.place(y);
  const auto refused = [](auto&& call) {
    expectError(TENON_ERR_ARG, {"in place", "overlap"}, call);
  };
  refused([&] { halo.apply(1, x, 1, y); });
  refused([&] { halo.apply(2, x, 0, y); });

  const Layout partial = test::onLine({4}, "P");
  Conversion allReduce(world(), partial, partial.dual(), TENON_FLOAT64,
                       CarrierPolicy::fromOptions());
  DTensor p(world(), partial, TENON_FLOAT64), b(world(), partial.dual(), TENON_FLOAT64);
  // Two arrays of 4 elements, the second one element further on: they overlap, and differ.
  std::vector<double> memory(5, 0.0);
  p.placeArray(&memory[0], {1}, {0}, {0}, /*readOnly=*/false);
  b.placeArray(&memory[1], {1}, {0}, {0}, /*readOnly=*/false);
  refused([&] { allReduce.apply(p, b); });
}

} // namespace
} // namespace tenon
