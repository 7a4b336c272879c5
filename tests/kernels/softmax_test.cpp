// SPDX-License-Identifier: BSD-2-Clause
// The steps of the cross-entropy (rows/cross_entropy.hpp) with classes split into parts, as on
// several ranks, whose maxima and sums the test combines; compared with the loss and its gradient
// in long double.
#include "kernels/rows/cross_entropy.hpp"

#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"
#include "kernels/rows/softmax.hpp"
#include "sys/traps.hpp"

#include <cmath>
#include <limits>

namespace tenon::test {

template <class T>
class Softmax : public ::testing::Test {};
TYPED_TEST_SUITE(Softmax, RealTypes);

// For each row, with logits z: m is the maximum over all parts, s the sum over them of exp(z - m),
// and p the logit of the label, which one part has (the others give 0). The loss is log s + m - p,
// and its gradient exp(z - m) / s, minus 1 for the label.
TYPED_TEST(Softmax, PiecesOfSplitClassesGiveTheLoss) {
  using T = TypeParam;
  Draw draw(12);
  const Index rows = 7, classes = 11;
  const std::vector<Index> cuts{0, 4, 4, 11}; // three parts, the middle one empty
  const auto z = draw.reals<T>(rows * classes, -30, 30), dloss = draw.reals<T>(rows, -1, 1);
  std::vector<std::int64_t> label;
  for (Index r = 0; r < rows; ++r)
    label.push_back(draw.integer(0, classes - 1));

  std::vector<std::vector<T>> parts;
  std::vector<T> m(rows, -std::numeric_limits<T>::infinity()), s(rows), p(rows), piece(rows);
  for (size_t part = 0; part + 1 < cuts.size(); ++part) {
    const Index cols = cuts[part + 1] - cuts[part];
    std::vector<T> local;
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < cols; ++c)
        local.push_back(z[size_t(r * classes + cuts[part] + c)]);
    parts.push_back(local);
    axisMaxima<T>(test::hostContext(), {rows, cols, 1}, local.data(), piece.data());
    for (size_t r = 0; r < m.size(); ++r)
      m[r] = std::max(m[r], piece[r]);
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    const Index cols = cuts[part + 1] - cuts[part];
    sumExpShifted<T>(test::hostContext(), {rows, cols, 1}, parts[part].data(), m.data(),
                     piece.data());
    for (size_t r = 0; r < s.size(); ++r)
      s[r] += piece[r];
    pickLabel<T>(test::hostContext(), {rows, cols, 1}, parts[part].data(), label.data(), cuts[part],
                 piece.data());
    for (size_t r = 0; r < p.size(); ++r)
      p[r] += piece[r];
  }

  const double epsilon = double(std::numeric_limits<T>::epsilon());
  for (size_t part = 0; part < parts.size(); ++part) {
    const Index cols = cuts[part + 1] - cuts[part];
    std::vector<T> dz(parts[part].size());
    crossEntropyAdjoint<T>(test::hostContext(), {rows, cols, 1}, parts[part].data(), m.data(),
                           s.data(), label.data(), cuts[part], dloss.data(), dz.data());
    for (Index r = 0; r < rows; ++r) {
      long double sum = 0;
      for (Index c = 0; c < classes; ++c)
        sum += std::exp((long double)(z[size_t(r * classes + c)]));
      const long double loss =
          std::log(sum) - (long double)(z[size_t(r * classes + label[size_t(r)])]);
      EXPECT_NEAR(std::log(s[size_t(r)]) + m[size_t(r)] - p[size_t(r)], double(loss),
                  200 * epsilon);
      for (Index c = 0; c < cols; ++c) {
        const size_t at = size_t(r * cols + c);
        const long double softmax = std::exp((long double)(parts[part][at])) / sum;
        const bool isLabel = cuts[part] + c == label[size_t(r)];
        EXPECT_NEAR(dz[at], double(dloss[size_t(r)] * (softmax - isLabel)), 16 * epsilon);
      }
    }
  }
}

TYPED_TEST(Softmax, NoClassesGiveNeutralPieces) {
  using T = TypeParam;
  const std::int64_t label[] = {0, 1};
  std::vector<T> m(2), s(2, T(9)), p(2, T(9)), shift(2);
  axisMaxima<T>(test::hostContext(), {2, 0, 1}, nullptr, m.data());
  sumExpShifted<T>(test::hostContext(), {2, 0, 1}, nullptr, shift.data(), s.data());
  pickLabel<T>(test::hostContext(), {2, 0, 1}, nullptr, label, 0, p.data());
  EXPECT_EQ(m, std::vector<T>(2, -std::numeric_limits<T>::infinity()));
  EXPECT_EQ(s, std::vector<T>(2));
  EXPECT_EQ(p, std::vector<T>(2));
}

TYPED_TEST(Softmax, LargeLogitsDoNotOverflow) {
  using T = TypeParam;
  const std::vector<T> z{T(1e4), T(1e4), T(-1e4)};
  // The class of the label is on another process: the gradient here is the softmax itself.
  const std::int64_t label = 7;
  const T one = 1;
  std::vector<T> m(1), s(1), p(3);
  axisMaxima<T>(test::hostContext(), {1, 3, 1}, z.data(), m.data());
  sumExpShifted<T>(test::hostContext(), {1, 3, 1}, z.data(), m.data(), s.data());
  crossEntropyAdjoint<T>(test::hostContext(), {1, 3, 1}, z.data(), m.data(), s.data(), &label, 0,
                         &one, p.data());
  EXPECT_EQ(p, (std::vector<T>{T(0.5), T(0.5), T(0)}));
}

TEST(Softmax, MaximumKeepsNaN) {
  const NoTraps noTraps; // NaN is compared
  const double z[] = {1, std::numeric_limits<double>::quiet_NaN(), 2};
  double m = 0;
  axisMaxima<double>(test::hostContext(), {1, 3, 1}, z, &m);
  EXPECT_TRUE(std::isnan(m));
}

} // namespace tenon::test
