// SPDX-License-Identifier: BSD-2-Clause
// Kernels of inference on images with channels first and last, against the reference backend, bit
// by bit on small integers: convolutions with packed weights, also after the weights or what is
// folded into them have changed, and maxima over windows.
#include "kernels/convolution/packed.hpp"
#include "kernels/convolution_cases.hpp"
#include "kernels/pooling/pooling.hpp"

#include <limits>

namespace tenon::test {
namespace {

// The images [batch, channels, volume] with channels last, and back.
std::vector<float> channelsLast(Index batch, Index channels, Index volume,
                                const std::vector<float>& first) {
  std::vector<float> last(first.size());
  for (Index n = 0; n < batch; ++n)
    for (Index c = 0; c < channels; ++c)
      for (Index i = 0; i < volume; ++i)
        last[(n * volume + i) * channels + c] = first[(n * channels + c) * volume + i];
  return last;
}

std::vector<float> scaledBy(const std::vector<float>& y, const ConvolutionShape& s,
                            const std::vector<float>& scale, const std::vector<float>& shift) {
  std::vector<float> z(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto c = std::size_t(Index(i) / outputVolume(s.window) % s.outChannels);
    z[i] = scale[c] * y[i] + shift[c];
  }
  return z;
}

class Packed {
public:
  Packed(Draw& draw, const ConvolutionShape& shape)
      : draw_(draw), s_(shape),
        op_(makePackedConvolution(shape, std::make_shared<KernelContext>())) {}

  bool exists() const { return op_ != nullptr; }
  // With new weights and another number of their state, from which the convolution must notice that
  // its packed weights are old.
  void expectAllEqualToReference() {
    const auto a = drawArrays<float>(draw_, s_);
    ++state_;
    for (const float* b : {a.b.data(), static_cast<const float*>(nullptr)})
      for (const bool isScaled : {false, true}) {
        std::vector<float> scale(a.b.size(), 1), shift(a.b.size(), 0), want(a.y.size());
        if (isScaled) {
          shift = draw_.integers<float>(s_.outChannels);
          for (float& factor : scale)
            factor = float(draw_.integer(-2, 2)) / 2;
        }
        makeConvolution<float>(s_, Backend::Reference)
            ->forward(a.x.data(), a.w.data(), b, want.data(), false);
        want = scaledBy(want, s_, scale, shift);
        const PackedConvolution::Weights weights{.w = a.w.data(),
                                                 .b = b,
                                                 .states = {state_, b ? state_ : 0},
                                                 .scale = isScaled ? scale.data() : nullptr,
                                                 .shift = isScaled ? shift.data() : nullptr};
        expectEqual(a.x, weights, want);
      }
  }

private:
  void expectEqual(const std::vector<float>& x, const PackedConvolution::Weights& weights,
                   const std::vector<float>& want) {
    const auto xLast = channelsLast(s_.batch, s_.inChannels, inputVolume(s_.window), x),
               wantLast = channelsLast(s_.batch, s_.outChannels, outputVolume(s_.window), want);
    for (const ChannelOrder ofX : {ChannelOrder::First, ChannelOrder::Last})
      for (const ChannelOrder ofY : {ChannelOrder::First, ChannelOrder::Last}) {
        std::vector<float> y(want.size(), 99);
        op_->forward(weights, (ofX == ChannelOrder::Last ? xLast : x).data(), ofX, y.data(), ofY);
        ASSERT_EQ(y, ofY == ChannelOrder::Last ? wantLast : want)
            << describe(s_) << " by " << op_->implementation();
      }
  }

