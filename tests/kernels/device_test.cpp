// SPDX-License-Identifier: BSD-2-Clause
// Kernels of the device (boxes, reductions, pointwise functions, optimizers, pooling, dropout)
// compared with those of the host on the same random arrays: bit by bit on small integers,
// otherwise to rounding, since the order of sums differs. The results of the host have other tests.
#include "kernels/draw.hpp"
#include "kernels/elementwise/dropout.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/elementwise/selection.hpp"
#include "kernels/elementwise/update.hpp"
#include "kernels/host_context.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/on_device.hpp"
#include "kernels/pooling/pooling.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "sys/log/log.hpp"
#include "sys/traps.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

namespace tenon::test {

namespace {

// A vector on the device.
template <class T>
class OnDevice {
public:
  explicit OnDevice(const std::vector<T>& values)
      : size_(values.size()), copy_(*deviceContext(), values.data(), Index(values.size())) {}
  T* data() { return copy_.data(); }
  std::vector<T> values() const {
    std::vector<T> actual(size_);
    copy_.fetch(actual.data());
    return actual;
  }

private:
  std::size_t size_;
  DeviceCopy<T> copy_;
};

template <class T>
void expectNear(const std::vector<T>& actual, const std::vector<T>& expected, double factor = 16) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(double(expected[i]))) {
      ASSERT_TRUE(std::isnan(double(actual[i]))) << i;
      continue;
    }
    const double tolerance = std::is_integral_v<T> ? 0
                                                   : factor * std::numeric_limits<T>::epsilon() *
                                                         (1 + std::abs(double(expected[i])));
    ASSERT_NEAR(double(actual[i]), double(expected[i]), tolerance) << i;
  }
}

// An array that contains a box: strides, some of them 0 or negative, offset of its first element,
// and number of elements.
struct Strided {
  std::vector<Index> strides;
  Index origin = 0, size = 1;
};

// Random strides, which are 0 with the probability `zeroChance`.
Strided drawStrides(Draw& draw, const std::vector<Index>& extent, double zeroChance) {
  std::vector<std::size_t> order(extent.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  for (std::size_t d = order.size(); d > 1; --d)
    std::swap(order[d - 1], order[std::size_t(draw.integer(0, Index(d) - 1))]);
  Strided s;
  s.strides.assign(extent.size(), 0);
  for (std::size_t d : order) {
    if (draw.withProbability(zeroChance))
      continue;
    const bool backwards = draw.withProbability(0.2);
    s.strides[d] = backwards ? -s.size : s.size;
    if (backwards)
      s.origin += s.size * std::max<Index>(0, extent[d] - 1);
    s.size *= std::max<Index>(1, extent[d]) + draw.integer(0, 1);
  }
  return s;
}

std::vector<Index> drawExtent(Draw& draw, Index maxExtent = 5) {
  std::vector<Index> extent(std::size_t(draw.integer(1, 8)));
  for (Index& e : extent)
    e = draw.withProbability(0.03) ? 0 : draw.integer(1, extent.size() > 5 ? 2 : maxExtent);
  return extent;
}

template <class T>
class Device : public ::testing::Test {};
template <class T>
class DeviceReal : public ::testing::Test {};
TYPED_TEST_SUITE(Device, ElementTypes);
TYPED_TEST_SUITE(DeviceReal, RealTypes);

} // namespace

TEST(DeviceCode, DivisionByAProductIsDivision) {
  Draw draw(3);
  for (int trial = 0; trial < 20000; ++trial) {
    const auto d = std::uint32_t(draw.withProbability(0.5) ? draw.integer(1, 100)
                                                           : draw.integer(1, Index(1) << 31));
    const auto n = std::uint32_t(draw.withProbability(0.2) ? (Index(1) << 31) - 1
                                                           : draw.integer(0, (Index(1) << 31) - 1));
    std::uint32_t quotient = n;
    const std::uint32_t rest = Divisor(d).divide(quotient);
    ASSERT_EQ(quotient, n / d) << n << " / " << d;
    ASSERT_EQ(rest, n % d) << n << " / " << d;
  }
}

