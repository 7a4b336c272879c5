// SPDX-License-Identifier: BSD-2-Clause
// Pooling: the reference backend against results computed by hand, also for equal maxima, NaN and
// infinities; the other backends of the host against the reference; the tangent against the adjoint
// by exact dot products, and against difference quotients; and errors for invalid shapes.
//
// Strides and dilations of a window that are not given are 1, paddings are 0.
#include "kernels/pooling/pooling.hpp"

#include "kernels/draw.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace tenon::test {

namespace {

constexpr PoolingMode kModes[] = {PoolingMode::Max, PoolingMode::AverageIncludePad,
                                  PoolingMode::AverageExcludePad};

// A shape that makePooling() accepts for the mode.
PoolingShape drawShape(Draw& draw, PoolingMode mode) {
  for (;;) {
    const PoolingShape shape{draw.withProbability(0.04) ? 0 : draw.integer(1, 4),
                             draw.withProbability(0.3)   ? draw.window()
                             : draw.withProbability(0.5) ? draw.tilingWindow()
                                                         : draw.ordinaryWindow(),
                             mode};
    if (errorOf([&] { makePooling<double>(shape, Backend::Reference); }).code() == TENON_SUCCESS)
      return shape;
  }
}

template <class T>
void expectClose(const std::vector<T>& value, const std::vector<T>& expected,
                 const std::string& what) {
  ASSERT_EQ(value.size(), expected.size());
  for (size_t i = 0; i < value.size(); ++i)
    ASSERT_NEAR(value[i], expected[i], 32 * std::numeric_limits<T>::epsilon())
        << what << " at " << i;
}

template <class T>
struct Results {
  std::vector<T> y, dx, dy;
};

// y = pool(x), dx = the adjoint applied to the cotangent v, dy = the tangent in the direction u.
// Also checks that y is the same without a workspace.
template <class T>
Results<T> allResults(const PoolingShape& shape, Backend backend, const std::vector<T>& x,
                      const std::vector<T>& u, const std::vector<T>& v) {
  const auto op = makePooling<T>(shape, backend);
  std::vector<std::int64_t> workspace(size_t(op->workspaceBytes() + 7) / 8);
  Results<T> r{std::vector<T>(v.size(), T(99)), std::vector<T>(x.size(), T(99)),
               std::vector<T>(v.size(), T(99))};
  op->forward(x.data(), r.y.data(), workspace.data());
  op->adjoint(v.data(), workspace.data(), r.dx.data());
  op->tangent(u.data(), workspace.data(), r.dy.data());
  std::vector<T> again(v.size(), T(99));
  op->forward(x.data(), again.data(), nullptr);
  EXPECT_EQ(again, r.y);
  return r;
}

} // namespace

template <class T>
class PoolingKernel : public ::testing::Test {};
TYPED_TEST_SUITE(PoolingKernel, RealTypes);

TYPED_TEST(PoolingKernel, ByHand) {
  using T = TypeParam;
  const WindowShape w{.rank = 1,
                      .in = {4},
                      .out = {3},
                      .kernel = {2},
                      .stride = {2},
                      .padLow = {1}}; // reads (-, 0), (1, 2), (3, -)
  const std::vector<T> x{-4, -2, -6, -8}, u{1, 2, 3, 4}, v{10, 20, 30};
  for (Backend backend : {Backend::Reference, Backend::Blas, Backend::Auto}) {
    const auto of = [&](PoolingMode mode) {
      return allResults<T>({.planes = 1, .window = w, .mode = mode}, backend, x, u, v);
    };
    const auto max = of(PoolingMode::Max);
    EXPECT_EQ(max.y, (std::vector<T>{-4, -2, -8})); // padding is absent, not 0
    EXPECT_EQ(max.dx, (std::vector<T>{10, 20, 0, 30}));
    EXPECT_EQ(max.dy, (std::vector<T>{1, 2, 4}));
    const auto include = of(PoolingMode::AverageIncludePad);
    EXPECT_EQ(include.y, (std::vector<T>{-2, -4, -4}));
    EXPECT_EQ(include.dx, (std::vector<T>{5, 10, 10, 15}));
    const auto exclude = of(PoolingMode::AverageExcludePad);
    EXPECT_EQ(exclude.y, (std::vector<T>{-4, -4, -8}));
    EXPECT_EQ(exclude.dx, (std::vector<T>{10, 10, 10, 30}));
  }
}

