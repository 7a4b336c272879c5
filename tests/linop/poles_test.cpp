// SPDX-License-Identifier: BSD-2-Clause
// Halos across the poles of a globe, on random blocks of latitudes and longitudes:
//   - a smooth field of space, restricted to the sphere, continues smoothly: a scalar, and the
//     components of a vector along latitudes and longitudes, have the values of the same formulas
//     at the colatitudes and longitudes beyond the poles
//   - wrong rules would be seen: no shift, no sign of vectors, the rule of the other grid
//   - the halo equals a loop over the global array, and its adjoint is exact on integers
// Random layouts with poles are also among those of the other tests of conversions.
#include "linop/algebra/adjoint_test.hpp"
#include "operators.hpp"
#include "support/draws.hpp"
#include "support/random_layout.hpp"

#include <cmath>
#include <numbers>

namespace tenon {
namespace {

using test::LayoutDraw;
using test::world;

constexpr double kPi = std::numbers::pi;

// The colatitude of each row: rows are half a step from the poles, or the first and the last one
// are on them.
struct Rows {
  bool onPoles;
  Index count;
  double colatitude(Index row) const {
    return onPoles ? kPi * double(row) / double(count - 1)
                   : kPi * (double(row) + 0.5) / double(count);
  }
  Boundary mode() const { return onPoles ? Boundary::PolePoint : Boundary::Pole; }
};

// A scalar (channel 0), and a vector along colatitude and longitude (1, 2).
double fieldAt(Index channel, double t, double p) {
  const double x = std::sin(t) * std::cos(p), y = std::sin(t) * std::sin(p), z = std::cos(t);
  if (channel == 0)
    return std::exp(x) * (1 + y * z) + x * y;
  const double v[] = {1 + y * z, std::sin(x) - z * z, x * y + 0.3};
  if (channel == 1)
    return std::cos(t) * (v[0] * std::cos(p) + v[1] * std::sin(p)) - std::sin(t) * v[2];
  return v[1] * std::cos(p) - v[0] * std::sin(p);
}

// Blocks of a globe [1, 3, rows, longitudes], uneven and empty ones included, and their halo.
struct Globe {
  Rows rows;
  Index longitudes;
  Layout plain;
  int rowWidth, columnWidth;

  static Globe draw(LayoutDraw& draw) {
    const Rows rows{draw.chance(50), draw.between(2, 9)};
    const Index longitudes = 2 * draw.between(1, 7);
    const GridPtr grid = draw.grid(world()->size(), 2);
    LayoutSpec spec{.shape = {1, 3, rows.count, longitudes}, .grid = grid, .properties = {}};
    spec.cuts.resize(4);
    const bool exchanged = draw.chance(50);
    for (int axis = 0; axis < grid->axes(); ++axis) {
      const int dim = (axis == 0) == exchanged ? 3 : 2;
      spec.properties.push_back(Property::shard(dim));
      if (draw.chance(70))
        spec.cuts[dim] = cuts(draw, spec.shape[dim], grid->extent(axis));
    }
    return {rows, longitudes, Layout(std::move(spec)), draw.between(1, 12), draw.between(0, 5)};
  }

  static std::vector<Index> cuts(LayoutDraw& draw, Index extent, int parts) {
    std::vector<Index> cuts = {0, extent};
    while (static_cast<int>(cuts.size()) < parts + 1)
      cuts.push_back(draw.upTo(static_cast<int>(extent)));
    std::ranges::sort(cuts);
    return cuts;
  }

  // With these modes of the rows, for the scalar and for the vector.
  Layout halos(Boundary scalar, Boundary vector) const {
    LayoutSpec spec = plain.spec();
    spec.halos[2] = tenon::Halo{.boxes = {},
                                .bands = {{.end = 1, .low = scalar, .high = scalar},
                                          {.end = 3, .low = vector, .high = vector}}};
    for (int part = 0; part < plain.parts(2); ++part)
      spec.halos[2]->boxes.push_back(
          {plain.owned(2, part).begin - rowWidth, plain.owned(2, part).end + rowWidth});
    if (columnWidth > 0) {
      spec.halos[3] =
          tenon::Halo{.boxes = {}, .low = Boundary::Periodic, .high = Boundary::Periodic};
      for (int part = 0; part < plain.parts(3); ++part)
        spec.halos[3]->boxes.push_back(
            {plain.owned(3, part).begin - columnWidth, plain.owned(3, part).end + columnWidth});
    }
    return Layout(std::move(spec));
  }

