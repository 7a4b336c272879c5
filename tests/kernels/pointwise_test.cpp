// SPDX-License-Identifier: BSD-2-Clause
// Pointwise functions and their derivatives compared with other formulas in long double; their
// limits and NaN; comparisons, selections, and operations on vectors compared with results computed
// by hand.
#include "kernels/elementwise/pointwise.hpp"

#include "kernels/draw.hpp"
#include "kernels/elementwise/selection.hpp"
#include "kernels/functors/pointwise.hpp"
#include "kernels/host_context.hpp"
#include "sys/traps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tenon::test {

namespace {

constexpr double kSlope = 0.2, kAlpha = 0.7, kFactor = -1.5, kShift = 0.375, kLow = -1.25,
                 kHigh = 2.5, kExponent = 1.75;
const PointwiseFunction kFunctions[] = {Pointwise::Relu,
                                        Pointwise::Tanh,
                                        Pointwise::Sigmoid,
                                        {Pointwise::LeakyRelu, kSlope},
                                        {Pointwise::Elu, kAlpha},
                                        Pointwise::Gelu,
                                        Pointwise::GeluTanh,
                                        Pointwise::Silu,
                                        Pointwise::Softplus,
                                        Pointwise::Exp,
                                        Pointwise::Sine,
                                        {Pointwise::Scale, kFactor},
                                        Pointwise::Cosine,
                                        Pointwise::Abs,
                                        Pointwise::Sqrt,
                                        {Pointwise::Clamp, kLow, kHigh},
                                        Pointwise::NegativePart,
                                        Pointwise::Reciprocal,
                                        Pointwise::Log,
                                        Pointwise::Softsign,
                                        {Pointwise::Power, kExponent},
                                        Pointwise::Mish,
                                        Pointwise::Selu,
                                        Pointwise::HardSwish,
                                        {Pointwise::Celu, kAlpha},
                                        Pointwise::Tan,
                                        Pointwise::Asin,
                                        Pointwise::Acos,
                                        Pointwise::Atan,
                                        Pointwise::Sinh,
                                        Pointwise::Cosh,
                                        Pointwise::Asinh,
                                        Pointwise::Acosh,
                                        Pointwise::Atanh,
                                        Pointwise::Erf,
                                        Pointwise::Floor,
                                        Pointwise::Ceil,
                                        Pointwise::Round,
                                        Pointwise::Identity,
                                        {Pointwise::Scale, kFactor, kShift}};

// The range of the arguments of the tests.
std::pair<double, double> argumentsOf(Pointwise kind) {
  switch (kind) {
  case Pointwise::Sqrt:
  case Pointwise::Reciprocal:
  case Pointwise::Log:
  case Pointwise::Power:
    return {0.25, 6};
  case Pointwise::Tan:
    return {-1.25, 1.25};
  case Pointwise::Asin:
  case Pointwise::Acos:
  case Pointwise::Atanh:
    return {-0.9, 0.9};
  case Pointwise::Acosh:
    return {1.25, 6};
  default:
    return {-6, 6};
  }
}

// erf x = 2 / sqrt(pi) exp(-x^2) sum over k of 2^k x^(2 k + 1) / (1 3 5 ... (2 k + 1)), whose terms
// all have the sign of x.
long double errorFunction(long double x) {
  long double term = x, sum = x;
  for (int k = 1; k < 300; ++k) {
    term *= 2 * x * x / (2 * k + 1);
    sum += term;
  }
  return 2 / std::sqrt(std::numbers::pi_v<long double>) * std::exp(-x * x) * sum;
}

// The normal distribution's density, and its integral 1/2 + density(x) (x + x^3/3 + x^5/15 + ...).
long double density(long double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<long double>);
}
long double normal(long double x) {
  long double term = x, sum = x;
  for (int k = 1; k < 200; ++k) {
    term *= x * x / (2 * k + 1);
    sum += term;
  }
  return 0.5L + density(x) * sum;
}
// The argument of gelutanh's tanh, doubled, and its derivative: (1 + tanh(u / 2)) / 2 is a sigmoid.
long double cubic(long double x) {
  return 2 * std::sqrt(2 / std::numbers::pi_v<long double>) * (x + 0.044715L * x * x * x);
}
long double cubicSlope(long double x) {
  return 2 * std::sqrt(2 / std::numbers::pi_v<long double>) * (1 + 3 * 0.044715L * x * x);
}