// Four elements padded by one on both sides, with the outputs of PyTorch's ceil mode: the last
// window extends one element beyond the padding, and its mean counts two elements.
TYPED_TEST(PoolingKernel, MeansCountNothingBeyondThePadding) {
  using T = TypeParam;
  WindowShape w{.rank = 1,
                .in = {4},
                .out = {3},
                .kernel = {3},
                .stride = {2},
                .padLow = {1}}; // reads (-, 0, 1), (1, 2, 3), (3, -, beyond)
  w.padEnd[0] = 5;
  const std::vector<T> x{1, 2, 3, 4}, v{6, 12, 18};
  for (Backend backend : {Backend::Reference, Backend::Blas, Backend::Auto}) {
    const auto include = allResults<T>({1, w, PoolingMode::AverageIncludePad}, backend, x, x, v);
    EXPECT_EQ(include.y, (std::vector<T>{1, 3, 2}));
    EXPECT_EQ(include.dx, (std::vector<T>{2, 6, 4, 13}));
    const auto exclude = allResults<T>({1, w, PoolingMode::AverageExcludePad}, backend, x, x, v);
    EXPECT_EQ(exclude.y, (std::vector<T>{1.5, 3, 4}));
    const auto max = allResults<T>({1, w, PoolingMode::Max}, backend, x, x, v);
    EXPECT_EQ(max.y, (std::vector<T>{2, 4, 4}));
  }
}

TYPED_TEST(PoolingKernel, TheFirstOfEqualMaximaWins) {
  using T = TypeParam;
  const WindowShape w{.rank = 2, .in = {4, 4}, .out = {2, 2}, .kernel = {2, 2}, .stride = {2, 2}};
  const std::vector<T> x{1, 1, 0, 5, //
                         1, 1, 5, 5, //
                         0, 2, 0, 0, //
                         2, 2, 0, 0};
  const std::vector<T> v{1, 2, 3, 4};
  for (Backend backend : {Backend::Reference, Backend::Blas, Backend::Auto}) {
    const auto r = allResults<T>({1, w, PoolingMode::Max}, backend, x, x, v);
    EXPECT_EQ(r.dx, (std::vector<T>{1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0}));
  }
}

TYPED_TEST(PoolingKernel, NaNPropagatesAndInfinityIsANumber) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const WindowShape w{.rank = 1, .in = {9}, .out = {3}, .kernel = {3}, .stride = {3}};
  const std::vector<T> x{1, nan, 2, nan, 7, nan, -inf, -inf, -inf}, v{1, 2, 3};
  for (Backend backend : {Backend::Reference, Backend::Blas, Backend::Auto}) {
    const auto op = makePooling<T>({1, w, PoolingMode::Max}, backend);
    std::vector<std::int64_t> workspace(size_t(op->workspaceBytes() + 7) / 8);
    std::vector<T> y(3), dx(9);
    op->forward(x.data(), y.data(), workspace.data());
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_EQ(y[2], -inf);
    op->adjoint(v.data(), workspace.data(), dx.data());
    EXPECT_EQ(dx, (std::vector<T>{0, 1, 0, 2, 0, 0, 3, 0, 0}));
  }
}

TYPED_TEST(PoolingKernel, BackendsEqualTheReference) {
  using T = TypeParam;
  Draw draw(8);
  for (PoolingMode mode : kModes)
    for (int trial = 0; trial < 300; ++trial) {
      const PoolingShape shape = drawShape(draw, mode);
      // Few different values, among which equal maxima are frequent.
      const auto x = draw.integers<T>(shape.planes * inputVolume(shape.window), 2);
      const auto u = draw.integers<T>(Index(x.size()));
      const auto v = draw.integers<T>(shape.planes * outputVolume(shape.window));
      const auto expected = allResults<T>(shape, Backend::Reference, x, u, v);
      for (Backend backend : fastBackends<T>()) {
        const auto r = allResults<T>(shape, backend, x, u, v);
        const std::string what = backendName(backend) + (" " + describe(shape.window));
        ASSERT_NO_FATAL_FAILURE(expectClose(r.y, expected.y, what));
        ASSERT_NO_FATAL_FAILURE(expectClose(r.dx, expected.dx, what));
        ASSERT_NO_FATAL_FAILURE(expectClose(r.dy, expected.dy, what));
      }
    }
}

// Rows shorter than a vector, of its length, and longer. With several planes, a row that is
// computed in whole vectors (pooling/tiles.cpp) writes into the next row or plane.
TYPED_TEST(PoolingKernel, TilesOfEveryRowLengthEqualTheReference) {
  using T = TypeParam;
  Draw draw(10);
  for (Index width : {1, 2, 3, 4})
    for (Index outputs = 1; outputs <= 18; ++outputs)
      for (Index planes : {1, 2, 7}) {
        const PoolingShape shape{planes,
                                 {.rank = 2,
                                  .in = {4, outputs * width},
                                  .out = {2, outputs},
                                  .kernel = {2, width},
                                  .stride = {2, width}},
                                 PoolingMode::Max};
        const auto x = draw.integers<T>(planes * inputVolume(shape.window), 2);
        const auto u = draw.integers<T>(Index(x.size()));
        const auto v = draw.integers<T>(planes * outputVolume(shape.window));
        const auto expected = allResults<T>(shape, Backend::Reference, x, u, v);
        const auto r = allResults<T>(shape, Backend::Blas, x, u, v);
        ASSERT_EQ(r.y, expected.y) << describe(shape.window);
        ASSERT_EQ(r.dx, expected.dx) << describe(shape.window);
        ASSERT_EQ(r.dy, expected.dy) << describe(shape.window);
      }
}