  double valueAt(const std::vector<Index>& at) const {
    return fieldAt(at[1], rows.colatitude(at[2]), 2 * kPi * double(at[3]) / double(longitudes));
  }
};

// Calls f(value, index) for each element of this rank, with its index, which can be outside.
template <class T, class F>
void forEachValue(const DTensor& x, F f) {
  Index number = 0;
  test::forEach(x.extent(), [&](std::vector<Index> at) {
    for (int d = 0; d < x.ndim(); ++d)
      at[d] += x.box()[d].begin;
    f(x.data<T>()[number++], at);
  });
}

// The largest difference on any rank between the field and its halo that a conversion has filled.
template <class T>
double worstOf(const Globe& globe, const Layout& halos, Transport transport) {
  constexpr TenonDataType type = dataTypeOf<T>();
  DTensor x(world(), globe.plain, type), y(world(), halos, type);
  if (T* cell = x.localElements() > 0 ? x.mutableData<T>() : nullptr)
    forEachValue<T>(x, [&](T, const std::vector<Index>& at) { *cell++ = T(globe.valueAt(at)); });
  Conversion(world(), globe.plain, halos, type, test::by(transport)).apply(x, y);
  double worst = 0;
  if (y.localElements() > 0)
    forEachValue<T>(y, [&](T value, const std::vector<Index>& at) {
      worst = std::max(worst, std::abs(double(value) - globe.valueAt(at)));
    });
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, world()->mpi());
  return worst;
}

TEST(PoleHalos, ContinueSmoothFields) {
  LayoutDraw draw(3);
  for (int i = 0, end = test::draws(60); i < end; ++i) {
    const Globe globe = Globe::draw(draw);
    const Boundary mode = globe.rows.mode();
    const Layout halos = globe.halos(mode, vectorMode(mode));
    for (const Transport transport : {Transport::Auto, Transport::Messages}) {
      ASSERT_LT(worstOf<double>(globe, halos, transport), 3e-14) << halos.describe();
      ASSERT_LT(worstOf<float>(globe, halos, transport), 1e-6) << halos.describe();
    }
  }
}

// Wrong rules are far from the field, so ContinueSmoothFields would see them.
TEST(PoleHalos, OfAWrongRuleAreSeen) {
  LayoutDraw draw(4);
  for (int i = 0; i < 10; ++i) {
    Globe globe = Globe::draw(draw);
    if (globe.longitudes < 4)
      continue;
    const Boundary mode = globe.rows.mode(),
                   other = globe.rows.onPoles ? Boundary::Pole : Boundary::PolePoint,
                   unshifted = globe.rows.onPoles ? Boundary::Reflect : Boundary::Symmetric,
                   unshiftedVector = globe.rows.onPoles ? Boundary::OddPoint : Boundary::Odd;
    const Layout without[] = {globe.halos(unshifted, unshiftedVector), globe.halos(mode, mode),
                              globe.halos(other, vectorMode(other))};
    for (const Layout& halos : without)
      EXPECT_GT(worstOf<double>(globe, halos, Transport::Auto), 0.05) << halos.describe();
  }
}

// The definition of the modes, with a loop over the global array.
TEST(PoleHalos, EqualALoopAndHaveExactAdjoints) {
  LayoutDraw draw(5);
  for (int i = 0, end = test::draws(40); i < end; ++i) {
    const Globe globe = Globe::draw(draw);
    const Boundary mode = globe.rows.mode();
    const Layout halos = globe.halos(mode, vectorMode(mode));
    const Index n = globe.rows.count, N = globe.longitudes;
    const LinearOpRef op = test::conversion(globe.plain, halos, TENON_FLOAT64);
    DTensor x(world(), globe.plain, TENON_FLOAT64), y(world(), halos, TENON_FLOAT64);
    const auto number = [](Index place) { return double((7919 * place) % 101 - 50); };
    fillByIndex(x, number);
    op->apply(x, y);
    if (y.localElements() > 0)
      forEachValue<double>(y, [&](double value, std::vector<Index> at) {
        int sign = 1;
        for (Index& row = at[2]; row < 0 || row >= n; sign = -sign) {
          if (globe.rows.onPoles)
            row = row < 0 ? -row : 2 * (n - 1) - row;
          else
            row = row < 0 ? -1 - row : 2 * n - 1 - row;
          at[3] += N / 2;
        }
        const Index column = ((at[3] % N) + N) % N;
        ASSERT_EQ(value, (at[1] == 0 ? 1 : sign) * number((at[1] * n + at[2]) * N + column))
            << halos.describe();
      });
    const AdjointTestResult result = testAdjoint(*op, 17 + i, /*integers=*/true);
    ASSERT_EQ(result.forwardPairing, result.adjointPairing) << halos.describe();
  }
}

} // namespace
} // namespace tenon
