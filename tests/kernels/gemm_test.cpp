// SPDX-License-Identifier: BSD-2-Clause
// Matrix products on the host: the reference backend against results computed by hand, the other
// backends against the reference, bit by bit on small integers; and errors for invalid sizes. The
// arguments of gemm() are the context, the backend, whether a and b are transposed, m, n, k, alpha,
// a and its row length lda, b and ldb, beta, c and ldc.
#include "kernels/gemm_cases.hpp"

namespace tenon::test {

template <class T>
class Gemm : public ::testing::Test {};
TYPED_TEST_SUITE(Gemm, RealTypes);

TYPED_TEST(Gemm, ReferenceByHand) {
  using T = TypeParam;
  const std::vector<T> a{1, 2, 3, 4, 5, 6};   // [2,3], or [3,2] transposed
  const std::vector<T> b{1, 0, -1, 2, 3, -2}; // [3,2]
  std::vector<T> c{10, 20, 30, 40};
  gemm<T>(test::hostContext(), Backend::Reference, false, false, 2, 2, 3, 2, a.data(), 3, b.data(),
          2, 1, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{26, 16, 64, 36})); // 2 (8, -2; 17, -2) + c
  // a read as [3,2], transposed: (1 3 5; 2 4 6).
  gemm<T>(test::hostContext(), Backend::Reference, true, false, 2, 2, 3, 1, a.data(), 2, b.data(),
          2, 0, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{13, -4, 16, -4}));
  // b read as [2,3], transposed: (1 2; 0 3; -1 -2).
  gemm<T>(test::hostContext(), Backend::Reference, false, true, 2, 2, 3, 1, a.data(), 3, b.data(),
          3, 0, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{-2, 2, -2, 11}));
}

TYPED_TEST(Gemm, BackendsEqualTheReference) {
  using T = TypeParam;
  Draw draw(3);
  for (int trial = 0; trial < 400; ++trial) {
    const auto g = drawGemm<T>(draw);
    const auto expected = g.onHost(Backend::Reference);
    for (Backend backend : fastBackends<T>())
      ASSERT_EQ(g.onHost(backend), expected)
          << backendName(backend) << " m " << g.m << " n " << g.n << " k " << g.k;
  }
}

TYPED_TEST(Gemm, AlphaZeroReadsNoFactor) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  auto backends = fastBackends<T>();
  backends.push_back(Backend::Reference);
  for (Backend backend : backends) {
    T c = 3;
    gemm<T>(test::hostContext(), backend, false, false, 1, 1, 1, 0, &nan, 1, &nan, 1, 2, &c, 1);
    EXPECT_EQ(c, T(6)) << backendName(backend);
  }
}

TYPED_TEST(Gemm, RefusesSizesThatDoNotFit) {
  using T = TypeParam;
  T a = 0, b = 0, c = 0;
  expectError(errorOf([&] {
                gemm<T>(test::hostContext(), Backend::Auto, false, false, -1, 1, 1, 1, &a, 1, &b, 1,
                        0, &c, 1);
              }),
              TENON_ERR_ARG, {"m = -1"});
  expectError(errorOf([&] {
                gemm<T>(test::hostContext(), Backend::Auto, false, false, 2, 2, 3, 1, &a, 2, &b, 2,
                        0, &c, 2);
              }),
              TENON_ERR_ARG, {"lda = 2", "3"});
}

TEST(Gemm, BlasRefusesExtentsBeyondInt) {
  const Index huge = Index(1) << 31;
  double a = 0, b = 0, c = 0;
  expectError(errorOf([&] {
                gemm<double>(test::hostContext(), Backend::Blas, false, false, 1, 1, 1, 1, &a, huge,
                             &b, 1, 0, &c, 1);
              }),
              TENON_ERR_SUPPORT, {"2147483648", "'reference'"});
}

} // namespace tenon::test