TYPED_TEST(Device, BoxesAreCopiedAddedScaledAndFilled) {
  using T = TypeParam;
  Draw draw(5);
  for (int trial = 0; trial < 60; ++trial) {
    const std::vector<Index> extent = drawExtent(draw);
    const int rank = int(extent.size());
    const Strided xs = drawStrides(draw, extent, 0.15), ys = drawStrides(draw, extent, 0);
    const std::vector<T> x = draw.integers<T>(xs.size), before = draw.integers<T>(ys.size);
    const auto alike = [&](auto run) {
      std::vector<T> expected = before;
      run(hostContext(), x.data() + xs.origin, expected.data() + ys.origin);
      OnDevice<T> from(x), to(before);
      run(*deviceContext(), from.data() + xs.origin, to.data() + ys.origin);
      ASSERT_EQ(to.values(), expected) << "trial " << trial;
    };
    for (Combine op : {Combine::Copy, Combine::Add, Combine::Max})
      alike([&](KernelContext& at, const T* p, T* q) {
        blockCombine(at, op, rank, extent.data(), p, xs.strides.data(), q, ys.strides.data());
      });
    for (T beta : {T(0), T(1), T(3)})
      alike([&](KernelContext& at, const T* p, T* q) {
        blockAxpby<T, T>(at, rank, extent.data(), T(2), p, xs.strides.data(), beta, q,
                         ys.strides.data());
      });
    alike([&](KernelContext& at, const T*, T* q) {
      blockScale(at, rank, extent.data(), T(-2), q, ys.strides.data());
    });
    alike([&](KernelContext& at, const T*, T* q) {
      fillBlock(at, rank, extent.data(), T(7), q, ys.strides.data());
    });
  }
}

// Boxes with more elements than there are threads: one row, separate rows, columns; rows that begin
// and end at multiples of 16 bytes; and transposed boxes, of whole tiles and with incomplete tiles.
// Shapes are {rows, columns, stride of rows in y, stride of columns in y}.
TYPED_TEST(Device, LongBoxesAreWalkedWhole) {
  using T = TypeParam;
  Draw draw(15);
  const Index shapes[][4] = {{1, 60000, 60000, 1}, {3, 20000, 20001, 1}, {20000, 3, 1, 20003},
                             {300, 64, 68, 1},     {64, 96, 1, 64},      {75, 130, 1, 77}};
  for (const auto& [rows, columns, ofRow, ofColumn] : shapes) {
    const Index extent[] = {rows, columns}, xs[] = {columns, 1}, ys[] = {ofRow, ofColumn};
    const auto x = draw.integers<T>(rows * columns);
    std::vector<T> y = draw.integers<T>((rows - 1) * ofRow + (columns - 1) * ofColumn + 1);
    OnDevice<T> dx(x), dy(y);
    const auto both = [&](auto run) {
      run(hostContext(), x.data(), y.data());
      run(*deviceContext(), dx.data(), dy.data());
      ASSERT_EQ(dy.values(), y) << rows << " x " << columns;
    };
    both([&](KernelContext& at, const T* p, T* q) {
      blockCombine(at, Combine::Copy, 2, extent, p, xs, q, ys);
    });
    both([&](KernelContext& at, const T* p, T* q) {
      blockAxpby<T, T>(at, 2, extent, T(2), p, xs, T(3), q, ys);
    });
  }
}

