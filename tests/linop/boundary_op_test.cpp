// SPDX-License-Identifier: BSD-2-Clause
// Tests the operators that fill halo elements beyond the domain with values of the user, for the
// boundary mode "values": boundaryValues(), after a halo exchange, and BoundaryConstant. For random
// layouts, each element is compared with the definition, which depends on its global position only;
// and the adjoint of the constant with a sum over the user's elements.
#include "geometry/schedule/user_elements.hpp"
#include "operators.hpp"
#include "support/conversion_definition.hpp"
#include "support/random_layout.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::elementsOf;
using test::world;

Ref<DTensor> filled(const Layout& layout, std::uint64_t seed) {
  const auto x = makeRef<DTensor>(world(), layout, TENON_FLOAT64);
  fillRaw(*x, seed, /*integers=*/true);
  return x;
}

// Whether the user supplies each local element of a layout with halos, by its global position.
std::vector<bool> userMask(const DTensor& g) {
  const Layout& layout = g.layout();
  const Box held = layout.boxOfRank(world()->rank());
  std::vector<bool> mask;
  test::forEach(extents(held), [&](const std::vector<Index>& local) {
    mask.push_back(test::isUserCell(layout, held, local));
  });
  return mask;
}

// A random layout with halos, of which at least one side has values of the user, and the same
// layout without halos.
struct Layouts {
  Layout plain, wide;
  static Layouts draw(test::LayoutDraw& draw) {
    for (;;) {
      const Layout made = draw.layout(draw.shape(1, 3, 6), draw.grid(world()->size(), 2),
                                      /*haloPercent=*/80, /*coveringHalos=*/true);
      LayoutSpec spec = made.spec();
      bool callers = false;
      for (auto& halo : spec.halos)
        if (halo) {
          halo->isPartial = false;
          callers |= isUserSupplied(halo->low) || isUserSupplied(halo->high);
        }
      if (!callers)
        continue;
      Layouts drawn{made.withoutHalos(), Layout(spec)};
      draw.modesByChannel(drawn.plain, drawn.wide);
      if (hasUserSide(drawn.wide))
        return drawn;
    }
  }
};

TEST(BoundaryOp, TheUserValuesCompleteAHaloExchange) {
  test::LayoutDraw draw(31);
  for (int i = 0; i < 60; ++i) {
    const Layouts at = Layouts::draw(draw);
    SCOPED_TRACE(at.wide.describe());
    const auto x = filled(at.plain, 1), v = filled(at.wide, 2), g = filled(at.wide, 3);
    const auto halo = test::conversion(at.plain, at.wide, TENON_FLOAT64);
    halo->apply(*x, *g);
    const auto extended = elementsOf(*g), values = elementsOf(*v);
    boundaryValues(world(), at.wide, TENON_FLOAT64)->apply(1, *v, 1, *g);
    const auto complete = elementsOf(*g);
    const auto mask = userMask(*g);
    for (std::size_t cell = 0; cell < complete.size(); ++cell) {
      if (mask[cell]) {
        ASSERT_EQ(extended[cell], 0);
      }
      ASSERT_EQ(complete[cell], mask[cell] ? values[cell] : extended[cell]);
    }
  }
}

TEST(BoundaryOp, AConstantFillsTheUserCellsAndGetsTheirSum) {
  test::LayoutDraw draw(32);
  for (int i = 0; i < 60; ++i) {
    const Layout wide = Layouts::draw(draw).wide;
    SCOPED_TRACE(wide.describe());
    const auto op = makeRef<BoundaryConstant>(world(), wide, TENON_FLOAT64);
    const auto c = filled(op->domain(), 4), g = filled(wide, 5);
    const auto dg = filled(wide.dual(), 6), dc = filled(op->domain().dual(), 7);
    const auto before = elementsOf(*g), cotangent = elementsOf(*dg);
    op->apply(1, *c, 1, *g);
    op->applyAdjoint(*dg, *dc);
    const auto after = elementsOf(*g);
    const auto mask = userMask(*g);
    double sum = 0;
    for (std::size_t cell = 0; cell < after.size(); ++cell) {
      ASSERT_EQ(after[cell], before[cell] + (mask[cell] ? elementsOf(*c).at(0) : 0));
      sum += mask[cell] ? cotangent[cell] : 0;
    }
    ASSERT_EQ(elementsOf(*dc), std::vector<double>(c->localElements(), sum));
  }
}

TEST(BoundaryOp, AreRefusedWithoutASideOfTheUser) {
  const Layout plain = test::onLine({7, 5}, "S0");
  const Layout zero = test::withHalo(plain, 1, Boundary::Zero);
  const Layout contributions = test::withHalo(plain, 1, Boundary::Values).dual();
  for (const Layout& layout : {plain, zero}) {
    expectError(TENON_ERR_LAYOUT, {"no side", "boundary mode \"values\""},
                [&] { boundaryValues(world(), layout, TENON_FLOAT64); });
    expectError(TENON_ERR_LAYOUT, {"no side"},
                [&] { makeRef<BoundaryConstant>(world(), layout, TENON_FLOAT64); });
  }
  expectError(TENON_ERR_LAYOUT, {"holds partial sums", "dual"},
              [&] { makeRef<BoundaryConstant>(world(), contributions, TENON_FLOAT64); });
}

} // namespace
} // namespace tenon