TYPED_TEST(PoolingKernel, TangentAndAdjointAreAPair) {
  using T = TypeParam;
  Draw draw(9);
  for (PoolingMode mode : kModes)
    for (int trial = 0; trial < 200; ++trial) {
      const PoolingShape shape = drawShape(draw, mode);
      const auto x = draw.integers<T>(shape.planes * inputVolume(shape.window), 2);
      const auto u = draw.integers<T>(Index(x.size()));
      const auto v = draw.integers<T>(shape.planes * outputVolume(shape.window));
      const auto r = allResults<T>(shape, Backend::Reference, x, u, v);
      const double pairing = exactDot(r.dy, v);
      if (mode == PoolingMode::Max)
        EXPECT_EQ(pairing, exactDot(u, r.dx));
      else
        EXPECT_NEAR(pairing, exactDot(u, r.dx), 1e4 * double(std::numeric_limits<T>::epsilon()));
    }
}

// The tangent equals a difference quotient, for random inputs, which have no equal maxima.
TEST(PoolingKernel, TangentIsTheDerivative) {
  Draw draw(10);
  const double step = 1e-6;
  for (PoolingMode mode : kModes)
    for (int trial = 0; trial < 50; ++trial) {
      const PoolingShape shape = drawShape(draw, mode);
      const auto op = makePooling<double>(shape, Backend::Auto);
      auto x = draw.reals<double>(shape.planes * inputVolume(shape.window), -1, 1);
      const auto u = draw.reals<double>(Index(x.size()), -1, 1);
      std::vector<double> y(size_t(shape.planes * outputVolume(shape.window))), moved = y, dy = y;
      std::vector<std::byte> workspace(size_t(op->workspaceBytes()));
      op->forward(x.data(), y.data(), workspace.data());
      op->tangent(u.data(), workspace.data(), dy.data());
      for (size_t i = 0; i < x.size(); ++i)
        x[i] += step * u[i];
      op->forward(x.data(), moved.data(), nullptr);
      for (size_t i = 0; i < y.size(); ++i)
        EXPECT_NEAR((moved[i] - y[i]) / step, dy[i], 1e-8);
    }
}

TEST(PoolingKernel, SaysWhoComputes) {
  WindowShape w{.rank = 2, .in = {6, 6}, .out = {3, 3}, .kernel = {2, 2}, .stride = {2, 2}};
  const auto backendOf = [&](PoolingMode mode) {
    return makePooling<float>({2, w, mode}, Backend::Auto)->backend();
  };
  const Backend averages = hasOneDnn() ? Backend::OneDnn : Backend::Blas;
  EXPECT_EQ(backendOf(PoolingMode::AverageExcludePad), averages);
  EXPECT_EQ(backendOf(PoolingMode::AverageIncludePad), averages);
  EXPECT_EQ(backendOf(PoolingMode::Max), Backend::Blas);
  w.dilation[1] = 2;
  EXPECT_EQ(backendOf(PoolingMode::AverageExcludePad), Backend::Blas);
}

TEST(PoolingKernel, RefusesWindowsThatReadNothing) {
  const WindowShape w{
      .rank = 1, .in = {4}, .out = {3}, .kernel = {2}, .padLow = {2}}; // output 0 reads -2 and -1
  for (PoolingMode mode : {PoolingMode::Max, PoolingMode::AverageExcludePad})
    for (Backend backend : {Backend::Reference, Backend::Blas})
      expectError(errorOf([&] {
                    makePooling<double>({1, w, mode}, backend);
                  }),
                  TENON_ERR_ARG, {"output 0", "dimension 0", "padding"});
  EXPECT_NO_THROW(makePooling<double>({1, w, PoolingMode::AverageIncludePad}, Backend::Auto));
  EXPECT_NO_THROW(makePooling<double>({0, w, PoolingMode::Max}, Backend::Auto));
  expectError(errorOf([&] {
                makePooling<float>({-1, w, PoolingMode::Max}, Backend::Auto);
              }),
              TENON_ERR_ARG, {"planes is -1"});
}

TEST(PoolingKernel, RefusesMeansWithoutADivisor) {
  WindowShape w{.rank = 1, .in = {4}, .out = {3}, .kernel = {2}, .stride = {2}};
  w.padEnd[0] = 4; // output 2 begins there
  expectError(errorOf([&] {
                makePooling<double>({1, w, PoolingMode::AverageIncludePad}, Backend::Auto);
              }),
              TENON_ERR_ARG, {"output 2", "dimension 0", "ends at 4"});
}

TEST(PoolingKernel, RefusesPlanesBeyondTheWorkspace) {
  const Index side = Index(1) << 16;
  const WindowShape w{.rank = 2, .in = {side, side}, .out = {1, 1}, .kernel = {2, 2}};
  expectError(errorOf([&] {
                makePooling<float>({1, w, PoolingMode::Max}, Backend::Auto);
              }),
              TENON_ERR_SUPPORT, {"4294967296", "2147483647"});
}

} // namespace tenon::test
