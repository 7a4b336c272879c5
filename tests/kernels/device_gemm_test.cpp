// SPDX-License-Identifier: BSD-2-Clause
// Matrix products by cuBLAS compared with the reference backend of the host, bit by bit on small
// integers; batches with more products than one call of cuBLAS accepts; and errors.
#include "kernels/gemm_cases.hpp"
#include "kernels/on_device.hpp"

namespace tenon::test {

template <class T>
class DeviceGemm : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceGemm, RealTypes);

TYPED_TEST(DeviceGemm, EqualsTheReference) {
  using T = TypeParam;
  Draw draw(31);
  KernelContext& context = *deviceContext();
  for (int trial = 0; trial < 100; ++trial) {
    const auto g = drawGemm<T>(draw);
    DeviceCopy<T> a(context, g.a.data(), Index(g.a.size())),
        b(context, g.b.data(), Index(g.b.size()));
    DeviceCopy<T> c(context, g.c.data(), Index(g.c.size()));
    g.multiply(context, trial % 2 == 0 ? Backend::Gemm : Backend::Auto, a.data(), b.data(),
               c.data());
    std::vector<T> result(g.c.size());
    c.fetch(result.data());
    ASSERT_EQ(result, g.onHost(Backend::Reference)) << "m " << g.m << " n " << g.n << " k " << g.k;
  }
}

TYPED_TEST(DeviceGemm, ScalingReadsNoFactor) {
  using T = TypeParam;
  KernelContext& context = *deviceContext();
  const T nan = std::numeric_limits<T>::quiet_NaN(), three = 3;
  DeviceCopy<T> factor(context, &nan, 1), c(context, &three, 1);
  gemm<T>(context, Backend::Gemm, false, false, 1, 1, 1, 0, factor.data(), 1, factor.data(), 1, 2,
          c.data(), 1);
  T result = 0;
  c.fetch(&result);
  EXPECT_EQ(result, T(6));
}

TYPED_TEST(DeviceGemm, BatchesOfMoreProductsThanOneCallTakes) {
  using T = TypeParam;
  Draw draw(32);
  KernelContext& context = *deviceContext();
  constexpr Index kCount = 2 * 65535 + 1; // 65535 is the maximum of cuBLAS
  const auto a = draw.integers<T>(kCount), b = draw.integers<T>(kCount);
  std::vector<T> expected = draw.integers<T>(2 * kCount);
  DeviceCopy<T> da(context, a.data(), kCount), db(context, b.data(), kCount);
  DeviceCopy<T> dc(context, expected.data(), 2 * kCount);
  gemmBatch<T>(context, Backend::Auto, kCount, {1, 1, 2}, false, false, 1, 1, 1, T(1), da.data(), 1,
               db.data(), 1, T(2), dc.data(), 1);
  std::vector<T> result(expected.size());
  dc.fetch(result.data());
  for (std::size_t i = 0; i < a.size(); ++i)
    expected[2 * i] = a[i] * b[i] + 2 * expected[2 * i];
  EXPECT_EQ(result, expected);
}

TEST(DeviceGemm, RefusesBackendsOfTheHost) {
  float a = 0;
  expectError(errorOf([&] {
                gemm<float>(*deviceContext(), Backend::Blas, false, false, 1, 1, 1, 1, &a, 1, &a, 1,
                            0, &a, 1);
              }),
              TENON_ERR_SUPPORT, {"'blas'", "on the host", "'gemm'"});
}

} // namespace tenon::test
