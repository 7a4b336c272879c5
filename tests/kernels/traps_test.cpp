// SPDX-License-Identifier: BSD-2-Clause
// Floating-point exceptions: programs can trap division by zero, overflow and invalid operations,
// so kernels must not raise these while they compute finite values. Tested with every instruction
// set of the processor, at usual arguments, zeros and very large or small ones, by feclearexcept()
// and fetestexcept().
#include "kernels/draw.hpp"
#include "kernels/each_set.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/host_context.hpp"
#include "kernels/products/column_mlp.hpp"
#include "kernels/rows/losses.hpp"
#include "kernels/rows/normalisation.hpp"
#include "kernels/rows/softmax.hpp"
#include "support/traps.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::test {
namespace {

template <class T>
class Traps : public ::testing::Test {};
TYPED_TEST_SUITE(Traps, RealTypes);

// The exceptions that body() raises. NoTraps disables their traps, which would end the test in a
// run of the tests in which programs trap them.
template <class Body>
int raised(const Body& body) {
  const NoTraps noTraps;
  std::feclearexcept(FE_ALL_EXCEPT);
  body();
  return std::fetestexcept(kTrapped);
}

template <class T>
bool areFinite(const std::vector<T>& x) {
  return std::ranges::all_of(x, [](T value) { return std::isfinite(value); });
}

// Magnitudes of arguments: around the limits at which functions change their form or their
// exponential overflows in float or double.
constexpr double kValues[] = {0,   1e-300, 1e-30, 0.1, 0.3, 0.84, 0.86, 1,   3.3,  14.7,
                              16,  20,     40,    88,  90,  104,  112,  300, 700,  709,
                              711, 720,    745,   761, 1e3, 1e4,  1e5,  1e8, 1e30, 1e38};

} // namespace

TYPED_TEST(Traps, NoFunctionRaisesAnExceptionWhereItIsFinite) {
  using T = TypeParam;
  const NoTraps noTraps; // some values are not finite, and their exceptions are allowed
  forEachSet([] {
    for (int kind = 0; kind <= int(Pointwise::Identity); ++kind)
      for (double value : kValues)
        for (double x0 : {value, -value})
          for (Index n : {3, 64}) {
            const PointwiseFunction f(static_cast<Pointwise>(kind), 0.7, 1.5);
            std::vector<T> x(static_cast<std::size_t>(n), static_cast<T>(x0)), y(x), r(x), one(x);
            std::ranges::fill(one, T(1));
            const int forward =
                raised([&] { pointwiseForward<T>(hostContext(), f, n, x.data(), y.data()); });
            if (areFinite(y)) {
              EXPECT_EQ(forward, 0) << "function " << kind << " at " << x0;
            }
            const int slope = raised([&] {
              pointwiseDerivative<T>(hostContext(), f, n, x.data(), y.data(), one.data(), r.data());
            });
            if (areFinite(y) && areFinite(r)) {
              EXPECT_EQ(slope, 0) << "derivative of function " << kind << " at " << x0;
            }
          }
  });
}

// With 1 or 9 points most of a block is padding. The padding must not contain zeros, whose
// logarithm would raise an exception although no point of the network has this value.
TYPED_TEST(Traps, ColumnsAreNotPadded) {
  using T = TypeParam;
  forEachSet([] {
    for (Pointwise kind : {Pointwise::Gelu, Pointwise::Log, Pointwise::Reciprocal}) {
      ColumnMlp<T> mlp({1, 3, 1}, kind, std::make_shared<KernelContext>());
      const std::vector<T> in{1, 2, 3}, out{1, 1, 1};
      mlp.setLayer(0, {in.data(), nullptr});
      mlp.setLayer(1, {out.data(), nullptr});
      for (Index points : {1, 9}) {
        PointBox box;
        box.rank = 1;
        box.extent[0] = points;
        std::vector<T> x(static_cast<std::size_t>(points), T(0.5)), y(x), dx(x), g0(3), g1(3);
        const auto at = [](auto* first) {
          PointArray<std::remove_pointer_t<decltype(first)>> array;
          array.first = first;
          array.channel = 0;
          array.strides[0] = 1;
          return array;
        };
        const T* from = x.data();
        EXPECT_EQ(raised([&] {
                    mlp.forward(box, at(from), at(y.data()));
                    mlp.adjoint(box, at(from), at(from), at(dx.data()),
                                {{g0.data(), nullptr}, {g1.data(), nullptr}});
                  }),
                  0)
            << int(kind) << ", " << points;
      }
    }
  });
}

