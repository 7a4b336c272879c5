// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of the device (cuDNN, and im2col with cuBLAS) compared with the reference backend of
// the host, bit by bit on small integers. The cases are those of convolution_cases.hpp.
//
// A window in braces is {dimensions, input, output, kernel, stride, dilation, low padding},
// and a shape is {batch, input channels, output channels, window, groups}.
#include "kernels/convolution_cases.hpp"
#include "kernels/on_device.hpp"

namespace tenon::test {

// A convolution of the device with arrays of the host as arguments: each call copies them to the
// device and the results back, so the tests for backends of the host can call it.
template <class T>
class DeviceConvolution final : public Convolution<T> {
public:
  DeviceConvolution(const ConvolutionShape& s, Backend backend)
      : op_(makeConvolution<T>(s, backend, context_)),
        inputs_(s.batch * s.inChannels * inputVolume(s.window)),
        weights_(s.outChannels * s.inChannels / s.groups * kernelVolume(s.window)),
        biases_(s.outChannels), outputs_(span(s)) {
    // As a layer does at set-up.
    if (Autotuner* const tuner = op_->autotuner())
      tuner->choose(tuner->measure());
  }

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    DeviceCopy<T> dx(at(), x, inputs_), dw(at(), w, weights_), db(at(), b, biases_);
    DeviceCopy<T> dy(at(), y, outputs_);
    op_->forward(dx.data(), dw.data(), b ? db.data() : nullptr, dy.data(), accumulate);
    dy.fetch(y);
  }
  void adjointData(const T* w, const T* dy, T* dx) override {
    DeviceCopy<T> ofW(at(), w, weights_), ofY(at(), dy, outputs_), ofX(at(), dx, inputs_);
    op_->adjointData(ofW.data(), ofY.data(), ofX.data());
    ofX.fetch(dx);
  }
  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    DeviceCopy<T> ofX(at(), x, inputs_), ofY(at(), dy, outputs_);
    DeviceCopy<T> ofW(at(), dw, weights_), ofB(at(), db, biases_);
    op_->adjointWeights(ofX.data(), ofY.data(), ofW.data(), db ? ofB.data() : nullptr);
    ofW.fetch(dw);
    ofB.fetch(db);
  }
  Backend backend() const override { return op_->backend(); }
  const char* implementation() const override { return op_->implementation(); }

private:
  KernelContext& at() { return *context_; }
  // Number of elements of y from its first to its last, with the strides of the shape.
  static Index span(const ConvolutionShape& s) {
    const WindowShape& w = s.window;
    if (s.batch * s.outChannels * outputVolume(w) == 0)
      return 0;
    const ImageStrides y = s.y ? *s.y : denseStrides(s.outChannels, w.out, w.rank);
    Index last = (s.batch - 1) * y.batch + (s.outChannels - 1) * y.channel;
    for (int d = 0; d < w.rank; ++d)
      last += (w.out[d] - 1) * y.space[d];
    return last + 1;
  }

  KernelContextPtr context_ = deviceContext();
  std::unique_ptr<Convolution<T>> op_;
  Index inputs_, weights_, biases_, outputs_;
};

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