TYPED_TEST(Device, WrittenStridesOfZeroReduceInOrder) {
  using T = TypeParam;
  const std::vector<T> x{1, 2, 3, 40, 50, 60};
  const Index extent[] = {2, 3}, xs[] = {3, 1}, ys[] = {1, 0};
  for (Combine op : {Combine::Add, Combine::Max, Combine::Copy}) {
    std::vector<T> expected{7, 7};
    OnDevice<T> from(x), to(expected);
    blockCombine(hostContext(), op, 2, extent, x.data(), xs, expected.data(), ys);
    blockCombine(*deviceContext(), op, 2, extent, from.data(), xs, to.data(), ys);
    EXPECT_EQ(to.values(), expected);
  }
  OnDevice<T> y({1, 2, 3});
  const Index overlapping[] = {1, 1};
  OnDevice<T> from(x);
  expectError(errorOf([&] {
                blockCombine(*deviceContext(), Combine::Add, 2, extent, from.data(), xs, y.data(),
                             overlapping);
              }),
              TENON_ERR_SUPPORT, {"writes elements twice", "space host"});
  expectError(errorOf([&] {
                blockAxpby<T, T>(*deviceContext(), 2, extent, T(2), from.data(), xs, T(1), y.data(),
                                 ys);
              }),
              TENON_ERR_SUPPORT, {"several times", "strides other than 0", "space host"});
}

TYPED_TEST(Device, BoxesAreMultipliedAndSummed) {
  using T = TypeParam;
  Draw draw(6);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Index> extent = drawExtent(draw);
    if (draw.withProbability(0.3)) // sums in trees and in pieces
      extent = {draw.integer(1, 3), draw.integer(60, 200), draw.integer(1, 90)};
    const int rank = int(extent.size());
    const Strided as = drawStrides(draw, extent, 0.4), xs = drawStrides(draw, extent, 0.1),
                  ys = drawStrides(draw, extent, 0.5);
    const auto a = draw.integers<T>(as.size), x = draw.integers<T>(xs.size);
    const bool ones = draw.withProbability(0.2);
    std::vector<T> y = draw.integers<T>(ys.size);
    OnDevice<T> da(a), dx(x), dy(y);
    blockMultiplyAdd<T>(hostContext(), rank, extent.data(), T(2),
                        ones ? nullptr : a.data() + as.origin, as.strides.data(),
                        x.data() + xs.origin, xs.strides.data(), y.data() + ys.origin,
                        ys.strides.data());
    blockMultiplyAdd<T>(*deviceContext(), rank, extent.data(), T(2),
                        ones ? nullptr : da.data() + as.origin, as.strides.data(),
                        dx.data() + xs.origin, xs.strides.data(), dy.data() + ys.origin,
                        ys.strides.data());
    ASSERT_EQ(dy.values(), y) << "trial " << trial; // exact, of small integers
  }
}

TYPED_TEST(DeviceReal, SumsAndMaximaOfBoxes) {
  using T = TypeParam;
  Draw draw(7);
  for (Index n : {0, 1, 63, 64, 255, 256, 4096, 4097, 70000}) {
    const auto x = draw.integers<T>(n), y = draw.integers<T>(n);
    OnDevice<T> dx(x), dy(y);
    EXPECT_EQ(dot(*deviceContext(), n, dx.data(), dy.data()),
              dot(hostContext(), n, x.data(), y.data()));
    EXPECT_EQ(sum(*deviceContext(), n, dx.data()), sum(hostContext(), n, x.data()));
    EXPECT_EQ(maxAbs(*deviceContext(), n, dx.data()), maxAbs(hostContext(), n, x.data()));
  }
  for (int trial = 0; trial < 60; ++trial) {
    const std::vector<Index> extent = drawExtent(draw);
    const int rank = int(extent.size());
    const Strided xs = drawStrides(draw, extent, 0.1), ys = drawStrides(draw, extent, 0.1);
    auto x = draw.integers<T>(xs.size), y = draw.integers<T>(ys.size);
    OnDevice<T> dx(x), dy(y);
    EXPECT_EQ(dotBlock(*deviceContext(), rank, extent.data(), dx.data() + xs.origin,
                       xs.strides.data(), dy.data() + ys.origin, ys.strides.data()),
              dotBlock(hostContext(), rank, extent.data(), x.data() + xs.origin, xs.strides.data(),
                       y.data() + ys.origin, ys.strides.data()));
    EXPECT_EQ(
        maxAbsBlock(*deviceContext(), rank, extent.data(), dx.data() + xs.origin,
                    xs.strides.data()),
        maxAbsBlock(hostContext(), rank, extent.data(), x.data() + xs.origin, xs.strides.data()));
  }
  OnDevice<T> bad({1, std::numeric_limits<T>::quiet_NaN(), 2});
  EXPECT_TRUE(std::isnan(maxAbs(*deviceContext(), 3, bad.data())));
}