// The functions and their derivatives by other formulas, in long double.
long double valueOf(const PointwiseFunction& f, long double x) {
  switch (f.kind) {
  case Pointwise::Relu:
    return x > 0 ? x : 0;
  case Pointwise::Tanh:
    return 1 - 2 / (std::exp(2 * x) + 1);
  case Pointwise::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case Pointwise::LeakyRelu:
    return std::max(x, 0.0L) + kSlope * std::min(x, 0.0L);
  case Pointwise::Elu:
    return x > 0 ? x : kAlpha * std::exp(x) - kAlpha;
  case Pointwise::Gelu:
    return x * normal(x);
  case Pointwise::GeluTanh:
    return x / (1 + std::exp(-cubic(x)));
  case Pointwise::Silu:
    return x / (1 + std::exp(-x));
  case Pointwise::Softplus:
    return std::log(1 + std::exp(x));
  case Pointwise::Exp:
    return std::exp(x);
  case Pointwise::Sine:
    return std::sin(x);
  case Pointwise::Cosine:
    return std::cos(x);
  case Pointwise::Clamp:
    return std::min<long double>(std::max<long double>(x, kLow), kHigh);
  case Pointwise::NegativePart:
    return x < 0 ? x : 0;
  case Pointwise::Abs:
    return std::abs(x);
  case Pointwise::Sqrt:
    return std::exp(std::log(x) / 2);
  case Pointwise::Reciprocal:
    return 1 / x;
  case Pointwise::Power:
    return std::exp(kExponent * std::log(x));
  case Pointwise::Log:
    return std::log(x);
  case Pointwise::Softsign:
    return x < 0 ? x / (1 - x) : x / (1 + x);
  case Pointwise::Mish:
    return x * std::tanh(std::log(1 + std::exp(x)));
  case Pointwise::HardSwish:
    return x < -3 ? 0 : x > 3 ? x : x * (x + 3) / 6;
  case Pointwise::Selu: // Klambauer et al. 2017
    return 1.0507009873554804934L * (x > 0 ? x : 1.6732632423543772848L * (std::exp(x) - 1));
  case Pointwise::Celu:
    return x > 0 ? x : kAlpha * (std::exp(x / kAlpha) - 1);
  case Pointwise::Tan:
    return std::sin(x) / std::cos(x);
  case Pointwise::Asin:
    return std::atan2(x, std::sqrt(1 - x * x));
  case Pointwise::Acos:
    return std::atan2(std::sqrt(1 - x * x), x);
  case Pointwise::Atan:
    return std::asin(x / std::sqrt(1 + x * x));
  case Pointwise::Sinh:
    return (std::exp(x) - std::exp(-x)) / 2;
  case Pointwise::Cosh:
    return (std::exp(x) + std::exp(-x)) / 2;
  case Pointwise::Asinh:
    return std::copysign(std::log(std::abs(x) + std::sqrt(x * x + 1)), x);
  case Pointwise::Acosh:
    return std::log(x + std::sqrt(x * x - 1));
  case Pointwise::Atanh:
    return std::log((1 + x) / (1 - x)) / 2;
  case Pointwise::Erf:
    return errorFunction(x);
  case Pointwise::Floor:
    return x - (std::fmod(x, 1.0L) < 0 ? 1 + std::fmod(x, 1.0L) : std::fmod(x, 1.0L));
  case Pointwise::Ceil:
    return x - (std::fmod(x, 1.0L) > 0 ? std::fmod(x, 1.0L) - 1 : std::fmod(x, 1.0L));
  case Pointwise::Round:
    return x - std::remainder(x, 1.0L);
  case Pointwise::Scale:
    return kFactor * x + f.second;
  case Pointwise::Identity:
    return x;
  }
  return 0;
}
long double derivativeOf(const PointwiseFunction& f, long double x) {
  const long double e = std::exp(-std::abs(x)), e2 = e * e;
  switch (f.kind) {
  case Pointwise::Relu:
    return x > 0;
  case Pointwise::Tanh:
    return 4 * e2 / ((1 + e2) * (1 + e2));
  case Pointwise::Sigmoid:
    return e / ((1 + e) * (1 + e));
  case Pointwise::LeakyRelu:
    return x > 0 ? 1 : kSlope;
  case Pointwise::Elu:
    return x > 0 ? 1 : kAlpha * e;
  case Pointwise::Gelu:
    return normal(x) + x * density(x);
  case Pointwise::GeluTanh: {
    const long double s = 1 / (1 + std::exp(-cubic(x)));
    return s + x * s * (1 - s) * cubicSlope(x);
  }
  case Pointwise::Silu:
    return (x > 0 ? 1 + e * (1 + x) : e * (e + 1 + x)) / ((1 + e) * (1 + e));
  case Pointwise::Softplus:
    return 1 / (1 + std::exp(-x));
  case Pointwise::Exp:
    return std::exp(x);
  case Pointwise::Sine:
    return std::cos(x);
  case Pointwise::Cosine:
    return -std::sin(x);
  case Pointwise::Clamp:
    return x > kLow && x < kHigh;
  case Pointwise::NegativePart:
    return x < 0;
  case Pointwise::Abs:
    return x > 0 ? 1 : -1;
  case Pointwise::Sqrt:
    return 0.5L / std::sqrt(x);
  case Pointwise::Reciprocal:
    return -1 / (x * x);
  case Pointwise::Power:
    return kExponent * std::exp((kExponent - 1) * std::log(x));
  case Pointwise::Log:
    return 1 / x;
  case Pointwise::Softsign:
    return 1 / ((1 + std::abs(x)) * (1 + std::abs(x)));
  case Pointwise::Mish: {
    const long double t = std::tanh(std::log(1 + std::exp(x)));
    return t + x * (1 - t * t) / (1 + std::exp(-x));
  }
  case Pointwise::HardSwish:
    return x < -3 ? 0 : x > 3 ? 1 : x / 3 + 0.5L;
  case Pointwise::Selu:
    return 1.0507009873554804934L * (x > 0 ? 1 : 1.6732632423543772848L * std::exp(x));
  case Pointwise::Celu:
    return x > 0 ? 1 : std::exp(x / kAlpha);
  case Pointwise::Tan:
    return 1 / (std::cos(x) * std::cos(x));
  case Pointwise::Asin:
    return 1 / std::sqrt(1 - x * x);
  case Pointwise::Acos:
    return -1 / std::sqrt(1 - x * x);
  case Pointwise::Atan:
    return 1 / (1 + x * x);
  case Pointwise::Sinh:
    return (std::exp(x) + std::exp(-x)) / 2;
  case Pointwise::Cosh:
    return (std::exp(x) - std::exp(-x)) / 2;
  case Pointwise::Asinh:
    return 1 / std::sqrt(x * x + 1);
  case Pointwise::Acosh:
    return 1 / std::sqrt(x * x - 1);
  case Pointwise::Atanh:
    return 1 / (1 - x * x);
  case Pointwise::Erf:
    return 2 / std::sqrt(std::numbers::pi_v<long double>) * std::exp(-x * x);
  case Pointwise::Floor:
  case Pointwise::Ceil:
  case Pointwise::Round:
    return 0;
  case Pointwise::Scale:
    return kFactor;
  case Pointwise::Identity:
    return 1;
  }
  return 0;
}

} // namespace

