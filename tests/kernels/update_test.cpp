// SPDX-License-Identifier: BSD-2-Clause
// Steps of SGD and Adam compared with results computed by hand, on numbers for which the step is
// exact in binary, and for Adam with the formulas of the paper in long double.
#include "kernels/elementwise/update.hpp"

#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"

#include <cmath>

namespace tenon::test {

template <class T>
class Update : public ::testing::Test {};
TYPED_TEST_SUITE(Update, RealTypes);

// The arguments of sgdStep() are the context, the number of elements, the learning rate, momentum,
// decay, whether the momentum is Nesterov's, the gradient g, the velocity and the weights w.
TYPED_TEST(Update, PlainGradientStep) {
  using T = TypeParam;
  const std::vector<T> g{2, -4};
  std::vector<T> w{1, 8};
  sgdStep<T>(test::hostContext(), 2, 0.5, 0, 0, false, g.data(), nullptr, w.data());
  EXPECT_EQ(w, (std::vector<T>{0, 10}));
  sgdStep<T>(test::hostContext(), 2, 0.5, 0, 0.25, false, g.data(), nullptr,
             w.data()); // g + w/4 = 2, -1.5
  EXPECT_EQ(w, (std::vector<T>{-1, 10.75}));
}

TYPED_TEST(Update, Momentum) {
  using T = TypeParam;
  const std::vector<T> g{2};
  std::vector<T> w{1}, velocity{0};
  sgdStep<T>(test::hostContext(), 1, 0.5, 0.5, 0, false, g.data(), velocity.data(),
             w.data()); // velocity 2
  EXPECT_EQ(w[0], T(0));
  sgdStep<T>(test::hostContext(), 1, 0.5, 0.5, 0, false, g.data(), velocity.data(),
             w.data()); // velocity 3
  EXPECT_EQ(velocity[0], T(3));
  EXPECT_EQ(w[0], T(-1.5));
}

TYPED_TEST(Update, NesterovMomentumWithDecay) {
  using T = TypeParam;
  const std::vector<T> g{2};
  std::vector<T> w{4}, velocity{1};
  // g' = 2 + 4/2 = 4; velocity = 1/2 + 4 = 4.5; step = 4 + 2.25.
  sgdStep<T>(test::hostContext(), 1, 0.5, 0.5, 0.5, true, g.data(), velocity.data(), w.data());
  EXPECT_EQ(velocity[0], T(4.5));
  EXPECT_EQ(w[0], T(4 - 0.5 * 6.25));
}

TYPED_TEST(Update, AdamFollowsThePaper) {
  using T = TypeParam;
  const double lr = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-3, decay = 0.1;
  const double gradients[] = {0.5, -1.25, 3.0};
  std::vector<T> w{2}, m{0}, v{0};
  long double x = 2, first = 0, second = 0;
  for (int t = 1; t <= 3; ++t) {
    const T g = T(gradients[t - 1]);
    adamStep<T>(test::hostContext(), 1,
                {.rate = lr,
                 .beta1 = beta1,
                 .beta2 = beta2,
                 .epsilon = eps,
                 .decay = decay,
                 .isDecoupled = false,
                 .number = t},
                &g, m.data(), v.data(), w.data());
    const long double decayed = gradients[t - 1] + decay * x;
    first = beta1 * first + (1 - beta1) * decayed;
    second = beta2 * second + (1 - beta2) * decayed * decayed;
    const long double firstHat = first / (1 - std::pow((long double)(beta1), t));
    const long double secondHat = second / (1 - std::pow((long double)(beta2), t));
    x -= lr * firstHat / (std::sqrt(secondHat) + eps);
    EXPECT_NEAR(w[0], double(x), 8 * double(std::numeric_limits<T>::epsilon()));
    EXPECT_NEAR(m[0], double(first), 8 * double(std::numeric_limits<T>::epsilon()));
    EXPECT_NEAR(v[0], double(second), 8 * double(std::numeric_limits<T>::epsilon()));
  }
}

// A decoupled decay changes neither the gradient nor its mean m and square v: w only loses lr decay
// w.
TYPED_TEST(Update, DecoupledDecayIsApart) {
  using T = TypeParam;
  const double lr = 0.125, decay = 0.5;
  const T g[] = {T(0.75)};
  std::vector<T> w{2}, m{0}, v{0}, plain{2}, plainMean{0}, plainSquare{0};
  AdamStep step{.rate = lr,
                .beta1 = 0.9,
                .beta2 = 0.999,
                .epsilon = 1e-3,
                .decay = 0,
                .isDecoupled = false,
                .number = 1};
  adamStep<T>(test::hostContext(), 1, step, g, plainMean.data(), plainSquare.data(), plain.data());
  step.decay = decay;
  step.isDecoupled = true;
  adamStep<T>(test::hostContext(), 1, step, g, m.data(), v.data(), w.data());
  EXPECT_EQ(m, plainMean);
  EXPECT_EQ(v, plainSquare);
  EXPECT_NEAR(w[0], plain[0] - lr * decay * 2, 4 * std::numeric_limits<T>::epsilon());
}

// Without epsilon the first step has the length of the learning rate for any size of the gradient,
// since it is g / |g|.
TYPED_TEST(Update, FirstAdamStepHasTheLengthOfTheRate) {
  using T = TypeParam;
  for (double size : {1e-4, 1.0, 1e4}) {
    const T g[] = {T(size), T(-size)};
    std::vector<T> w{0, 0}, m{0, 0}, v{0, 0};
    adamStep<T>(test::hostContext(), 2,
                {.rate = 0.25,
                 .beta1 = 0.9,
                 .beta2 = 0.999,
                 .epsilon = 0,
                 .decay = 0,
                 .isDecoupled = false,
                 .number = 1},
                g, m.data(), v.data(), w.data());
    EXPECT_NEAR(w[0], -0.25, 1e-6);
    EXPECT_NEAR(w[1], 0.25, 1e-6);
  }
}

TEST(Update, AdamCountsStepsFromOne) {
  double a = 0;
  expectError(errorOf([&] {
                adamStep<double>(test::hostContext(), 1,
                                 {.rate = 1,
                                  .beta1 = 0,
                                  .beta2 = 0,
                                  .epsilon = 0,
                                  .decay = 0,
                                  .isDecoupled = false,
                                  .number = 0},
                                 &a, &a, &a, &a);
              }),
              TENON_ERR_ARG, {"step number of Adam is 0", ">= 1"});
}

} // namespace tenon::test