TYPED_TEST(DeviceReal, PointwiseFunctionsAndTheirDerivatives) {
  const NoTraps noTraps; // NaN, the root of a negative number, the logarithm of 0
  using T = TypeParam;
  Draw draw(8);
  const Index n = 1000;
  auto x = draw.reals<T>(n, -8, 8);
  x[0] = std::numeric_limits<T>::quiet_NaN();
  x[1] = T(-400), x[2] = T(400), x[3] = T(5e6), x[4] = 0;
  const auto v = draw.reals<T>(n, -2, 2);
  for (Pointwise kind :
       {Pointwise::Relu,      Pointwise::Tanh,     Pointwise::Sigmoid,     Pointwise::LeakyRelu,
        Pointwise::Elu,       Pointwise::Gelu,     Pointwise::GeluTanh,    Pointwise::Silu,
        Pointwise::Softplus,  Pointwise::Exp,      Pointwise::Sine,        Pointwise::Cosine,
        Pointwise::Clamp,     Pointwise::Abs,      Pointwise::Sqrt,        Pointwise::Reciprocal,
        Pointwise::Power,     Pointwise::Log,      Pointwise::Softsign,    Pointwise::Mish,
        Pointwise::HardSwish, Pointwise::Selu,     Pointwise::Celu,        Pointwise::Scale,
        Pointwise::Tan,       Pointwise::Asin,     Pointwise::Acos,        Pointwise::Atan,
        Pointwise::Sinh,      Pointwise::Cosh,     Pointwise::Asinh,       Pointwise::Acosh,
        Pointwise::Atanh,     Pointwise::Erf,      Pointwise::Floor,       Pointwise::Ceil,
        Pointwise::Round,     Pointwise::Identity, Pointwise::NegativePart}) {
    SCOPED_TRACE(int(kind));
    const PointwiseFunction f(kind, 0.3, 1.5);
    auto points = x;
    if (kind == Pointwise::Exp || kind == Pointwise::Sinh || kind == Pointwise::Cosh)
      points[1] = points[2] = points[3] = T(3);
    if (kind == Pointwise::Tan || kind == Pointwise::Asin || kind == Pointwise::Acos ||
        kind == Pointwise::Atanh)
      for (T& point : points)
        point = std::sin(point) * T(0.9);
    if (kind == Pointwise::Acosh)
      for (T& point : points)
        point = std::abs(point) + T(1.25);
    if (kind == Pointwise::Sqrt || kind == Pointwise::Reciprocal || kind == Pointwise::Power ||
        kind == Pointwise::Log)
      for (T& point : points)
        point = std::abs(point) + T(0.25);
    std::vector<T> y(x.size()), r(x.size());
    pointwiseForward(hostContext(), f, n, points.data(), y.data());
    pointwiseDerivative(hostContext(), f, n, points.data(), y.data(), v.data(), r.data());
    OnDevice<T> dx(points), dy(x), dv(v), dr(x);
    pointwiseForward(*deviceContext(), f, n, dx.data(), dy.data());
    pointwiseDerivative(*deviceContext(), f, n, dx.data(), dy.data(), dv.data(), dr.data());
    expectNear(dy.values(), y);
    expectNear(dr.values(), r);
  }
}