template <class T>
class PointwiseKernel : public ::testing::Test {};
TYPED_TEST_SUITE(PointwiseKernel, RealTypes);

TYPED_TEST(PointwiseKernel, EqualsTheFormula) {
  using T = TypeParam;
  Draw draw(11);
  const double tolerance =
      (isLongDoubleLonger() ? 16 : 64) * double(std::numeric_limits<T>::epsilon());
  for (const PointwiseFunction& f : kFunctions)
    for (Index n : {0, 1, 7, 64, 1003}) {
      // Lengths of none, less than a vector, whole vectors, and many with a rest.
      const auto [low, high] = argumentsOf(f.kind);
      const auto x = draw.reals<T>(n, low, high), v = draw.reals<T>(n, -1, 1);
      std::vector<T> y(x.size()), r(x.size()), inPlace = x;
      pointwiseForward<T>(test::hostContext(), f, n, x.data(), y.data());
      pointwiseForward<T>(test::hostContext(), f, n, inPlace.data(), inPlace.data());
      EXPECT_EQ(inPlace, y);
      pointwiseDerivative<T>(test::hostContext(), f, n, x.data(), y.data(), v.data(), r.data());
      for (size_t i = 0; i < x.size(); ++i) {
        // The exponential is up to exp(6) = 403.
        const bool isLarge = f.kind == Pointwise::Exp || f.kind == Pointwise::Sinh ||
                             f.kind == Pointwise::Cosh || f.kind == Pointwise::Tan;
        const double allowedError = isLarge ? 1000 * tolerance : tolerance;
        EXPECT_NEAR(y[i], double(valueOf(f, x[i])), allowedError) << int(f.kind) << " at " << x[i];
        EXPECT_NEAR(r[i], double(derivativeOf(f, x[i]) * v[i]), allowedError)
            << int(f.kind) << " at " << x[i];
      }
      auto aliased = v;
      pointwiseDerivative<T>(test::hostContext(), f, n, x.data(), y.data(), aliased.data(),
                             aliased.data());
      EXPECT_EQ(aliased, r);
    }
}

