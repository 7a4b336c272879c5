// SPDX-License-Identifier: BSD-2-Clause
// Rows of grids on the sphere, associated Legendre functions, and the sums of spherical harmonic
// transforms, below MPI. Numbers with 30 digits are from mpmath: Legendre functions by the
// hypergeometric sum, Gauss nodes by Newton's method, both with at least 40 digits. The sums are
// compared with their definition, with functions from the explicit formula for low degrees. Also
// basis functions of filters.
#include "kernels/expect_near_largest.hpp"
#include "kernels/sphere/circles.hpp"
#include "kernels/sphere/filter_basis.hpp"
#include "kernels/sphere/legendre.hpp"
#include "kernels/thread_count.hpp"
#include "support/sphere_reference.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace tenon::test {
namespace {

constexpr double kPi = std::numbers::pi;

double legendreAt(Index l, Index m, double t) {
  const LegendreRecurrence recurrence({t}, {m});
  double result = 0, scratch[4];
  recurrence.sweep(0, 0, 1, l + 1, scratch, [&](Index degree, const double* p) {
    if (degree == l)
      result = p[0];
  });
  return result;
}

TEST(LegendreRecurrence, HasTheDigitsOfLongerArithmetic) {
  const struct {
    Index l, m;
    double t, value;
  } cases[] = {{0, 0, 0.3, 0.28209479177387814347403972578},
               {3, 2, 1.1, 0.368189657845486757069132843924},
               {12, 0, 0.25, -0.424942886352593554485255809788},
               {30, 29, 0.4, 6.66848516305713441180744394931e-12},
               {181, 60, 0.5, -0.445123001621830093412975769614},
               {719, 0, 0.001, 9.3602702783453857083048805173},
               {719, 700, 1.3, 0.036110210867549096373942434552},
               {1439, 1200, 0.95, 0.000189912763170721211290608592121},
               {2159, 1800, 0.98, 0.285419257807336488885719756566},
               {2879, 2500, 1.05, 0.604326797414605989495760733592},
               {2879, 1000, 0.4, -0.496170537138633367333938388446}};
  for (const auto& c : cases)
    EXPECT_NEAR(legendreAt(c.l, c.m, c.t) / c.value, 1, 1e-14 * double(c.l + 10))
        << c.l << " " << c.m;
  EXPECT_LT(std::abs(legendreAt(2500, 1000, 0.2)), 1e-138); // 1.11e-207
}

// 2 pi times the sum over the rows of w P_lm P_km is 1 if l = k, else 0.
TEST(LegendreRecurrence, IsOrthonormalToDegree2160) {
  constexpr Index kDegrees = 2160;
  const SphereRows rows = sphereRows(SphereGrid::Gauss, kDegrees);
  const std::vector<Index> orders = {0, 700, 1500, 2140};
  const LegendreRecurrence recurrence(rows.colatitude, orders);
  std::vector<double> scratch(std::size_t(LegendreRecurrence::scratchOf(kDegrees)));
  for (Index place = 0; place < Index(orders.size()); ++place) {
    const Index m = orders[place];
    const std::vector<Index> picks = {m, m + 1, (m + kDegrees) / 2, kDegrees - 2, kDegrees - 1};
    std::vector<std::vector<double>> values;
    recurrence.sweep(place, 0, kDegrees, kDegrees, scratch.data(), [&](Index l, const double* p) {
      if (std::ranges::find(picks, l) != picks.end())
        values.emplace_back(p, p + kDegrees);
    });
    for (std::size_t a = 0; a < values.size(); ++a)
      for (std::size_t b = 0; b < values.size(); ++b) {
        double sum = 0;
        for (std::size_t y = 0; y < rows.weight.size(); ++y)
          sum += 2 * kPi * rows.weight[y] * values[a][y] * values[b][y];
        EXPECT_NEAR(sum, a == b ? 1 : 0, 2e-12) << m << ": " << a << " " << b;
      }
  }
}

TEST(SphereRows, HaveTheNodesAndWeightsOfTheirRules) {
  const struct {
    Index n, y;
    double t, w;
  } gauss[] = {{4, 0, 0.533295680249126989632512144592, 0.347854845137453857373063949222},
               {4, 1, 1.22389958647037259185409954371, 0.652145154862546142626936050778},
               {33, 3, 0.35197292730952366440496654424, 0.0323003586323289532815614472494},
               {720, 0, 0.00333771736943065741326797105612, 0.0000142948505704902051385791054284},
               {720, 1, 0.00766145408358252050511793626362, 0.0000332754273610073102785438187135},
               {720, 300, 1.31135882944461206979235588921, 0.00421437431476753935006301345236}};
  for (const auto& c : gauss) {
    const SphereRows rows = sphereRows(SphereGrid::Gauss, c.n);
    EXPECT_NEAR(rows.colatitude[c.y], c.t, 1e-14) << c.n << " " << c.y;
    EXPECT_NEAR(rows.weight[c.y] / c.w, 1, 1e-11) << c.n << " " << c.y;
  }
  const auto expect = [](SphereGrid grid, const std::vector<double>& angles,
                         const std::vector<double>& weights) {
    const SphereRows rows = sphereRows(grid, Index(angles.size()));
    for (std::size_t y = 0; y < angles.size(); ++y) {
      EXPECT_NEAR(rows.colatitude[y], kPi * angles[y], 1e-15);
      EXPECT_NEAR(rows.weight[y], weights[y], 1e-15);
    }
  };
  expect(SphereGrid::Poles, {0, 0.25, 0.5, 0.75, 1}, {1. / 15, 8. / 15, 4. / 5, 8. / 15, 1. / 15});
  expect(SphereGrid::Cells, {1. / 6, 0.5, 5. / 6}, {4. / 9, 10. / 9, 4. / 9});
  expect(SphereGrid::Gauss, {0.5}, {2});
  expect(SphereGrid::Cells, {0.5}, {2});
}

TEST(SphereRows, RefuseWhatIsNoGrid) {
  expectError(errorOf([] { sphereRows(SphereGrid::Poles, 1); }), TENON_ERR_ARG, {"1 rows", "2"});
  expectError(errorOf([] { sphereGridNamed("gaus"); }), TENON_ERR_ARG, {"'gaus'", "'gauss'"});
}

TEST(SphereOrders, AreFoldedInPairsOfEqualWork) {
  const std::vector<Index> five = {0, 4, 1, 3, 2}, four = {0, 3, 1, 2};
  for (Index place = 0; place < 5; ++place)
    EXPECT_EQ(orderAtPlace(place, 5), five[place]);
  for (Index place = 0; place < 4; ++place)
    EXPECT_EQ(orderAtPlace(place, 4), four[place]);
}

// The table of a transform by its definition, for a grid whose own weights are used.
double tableAt(const SphereTable& c, const SphereRows& rows, Index l, Index m, Index y) {
  const Index row = c.southFirst ? c.rows - 1 - y : y;
  double f = c.isSchmidt ? std::sqrt(4 * kPi / double(2 * l + 1)) : 1;
  if (c.hasSign && m % 2 != 0)
    f = -f;
  const double p = l < m ? 0 : explicitLegendre(l, m, rows.colatitude[row]);
  if (!c.isSynthesis)
    return p * f * rows.weight[row] * 2 * kPi / double(c.columns);
  return p / f * (m == 0 || 2 * m == c.columns ? 1 : 2);
}

template <class T>
struct Sphere : ::testing::Test {
  static constexpr double kTolerance = sizeof(T) == 4 ? 5e-6 : 2e-13;
  static void expectClose(const std::vector<T>& got, const std::vector<double>& want,
                          const std::string& what) {
    expectNearLargest(got, want, kTolerance, what);
  }
};
TYPED_TEST_SUITE(Sphere, RealTypes);

// Both sums over a block by the definition; x is [fields, rows, places, 2], c [fields, places,
// degrees, 2].
template <class T>
void sumByDefinition(const SphereTable& table, const SphereBlock& b, Index fields,
                     const std::vector<T>& x, const std::vector<T>& c, std::vector<double>& wantC,
                     std::vector<double>& wantX) {
  const SphereRows rows = sphereRows(table.grid, table.rows);
  wantC.assign(c.size(), 0);
  wantX.assign(x.size(), 0);
  for (Index p = 0; p < b.places; ++p)
    for (Index d = 0; d < b.degrees; ++d)
      for (Index y = 0; y < b.rows; ++y) {
        const double value =
            tableAt(table, rows, b.degree + d, orderAtPlace(b.place + p, table.orders), b.row + y);
        for (Index f = 0; f < fields; ++f)
          for (Index r = 0; r < 2; ++r) {
            const Index atX = ((f * b.rows + y) * b.places + p) * 2 + r,
                        atC = ((f * b.places + p) * b.degrees + d) * 2 + r;
            wantC[atC] += value * double(x[atX]);
            wantX[atX] += value * double(c[atC]);
          }
      }
}

TYPED_TEST(Sphere, SumsByDefinition) {
  using T = TypeParam;
  Draw draw(61);
  for (int i = 0; i < 40; ++i) {
    SphereTable table{
        .rows = draw.integer(2, 11), .columns = draw.integer(8, 14), .degrees = 0, .orders = 0};
    table.grid = SphereGrid(draw.integer(0, 2));
    table.degrees = draw.integer(1, 12);
    table.orders = draw.integer(1, std::min(table.degrees, table.columns / 2 + 1));
    table.isSynthesis = draw.withProbability(0.5);
    table.isSchmidt = draw.withProbability(0.5);
    table.hasSign = draw.withProbability(0.5);
    table.southFirst = draw.withProbability(0.5);
    SphereBlock b{};
    const auto part = [&](Index all, Index& first, Index& count) {
      first = draw.withProbability(0.4) ? 0 : draw.integer(0, all);
      count = draw.withProbability(0.4) ? all - first : draw.integer(0, all - first);
    };
    part(table.rows, b.row, b.rows);
    part(table.orders, b.place, b.places);
    part(table.degrees, b.degree, b.degrees);
    const Index fields = draw.integer(0, 3);
    const auto x = draw.reals<T>(2 * fields * b.rows * b.places, -1, 1),
               c = draw.reals<T>(2 * fields * b.places * b.degrees, -1, 1);
    std::vector<double> wantC, wantX;
    sumByDefinition(table, b, fields, x, c, wantC, wantX);
    SphereLegendre<T> legendre(std::make_shared<KernelContext>(),
                               draw.withProbability(0.5) ? Backend::Auto : Backend::Reference,
                               table, b, SphereFields::all(fields));
    std::vector<T> gotC(c.size(), T(7)), gotX(x.size(), T(7));
    legendre.toDegrees(x.data(), gotC.data());
    this->expectClose(gotC, wantC, "to degrees, case " + std::to_string(i));
    legendre.toRows(c.data(), gotX.data());
    this->expectClose(gotX, wantX, "to rows, case " + std::to_string(i));
  }
}

// The coefficients of a field are found again: up to degree n - 1 of n rows, or n - 2 with poles.
// The analysis is the sum of those of two blocks of rows, and its adjoint is its transpose.
TYPED_TEST(Sphere, FullQuadratureResolvesWhatTheRowsDo) {
  using T = TypeParam;
  Draw draw(62);
  for (const SphereGrid grid : {SphereGrid::Poles, SphereGrid::Cells, SphereGrid::Gauss})
    for (const Index n : {8, 9, 33}) {
      const Index degrees = grid == SphereGrid::Poles ? n - 1 : n;
      SphereTable table{.rows = n, .columns = 2 * n, .degrees = degrees, .orders = degrees};
      table.grid = grid;
      const auto context = std::make_shared<KernelContext>();
      const SphereBlock all{0, n, 0, degrees, 0, degrees};
      table.isSynthesis = true;
      SphereLegendre<T> synthesis(context, Backend::Auto, table, all, SphereFields::all(2));
      table.isSynthesis = false;
      table.isFull = true;
      SphereLegendre<T> analysis(context, Backend::Auto, table, all, SphereFields::all(2));
      std::vector<T> c = draw.reals<T>(4 * degrees * degrees, -1, 1);
      for (Index i = 0; i < Index(c.size()); ++i)
        if (i / 2 % degrees < orderAtPlace(i / 2 / degrees % degrees, degrees))
          c[i] = 0;
      std::vector<T> x(std::size_t(4 * n * degrees)), back(c.size()), sum(c.size(), T(0));
      synthesis.toRows(c.data(), x.data());
      // The factors of F F*, the transform along the columns and back, are N and e_m.
      for (Index i = 0; i < Index(x.size()); ++i)
        x[i] *= T(n * (orderAtPlace(i / 2 % degrees, degrees) == 0 ? 2 : 1));
      analysis.toDegrees(x.data(), back.data());
      this->expectClose(back, {c.begin(), c.end()}, "rows " + std::to_string(n));
      const Index cut = draw.integer(0, n);
      for (const auto& [first, end] : {std::pair(Index(0), cut), std::pair(cut, n)}) {
        SphereBlock part = all;
        part.row = first;
        part.rows = end - first;
        std::vector<T> partX, partC(c.size()), partBack(std::size_t(4 * part.rows * degrees));
        for (Index f = 0; f < 2; ++f)
          partX.insert(partX.end(), x.begin() + (f * n + first) * 2 * degrees,
                       x.begin() + (f * n + end) * 2 * degrees);
        SphereLegendre<T> one(context, Backend::Auto, table, part, SphereFields::all(2));
        one.toDegrees(partX.data(), partC.data());
        one.toRows(c.data(), partBack.data());
        EXPECT_NEAR(exactDot(partC, c), exactDot(partX, partBack),
                    double(c.size()) * 10 * this->kTolerance);
        for (std::size_t i = 0; i < sum.size(); ++i)
          sum[i] += partC[i];
      }
      this->expectClose(sum, {c.begin(), c.end()}, "sum of blocks of rows");
    }
}

// Vectors are two channels of three, in any order, and the other one is left as it is.
TYPED_TEST(Sphere, SumsVectorsByDefinition) {
  using T = TypeParam;
  Draw draw(65);
  for (int i = 0; i < 12; ++i) {
    VectorCase c;
    c.rows = draw.integer(4, 9);
    c.columns = 12;
    c.degrees = draw.integer(1, c.rows - 1);
    c.orders = draw.integer(1, c.degrees);
    c.grid = i % 3 == 0 ? "gauss" : i % 3 == 1 ? "poles" : "cells";
    c.south = draw.withProbability(0.5);
    c.isDivVort = draw.withProbability(0.5);
    c.isNorthward = draw.withProbability(0.5);
    c.radius = 1.5;
    const bool isSynthesis = draw.withProbability(0.5);
    SphereTable table{.rows = c.rows,
                      .columns = c.columns,
                      .degrees = c.degrees,
                      .orders = c.orders,
                      .grid = sphereGridNamed(c.grid),
                      .isSynthesis = isSynthesis,
                      .southFirst = c.south};
    table.vectors = {c.isDivVort, c.isNorthward, c.radius};
    const auto context = std::make_shared<KernelContext>();
    SphereLegendre<T> legendre(context, Backend::Auto, table,
                               {0, c.rows, 0, c.orders, 0, c.degrees}, {1, 3, {2, 0}});
    CircleFourier<T> fourier(context, Backend::Auto, {c.columns, 0, c.columns, c.orders}, 0,
                             c.orders, 3 * c.rows);
    const Index points = c.rows * c.columns, numbers = 2 * c.orders * c.degrees;
    const auto x = draw.reals<T>(3 * points, -1, 1), y = draw.reals<T>(3 * numbers, -1, 1);
    std::vector<T> X(std::size_t(6 * c.rows * c.orders)), degrees(y.size(), T(7)), back(x.size());
    fourier.toOrders(3 * c.rows, x.data(), X.data());
    legendre.toDegrees(X.data(), degrees.data());
    std::ranges::fill(X, T(0));
    legendre.toRows(y.data(), X.data());
    fourier.toColumns(3 * c.rows, X.data(), back.data());
    const auto pairOf = [](const std::vector<T>& all, Index each) {
      std::vector<double> pair(all.begin() + 2 * each, all.end());
      pair.insert(pair.end(), all.begin(), all.begin() + each);
      return pair;
    };
    const auto compare = [&](const std::vector<double>& got, const std::vector<double>& want,
                             const std::string& what) {
      this->expectClose({got.begin(), got.end()}, want, what + ", case " + std::to_string(i));
    };
    const std::vector<double> matrix = c.vectorMatrix(isSynthesis);
    compare(pairOf(degrees, numbers),
            multiplied(matrix, /*transposed=*/false, std::size_t(2 * points),
                       std::size_t(2 * numbers), pairOf(x, points)),
            "to degrees");
    compare(pairOf(back, points),
            multiplied(matrix, /*transposed=*/true, std::size_t(2 * points),
                       std::size_t(2 * numbers), pairOf(y, numbers)),
            "to rows");
    EXPECT_EQ(degrees[numbers], T(7));
  }
}

TYPED_TEST(Sphere, GivesTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  const SphereTable table{.rows = 24, .columns = 48, .degrees = 24, .orders = 24};
  const auto x = Draw(63).reals<T>(2 * 5 * 24 * 24, -1, 1);
  expectSameForAllThreads("sums", [&] {
    SphereLegendre<T> legendre(std::make_shared<KernelContext>(), Backend::Reference, table,
                               {0, 24, 0, 24, 0, 24}, SphereFields::all(5));
    std::vector<T> c(x.size()), back(x.size());
    legendre.toDegrees(x.data(), c.data());
    legendre.toRows(c.data(), back.data());
    append(c, back);
    return c;
  });
}

TYPED_TEST(Sphere, TransformsCirclesByDefinition) {
  using T = TypeParam;
  Draw draw(64);
  for (int i = 0; i < 40; ++i) {
    FourierDim dim{.extent = draw.integer(1, 13), .begin = 0, .count = 0, .modes = 1};
    dim.begin = draw.withProbability(0.5) ? 0 : draw.integer(0, dim.extent);
    dim.count = draw.withProbability(0.5) ? dim.extent - dim.begin
                                          : draw.integer(0, dim.extent - dim.begin);
    dim.modes = draw.integer(1, dim.extent / 2 + 1);
    const Index place = draw.withProbability(0.5) ? 0 : draw.integer(0, dim.modes),
                places = draw.integer(0, dim.modes - place), lines = draw.integer(0, 5);
    const auto x = draw.reals<T>(lines * dim.count, -1, 1),
               X = draw.reals<T>(2 * lines * places, -1, 1);
    std::vector<double> orders(X.size(), 0), columns(x.size(), 0);
    for (Index line = 0; line < lines; ++line)
      for (Index p = 0; p < places; ++p)
        for (Index j = 0; j < dim.count; ++j) {
          const Index m = orderAtPlace(place + p, dim.modes), atX = 2 * (line * places + p),
                      at = line * dim.count + j;
          const double angle = 2 * kPi * double(m * (dim.begin + j)) / double(dim.extent);
          orders[atX] += std::cos(angle) * double(x[at]);
          orders[atX + 1] -= std::sin(angle) * double(x[at]);
          columns[at] += std::cos(angle) * double(X[atX]) - std::sin(angle) * double(X[atX + 1]);
        }
    CircleFourier<T> fourier(std::make_shared<KernelContext>(), Backend::Auto, dim, place, places,
                             lines);
    std::vector<T> gotOrders(X.size(), T(7)), gotColumns(x.size(), T(7));
    fourier.toOrders(lines, x.data(), gotOrders.data());
    this->expectClose(gotOrders, orders, "to orders, case " + std::to_string(i));
    fourier.toColumns(lines, X.data(), gotColumns.data());
    this->expectClose(gotColumns, columns, "to columns, case " + std::to_string(i));
  }
}

// R_n^0(r) is the Legendre polynomial P_k(2 r^2 - 1) of degree k = n / 2; sums of powers of r have
// no digits left at n = 62. The factor makes the function's mean square over the unit disk 1 / pi.
TEST(FilterBasis, KeepsTheDigitsOfZernikePolynomialsOfHighDegrees) {
  constexpr Index kDegrees = 64;
  constexpr double kCutoff = 0.5;
  const FilterBasis basis(FilterBasisKind::Zernike, kDegrees, 1, kCutoff);
  for (Index n = 0; n < kDegrees; n += 2)
    for (const double r : {0., 0.21, 0.5, 0.83, 0.997, 1.}) {
      double value = 0;
      ASSERT_TRUE(basis.evaluate(n * (n + 1) / 2 + n / 2, r * kCutoff, /*phi=*/1, &value));
      const double expected = std::sqrt(double(n + 1) / std::numbers::pi) *
                              std::legendre(static_cast<unsigned>(n / 2), 2 * r * r - 1);
      EXPECT_NEAR(value, expected, 1e-12) << "degree " << n << " at " << r;
    }
}

} // namespace
} // namespace tenon::test