TYPED_TEST(DeviceReal, RowsAndVectors) {
  using T = TypeParam;
  Draw draw(9);
  for (int trial = 0; trial < 20; ++trial) {
    const Index rows = draw.integer(0, 300), cols = draw.integer(1, 70), n = rows * cols;
    const auto x = draw.integers<T>(n), b = draw.integers<T>(cols);
    const auto alike = [&](std::vector<T> y, auto run) {
      OnDevice<T> dx(x), db(b), dy(y);
      run(hostContext(), x.data(), b.data(), y.data());
      run(*deviceContext(), dx.data(), db.data(), dy.data());
      ASSERT_EQ(dy.values(), y);
    };
    using P = const T*;
    alike(draw.integers<T>(n),
          [&](KernelContext& at, P, P bias, T* y) { addBias(at, rows, cols, bias, y); });
    alike(draw.integers<T>(cols),
          [&](KernelContext& at, P p, P, T* y) { sumRows(at, rows, cols, p, y); });
    alike(draw.integers<T>(n),
          [&](KernelContext& at, P p, P, T* y) { axpby(at, n, T(2), p, T(3), y); });
    const auto secondOperand = draw.integers<T>(n);
    OnDevice<T> there(secondOperand);
    const auto second = [&](KernelContext& at) -> P {
      return &at == deviceContext().get() ? there.data() : secondOperand.data();
    };
    for (const Relation relation :
         {Relation::Greater, Relation::GreaterOrEqual, Relation::Equal, Relation::NotEqual})
      alike(draw.integers<T>(n), [&](KernelContext& at, P p, P, T* y) {
        compareElements(at, relation, n, p, second(at), y);
      });
    alike(draw.integers<T>(n), [&](KernelContext& at, P p, P, T* y) {
      selectElements<T>(at, n, p, second(at), nullptr, y);
    });
    alike(draw.integers<T>(n),
          [&](KernelContext& at, P p, P, T* y) { axpby(at, n, T(2), p, T(0), y); });
    alike(draw.integers<T>(n),
          [&](KernelContext& at, P p, P, T* y) { product(at, n, p, y, /*adds=*/true, y); });
    alike(draw.integers<T>(n),
          [&](KernelContext& at, P p, P, T* y) { product(at, n, p, y, /*adds=*/false, y); });
  }
}

TYPED_TEST(DeviceReal, OptimizerSteps) {
  using T = TypeParam;
  Draw draw(10);
  const Index n = 513;
  const auto g = draw.reals<T>(n, -1, 1);
  std::vector<T> w = draw.reals<T>(n, -1, 1), m(g.size()), v(g.size()), velocity(g.size());
  OnDevice<T> dg(g), dw(w), dm(m), dv(v), dvelocity(velocity);
  for (int step = 1; step <= 3; ++step) {
    const AdamStep adam{0.01, 0.9, 0.999, 1e-6, 0.1, step == 2, step};
    sgdStep<T>(hostContext(), n, 0.1, 0, 0.2, false, g.data(), nullptr, w.data());
    sgdStep<T>(hostContext(), n, 0.1, 0.5, 0.2, step == 2, g.data(), velocity.data(), w.data());
    adamStep<T>(hostContext(), n, adam, g.data(), m.data(), v.data(), w.data());
    sgdStep<T>(*deviceContext(), n, 0.1, 0, 0.2, false, dg.data(), nullptr, dw.data());
    sgdStep<T>(*deviceContext(), n, 0.1, 0.5, 0.2, step == 2, dg.data(), dvelocity.data(),
               dw.data());
    adamStep<T>(*deviceContext(), n, adam, dg.data(), dm.data(), dv.data(), dw.data());
  }
  expectNear(dw.values(), w, 64);
  expectNear(dm.values(), m);
  expectNear(dv.values(), v);
}