TYPED_TEST(PointwiseKernel, ExtremesSaturate) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const std::vector<T> x{-inf, T(-1000), T(0), T(1000), inf}, ones(5, T(1));
  std::vector<T> y(5), r(5);
  pointwiseForward<T>(test::hostContext(), Pointwise::Relu, 5, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<T>{0, 0, 0, 1000, inf}));
  pointwiseDerivative<T>(test::hostContext(), Pointwise::Relu, 5, x.data(), y.data(), ones.data(),
                         r.data());
  EXPECT_EQ(r, (std::vector<T>{0, 0, 0, 1, 1}));
  pointwiseForward<T>(test::hostContext(), Pointwise::Tanh, 5, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<T>{-1, -1, 0, 1, 1}));
  pointwiseForward<T>(test::hostContext(), Pointwise::Sigmoid, 5, x.data(), y.data());
  for (size_t i : {0, 1})
    EXPECT_NEAR(y[i], 0, 1e-30);
  EXPECT_EQ(y[2], T(0.5));
  for (size_t i : {3, 4})
    EXPECT_EQ(y[i], T(1));
}

// Far from 0 the value and its derivative are the limits, without NaN from infinity times 0; at 0
// they are those of PyTorch.
TYPED_TEST(PointwiseKernel, LimitsAreFinite) {
  using T = TypeParam;
  const NoTraps noTraps; // the logarithm of 0 and the root of -1
  const T far = sizeof(T) == 8 ? T(1e300) : T(1e30), inf = std::numeric_limits<T>::infinity();
  const auto both = [&](const PointwiseFunction& f, T x) {
    T y = 0, r = 0, one = 1;
    pointwiseForward<T>(test::hostContext(), f, 1, &x, &y);
    pointwiseDerivative<T>(test::hostContext(), f, 1, &x, &y, &one, &r);
    return std::pair(y, r);
  };
  EXPECT_EQ(both(Pointwise::Mish, far), std::pair(far, T(1)));
  EXPECT_EQ(both(Pointwise::Mish, -far), std::pair(T(0), T(0)));
  EXPECT_EQ(both(Pointwise::Softsign, far), std::pair(T(1), T(0)));
  EXPECT_EQ(both(Pointwise::HardSwish, -far).second, T(0));
  EXPECT_EQ(both({Pointwise::Celu, kAlpha}, -far).second, T(0));
  EXPECT_EQ(both(Pointwise::Selu, far).second, T(1.0507009873554804934193349852946));
  EXPECT_EQ(both(Pointwise::Abs, T(0)), std::pair(T(0), T(0)));
  EXPECT_EQ(both({Pointwise::Clamp, -1, 2}, T(2)), std::pair(T(2), T(0)));
  EXPECT_EQ(both({Pointwise::Clamp, -1, 2}, T(-1)), std::pair(T(-1), T(0)));
  EXPECT_EQ(both({Pointwise::Clamp, -1, inf}, far), std::pair(far, T(1)));
  EXPECT_EQ(both({Pointwise::Clamp, -1, inf}, T(-1)), std::pair(T(-1), T(0)));
  EXPECT_EQ(both({Pointwise::Clamp, -inf, 1}, T(1)), std::pair(T(1), T(0)));
  EXPECT_EQ(both({Pointwise::Clamp, -inf, 1}, -far), std::pair(-far, T(1)));
  EXPECT_EQ(both(Pointwise::Relu, T(0)), std::pair(T(0), T(0)));
  EXPECT_EQ(both(Pointwise::NegativePart, T(0)), std::pair(T(0), T(1)));
  EXPECT_EQ(both({Pointwise::LeakyRelu, 0.5}, T(0)), std::pair(T(0), T(0.5)));
  EXPECT_EQ(both({Pointwise::Elu, 0.5}, T(0)), std::pair(T(0), T(0.5)));
  EXPECT_EQ(both(Pointwise::HardSwish, T(-3)), std::pair(T(0), T(0)));
  EXPECT_EQ(both(Pointwise::HardSwish, T(3)), std::pair(T(3), T(1)));
  EXPECT_EQ(both({Pointwise::Power, 0}, T(0)), std::pair(T(1), T(0)));
  EXPECT_EQ(both({Pointwise::Power, 3}, T(-2)), std::pair(T(-8), T(12)));
  EXPECT_EQ(both(Pointwise::Log, T(0)).first, -inf);
  EXPECT_EQ(both(Pointwise::Erf, far), std::pair(T(1), T(0)));
  EXPECT_EQ(both(Pointwise::Erf, -inf), std::pair(T(-1), T(0)));
  EXPECT_EQ(both(Pointwise::Atan, far).second, T(0));
  EXPECT_NEAR(both(Pointwise::Atan, inf).first, std::numbers::pi / 2, 1e-6);
  const T small = T(1e-20); // all digits near 0
  EXPECT_NEAR(both(Pointwise::Erf, small).first / small, 2 / std::sqrt(std::numbers::pi), 1e-6);
  for (const auto& [x, rounded] : {std::pair(2.5, 2), {3.5, 4}, {-2.5, -2}, {-0.75, -1}})
    EXPECT_EQ(both(Pointwise::Round, T(x)).first, T(rounded));
  EXPECT_TRUE(std::isnan(both(Pointwise::Sqrt, T(-1)).first));
}