// Quotients with empty sums: attention rows whose keys are all masked, and moments of groups
// without elements.
TYPED_TEST(Traps, NothingIsDividedByNothing) {
  using T = TypeParam;
  forEachSet([] {
    const AxisShape shape{4, 32, 1};
    std::vector<T> e(128, 0), s{0, 2, 0, 1}, m(4, std::numeric_limits<T>::lowest()), y(128), c(4);
    const std::vector<T> score(4, T(0.5));
    std::vector<T> x(128, T(0.25));
    EXPECT_EQ(raised([&] {
                axisQuotientsOrZero<T>(hostContext(), shape, e.data(), s.data(), y.data());
                maskCausal<T>(hostContext(), shape, {4, 0, 0}, x.data());
                c = score;
                raiseMaxima<T>(hostContext(), 4, m.data(), s.data(), c.data());
                axisExponentials<T>(hostContext(), shape, x.data(), m.data(), y.data());
              }),
              0);
    EXPECT_EQ(y[1], T(0));
    std::vector<double> counts(16, 0); // of a part, and of all parts
    PartMoments parts{8, {hostContext(), counts}};
    std::vector<T> zero(8, 0), a(8), b(8);
    const Moments<const T> zeros{zero.data(), zero.data()};
    const Moments<T> to{a.data(), b.data()};
    EXPECT_EQ(raised([&] {
                shareOfMean<T>(hostContext(), parts, zero.data(), a.data());
                shareOfMoments<T>(hostContext(), parts, zeros, zero.data(), to);
                shareOfMomentsTangent<T>(hostContext(), parts, zero.data(), zero.data(), zeros, to);
                shareOfMomentsAdjoint<T>(hostContext(), parts, zero.data(), zero.data(), zeros, to);
                combineMoments<T>(hostContext(), parts, nullptr, zeros, to);
                combineMomentsTangent<T>(hostContext(), parts, nullptr, zeros, to);
                combineMomentsAdjoint<T>(hostContext(), parts, nullptr, zeros, to);
                followMoments<T>(hostContext(), parts, 0.1, zeros, to);
              }),
              0);
    EXPECT_TRUE(areFinite(a) && areFinite(b));
  });
}

// In every loss, terms of weight 0 contribute neither a value nor an exception, even for an
// infinite target.
TYPED_TEST(Traps, WhatHasNoWeightRaisesNone) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const std::vector<T> x(64, T(1e4)), w(64, T(0));
  std::vector<T> t(64, inf), g(64, T(5)), e(1), s(1);
  forEachSet([&] {
    for (ErrorTerm term : {ErrorTerm::Squared, ErrorTerm::Absolute, ErrorTerm::Huber}) {
      T sum = 1;
      EXPECT_EQ(raised([&] {
                  errorTerms<T, T>(hostContext(), term, 0.5, 64, x.data(), t.data(), {w.data(), 1},
                                   1, g.data(), &sum);
                }),
                0)
          << int(term);
      EXPECT_EQ(sum, T(0));
      EXPECT_EQ(g, std::vector<T>(64, T(0)));
    }
    EXPECT_EQ(raised([&] {
                relativeSums<T, T>(hostContext(), 1, 64, x.data(), t.data(), {w.data(), 1},
                                   e.data(), s.data());
              }),
              0);
    EXPECT_EQ(e[0] + s[0], T(0));
  });
}

} // namespace tenon::test