TYPED_TEST(DeviceReal, PoolingEqualsTheReference) {
  using T = TypeParam;
  Draw draw(11);
  for (int trial = 0; trial < 60; ++trial) {
    const WindowShape window = draw.withProbability(0.5) ? draw.ordinaryWindow() : draw.window();
    for (PoolingMode mode :
         {PoolingMode::Max, PoolingMode::AverageIncludePad, PoolingMode::AverageExcludePad}) {
      const PoolingShape shape{draw.integer(0, 3), window, mode};
      std::unique_ptr<Pooling<T>> reference;
      if (errorOf([&] { reference = makePooling<T>(shape, Backend::Reference); }).code() !=
          TENON_SUCCESS)
        continue; // a window that reads nothing
      SCOPED_TRACE(describe(window));
      const auto pooling = makePooling<T>(shape, Backend::Auto, deviceContext());
      const Index in = shape.planes * inputVolume(window),
                  out = shape.planes * outputVolume(window);
      const auto x = draw.integers<T>(in), dx = draw.integers<T>(in), dy = draw.integers<T>(out);
      std::vector<T> y(dy.size()), ty(dy.size()), ax(x.size());
      std::vector<std::byte> kept(std::size_t(reference->workspaceBytes()));
      reference->forward(x.data(), y.data(), kept.data());
      reference->tangent(dx.data(), kept.data(), ty.data());
      reference->adjoint(dy.data(), kept.data(), ax.data());
      OnDevice<T> px(x), pdx(dx), pdy(dy), py(y), pty(ty), pax(x);
      OnDevice<std::byte> workspace(std::vector<std::byte>(std::size_t(pooling->workspaceBytes())));
      pooling->forward(px.data(), py.data(), workspace.data());
      pooling->tangent(pdx.data(), workspace.data(), pty.data());
      pooling->adjoint(pdy.data(), workspace.data(), pax.data());
      expectNear(py.values(), y);
      expectNear(pty.values(), ty);
      expectNear(pax.values(), ax);
    }
  }
}

TYPED_TEST(DeviceReal, PoolingWithStepsBeyond32Bits) {
  using T = TypeParam;
  WindowShape window;
  window.rank = 1;
  window.in[0] = 3;
  window.kernel[0] = 1;
  // Unused: there is one output and one tap.
  window.stride[0] = window.dilation[0] = Index(1) << 40;
  window.padLow[0] = -1;
  const auto pooling =
      makePooling<T>({1, window, PoolingMode::AverageIncludePad}, Backend::Auto, deviceContext());
  OnDevice<T> x({1, 2, 3}), y({0}), dx({7, 7, 7});
  pooling->forward(x.data(), y.data(), nullptr);
  EXPECT_EQ(y.values(), (std::vector<T>{2}));
  pooling->adjoint(y.data(), nullptr, dx.data());
  EXPECT_EQ(dx.values(), (std::vector<T>{0, 2, 0}));
  window.kernel[0] = 2;
  expectError(
      errorOf([&] {
        makePooling<T>({1, window, PoolingMode::AverageExcludePad}, Backend::Auto, deviceContext());
      }),
      TENON_ERR_SUPPORT, {"the padded input of a pooling", "2^31"});
}

TYPED_TEST(DeviceReal, DropoutDrawsTheSameMask) {
  using T = TypeParam;
  Draw draw(12);
  const Index extent[] = {3, 4, 7}, strides[] = {300, 20, 1}, n = 84;
  const auto x = draw.reals<T>(n, 1, 2);
  const DropoutMask mask{42, 7, 0.4};
  std::uint64_t counter = 5;
  std::vector<T> y(x.size());
  applyDropout(hostContext(), mask, &counter, 3, extent, 1000, strides, x.data(), y.data());
  OnDevice<T> dx(x), dy(x);
  OnDevice<std::uint64_t> dcounter({0});
  keepCounter(*deviceContext(), counter, dcounter.data());
  applyDropout(*deviceContext(), mask, dcounter.data(), 3, extent, 1000, strides, dx.data(),
               dy.data());
  EXPECT_EQ(dy.values(), y);
}

TEST(DeviceLog, WaitsForTheDeviceWhileItIsOn) {
  const std::vector<double> values(1000, 1);
  OnDevice<double> x(values);
  const auto fillLater = [&] {
    const LogScope scope(logEvent("Fill"));
    const Index extent[] = {1000}, strides[] = {1};
    fillBlock(*deviceContext(), 1, extent, 2., x.data(), strides);
    return deviceContext()->stream().record();
  };
  logEnable(true);
  const Event logged = fillLater();
  logEnable(false);
  EXPECT_TRUE(logged.isDone());
}

// A kernel without code for the device asks the device's context for threads.
TEST(DeviceCode, KernelsOfTheHostAreRefused) {
  expectError(errorOf([] { deviceContext()->threads(); }), TENON_ERR_SUPPORT,
              {"no code for the device", "space host"});
}

} // namespace tenon::test