TYPED_TEST(PointwiseKernel, NaNPropagates) {
  using T = TypeParam;
  const NoTraps noTraps; // NaN is compared
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const PointwiseFunction& f : kFunctions) {
    T y = 0;
    pointwiseForward<T>(test::hostContext(), f, 1, &nan, &y);
    EXPECT_TRUE(std::isnan(y)) << int(f.kind);
  }
}

// As in PyTorch: at NaN the derivative of a rectifier is v, and those of a clamp and of |x| are 0.
TYPED_TEST(PointwiseKernel, DerivativesAtNaN) {
  using T = TypeParam;
  const NoTraps noTraps; // NaN is compared
  const T nan = std::numeric_limits<T>::quiet_NaN(), v = 3;
  const auto slope = [&](const PointwiseFunction& f) {
    T r = 1;
    pointwiseDerivative<T>(test::hostContext(), f, 1, &nan, &nan, &v, &r);
    return r;
  };
  EXPECT_EQ(slope(Pointwise::Relu), v);
  EXPECT_EQ(slope({Pointwise::Clamp, -1, 2}), T(0));
  EXPECT_EQ(slope(Pointwise::Abs), T(0));
}

TYPED_TEST(PointwiseKernel, DerivativeReadsWhatItSays) {
  using T = TypeParam;
  const T v = T(2);
  for (const PointwiseFunction& f : kFunctions) {
    const T x = f.kind == Pointwise::Acosh ? T(1.5) : T(0.5);
    const auto reads = pointwise::withFunction(f, [](auto function) { return function.kReads; });
    T y = 0, r = 0;
    pointwiseForward<T>(test::hostContext(), f, 1, &x, &y);
    pointwiseDerivative<T>(test::hostContext(), f, 1,
                           reads == pointwise::Reads::Argument ? &x : nullptr,
                           reads == pointwise::Reads::Value ? &y : nullptr, &v, &r);
    EXPECT_NEAR(r, double(2 * derivativeOf(f, x)), 1e-5) << int(f.kind);
  }
}