  Draw& draw_;
  ConvolutionShape s_;
  std::unique_ptr<PackedConvolution> op_;
  std::uint64_t state_ = 0;
};

TEST(PackedConvolution, EqualsTheReference) {
  if (!hasOneDnn())
    GTEST_SKIP() << "built without oneDNN";
  Draw draw(31);
  std::vector<ConvolutionShape> shapes = depthwiseShapes(draw);
  for (int trial = 0; trial < 60; ++trial)
    shapes.push_back(drawShape(draw, 20));
  int packed = 0;
  for (const ConvolutionShape& shape : shapes) {
    Packed op(draw, shape);
    if (!op.exists())
      continue;
    ++packed;
    for (int change = 0; change < 2; ++change)
      ASSERT_NO_FATAL_FAILURE(op.expectAllEqualToReference());
  }
  EXPECT_GT(packed, 20);
}

// The factors of Winograd's tiles of 2 x 2 outputs are 1/2 and 1/4, so it is exact here as well.
TEST(PackedConvolution, EqualsTheReferenceByWinograd) {
  if (!hasOneDnn())
    GTEST_SKIP() << "built without oneDNN";
  Draw draw(32);
  for (const Index extent : {12, 15}) {
    ConvolutionShape shape{2, 64, 80, {}};
    shape.window = {
        .rank = 2, .in = {extent, 14}, .out = {extent, 14}, .kernel = {3, 3}, .padLow = {1, 1}};
    Packed op(draw, shape);
    ASSERT_TRUE(op.exists());
    ASSERT_NO_FATAL_FAILURE(op.expectAllEqualToReference());
  }
}

// oneDNN may offer only larger tiles for a shape, whose kernels are not used; looking for others
// behind them once read memory that was freed.
TEST(PackedConvolution, EqualsTheReferenceByAnyTilesOfWinograd) {
  if (!hasOneDnn())
    GTEST_SKIP() << "built without oneDNN";
  Draw draw(34);
  for (int trial = 0; trial < 24; ++trial) {
    const Index extent = draw.integer(14, 20);
    ConvolutionShape shape{1, draw.integer(64, 128), draw.integer(64, 112), {}};
    shape.window = {.rank = 2,
                    .in = {extent, extent},
                    .out = {extent, extent},
                    .kernel = {3, 3},
                    .padLow = {1, 1}};
    Packed op(draw, shape);
    ASSERT_TRUE(op.exists());
    if (trial % 8 == 0) {
      ASSERT_NO_FATAL_FAILURE(op.expectAllEqualToReference());
    }
  }
}

TEST(PackedConvolution, IsMissingForEmptyShapesAndCroppedInput) {
  ConvolutionShape shape{1, 2, 0, {}};
  shape.window = {.rank = 1, .in = {5}, .out = {3}, .kernel = {3}};
  EXPECT_EQ(makePackedConvolution(shape, std::make_shared<KernelContext>()), nullptr);
  shape.outChannels = 2;
  shape.window.padLow[0] = -1;
  EXPECT_EQ(makePackedConvolution(shape, std::make_shared<KernelContext>()), nullptr);
}

TEST(MaximaChannelsLast, EqualTheReference) {
  Draw draw(33);
  KernelContext context;
  for (int trial = 0; trial < 100; ++trial) {
    const Index batch = draw.integer(1, 3), channels = draw.integer(1, 20);
    const WindowShape w = draw.withProbability(0.5) ? draw.tilingWindow() : draw.ordinaryWindow();
    const PoolingShape shape{.planes = batch * channels, .window = w, .mode = PoolingMode::Max};
    auto x = draw.integers<float>(shape.planes * inputVolume(w));
    for (float& value : x)
      if (draw.withProbability(0.02))
        value = std::numeric_limits<float>::infinity();
    std::vector<float> want(std::size_t(shape.planes * outputVolume(w))), y(want.size(), 99);
    makePooling<float>(shape, Backend::Reference)->forward(x.data(), want.data(), nullptr);
    maximaChannelsLast<float>(context, {batch, channels, w},
                              channelsLast(batch, channels, inputVolume(w), x).data(), y.data());
    ASSERT_EQ(y, channelsLast(batch, channels, outputVolume(w), want)) << describe(w);
  }
}

TEST(MaximaChannelsLast, PropagateNotANumber) {
  KernelContext context;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {1, nan, 2, 3, nan, 4}; // three inputs of two channels
  std::vector<float> y(2);
  maximaChannelsLast<float>(context, {1, 2, {.rank = 1, .in = {3}, .out = {1}, .kernel = {3}}},
                            x.data(), y.data());
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
}

} // namespace
} // namespace tenon::test
