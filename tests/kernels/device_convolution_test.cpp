// SPDX-License-Identifier: BSD-2-Clause
// The device's convolutions against the host's reference, bit by bit on small integers.
#include "kernels/on_device.hpp"

namespace tenon::test {

template <class T>
class DeviceConvolutions : public ::testing::Test {
protected:
  static std::vector<Maker<T>> makers() {
    std::vector<Maker<T>> all;
    for (Backend backend : {Backend::Cudnn, Backend::Gemm})
      all.push_back([backend](const ConvolutionShape& shape) {
        return std::make_unique<DeviceConvolution<T>>(shape, backend);
      });
    return all;
  }
};
TYPED_TEST_SUITE(DeviceConvolutions, RealTypes);

TYPED_TEST(DeviceConvolutions, EqualTheReference) {
  using T = TypeParam;
  Draw draw(25);
  std::vector<ConvolutionShape> shapes;
  for (int trial = 0; trial < 40; ++trial)
    shapes.push_back(drawShape(draw, trial % 10 == 0 ? 30 : 5));
  expectAllEqualToReference<T>(draw, shapes, this->makers());
}

TYPED_TEST(DeviceConvolutions, EqualTheReferenceDepthwise) {
  using T = TypeParam;
  Draw draw(26);
  expectAllEqualToReference<T>(draw, depthwiseShapes(draw), this->makers());
}

TYPED_TEST(DeviceConvolutions, EqualTheReferenceOnDeepPadding) {
  using T = TypeParam;
  Draw draw(27);
  expectAllEqualToReference<T>(draw, deeplyPaddedShapes(), this->makers());
}

TYPED_TEST(DeviceConvolutions, OutputsLieWhereTheShapeSays) {
  using T = TypeParam;
  Draw draw(28);
  for (int trial = 0; trial < 20; ++trial) {
    const ConvolutionShape shape = drawShape(draw, 5);
    for (const auto& make : this->makers())
      ASSERT_NO_FATAL_FAILURE(expectEqualWhenPlaced<T>(draw, shape, make));
  }
}

TYPED_TEST(DeviceConvolutions, EmptyInputGivesTheBias) {
  using T = TypeParam;
  for (const auto& make : this->makers())
    expectEmptyInputGivesTheBias<T>(make);
}

TYPED_TEST(DeviceConvolutions, RefuseBackendsOfTheHost) {
  using T = TypeParam;
  const ConvolutionShape shape{1, 1, 1, {1, {5}, {3}, {3}, {1}, {1}, {0}}};
  for (Backend backend : {Backend::Reference, Backend::Blas, Backend::OneDnn, Backend::Direct})
    expectError(errorOf([&] { makeConvolution<T>(shape, backend, deviceContext()); }),
                TENON_ERR_SUPPORT,
                {backendName(backend), "on the host", "'auto'", "'cudnn'", "'gemm'"});
}

TEST(DeviceConvolution, AutoIsCudnn) {
  const ConvolutionShape shape{1, 1, 1, {1, {5}, {3}, {3}, {1}, {1}, {0}}};
  EXPECT_EQ(DeviceConvolution<float>(shape, Backend::Auto).backend(), Backend::Cudnn);
  EXPECT_EQ(DeviceConvolution<double>(shape, Backend::Gemm).backend(), Backend::Gemm);
}

} // namespace tenon::test