// For NaN only NotEqual holds; zeros of both signs are equal; an element that is not selected can
// have any value.
TYPED_TEST(PointwiseKernel, ComparisonsAndChoices) {
  using T = TypeParam;
  const NoTraps noTraps; // NaN is compared
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> a{1, 2, 3, nan, T(-0.0)}, b{2, 2, 2, nan, T(0.0)};
  const std::pair<Relation, std::vector<T>> wanted[] = {
      {Relation::Greater, {0, 0, 1, 0, 0}}, {Relation::GreaterOrEqual, {0, 1, 1, 0, 1}},
      {Relation::Less, {1, 0, 0, 0, 0}},    {Relation::LessOrEqual, {1, 1, 0, 0, 1}},
      {Relation::Equal, {0, 1, 0, 0, 1}},   {Relation::NotEqual, {1, 0, 1, 1, 0}}};
  std::vector<T> y(5);
  for (const auto& [relation, want] : wanted) {
    compareElements<T>(test::hostContext(), relation, 5, a.data(), b.data(), y.data());
    EXPECT_EQ(y, want) << int(relation);
  }
  const std::vector<T> mask{1, 0, -2, 0, T(-0.0)}, other{4, 5, nan, 7, 8};
  selectElements<T>(test::hostContext(), 5, mask.data(), b.data(), other.data(), y.data());
  EXPECT_EQ(y, (std::vector<T>{2, 5, 2, 7, 8}));
  selectElements<T>(test::hostContext(), 5, mask.data(), nullptr, mask.data(), y.data());
  EXPECT_EQ(y, (std::vector<T>{0, 0, 0, 0, 0}));
  selectElements<T>(test::hostContext(), 5, mask.data(), other.data(), nullptr, y.data(), 2.5);
  EXPECT_EQ(y[1], T(2.5));
  EXPECT_EQ(y[3], T(2.5));
  EXPECT_EQ(y[0], T(4));
}

// The arguments of axpby() are the number of elements, alpha, x, beta and y <- alpha x + beta y;
// with beta = 0, y is not read. x and y are also used as 2 rows of 3 columns: addBias() adds b to
// each row, and sumRows() adds the sum of the rows to the given numbers.
TYPED_TEST(PointwiseKernel, VectorOperations) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> x{1, 2, 3, 4, 5, 6};
  std::vector<T> y(6, nan);
  axpby<T>(test::hostContext(), 6, 2, x.data(), 0, y.data());
  EXPECT_EQ(y, (std::vector<T>{2, 4, 6, 8, 10, 12}));
  axpby<T>(test::hostContext(), 6, 1, x.data(), -1, y.data());
  EXPECT_EQ(y, (std::vector<T>{-1, -2, -3, -4, -5, -6}));
  const std::vector<T> b{10, 20, 30};
  addBias<T>(test::hostContext(), 2, 3, b.data(), y.data());
  EXPECT_EQ(y, (std::vector<T>{9, 18, 27, 6, 15, 24}));
  std::vector<T> sums{1, 1, 1};
  sumRows<T>(test::hostContext(), 2, 3, x.data(), sums.data());
  EXPECT_EQ(sums, (std::vector<T>{6, 8, 10}));
}

} // namespace tenon::test
