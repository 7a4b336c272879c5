// SPDX-License-Identifier: BSD-2-Clause
// How many CUDA kernels a reduction launches, as standin/calls.hpp counts them: one where each
// group of terms is reduced by one thread or by some threads of a block, and two where groups are
// divided into pieces. The results are compared with the host's in device_sums_test.cpp.
#include "kernels/draw.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/on_device.hpp"
#include "kernels/products/column_mlp.hpp"
#include "kernels/rows/softmax.hpp"
#include "standin/calls.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace tenon::test {
namespace {

std::uint64_t kernelsOf(const std::function<void()>& work) {
  const std::uint64_t before = tenonStandinCalls().kernels;
  work();
  return tenonStandinCalls().kernels - before;
}

// Sums along 20 elements (one thread each), 64 (eight threads) and 200,000 (pieces).
TEST(DeviceReductions, AreOneKernelUnlessGroupsHavePieces) {
  KernelContext& at = *deviceContext();
  const struct {
    AxisShape shape;
    std::uint64_t kernels;
  } cases[] = {{{2, 20, 16}, 1}, {{1, 64, 1000}, 1}, {{1, 200'000, 2}, 2}};
  for (const auto& [shape, kernels] : cases) {
    const std::vector<float> values(std::size_t(shape.outer * shape.n * shape.inner), 1.0F);
    DeviceCopy<float> x(at, values.data(), Index(values.size())),
        sums(at, values.data(), shape.outer * shape.inner);
    EXPECT_EQ(kernelsOf([&] { axisSums(at, shape, x.data(), sums.data()); }), kernels) << shape.n;
    EXPECT_EQ(kernelsOf([&] { axisMaxima(at, shape, x.data(), sums.data()); }), kernels) << shape.n;
  }
}

// The gradient of a bias of 3 channels at 25 points.
TEST(DeviceReductions, OfBoxesAreOneKernelForFewTerms) {
  KernelContext& at = *deviceContext();
  const std::vector<double> values(75, 1.0);
  DeviceCopy<double> dy(at, values.data(), 75), db(at, values.data(), 3);
  const Index extent[] = {3, 25}, ofPoints[] = {25, 1}, ofChannels[] = {1, 0};
  EXPECT_EQ(kernelsOf([&] {
              blockMultiplyAdd<double>(at, 2, extent, 1.0, nullptr, nullptr, dy.data(), ofPoints,
                                       db.data(), ofChannels);
            }),
            1u);
}

// A perceptron of 3, 5 and 2 channels at 100,000 points is one kernel with the tanh. With the sine,
// which that kernel does not have, the points are two parts; for each part a layer is a bias and a
// product, and there is one activation, and arrays whose channels are adjacent are copied before
// and after.
TEST(DevicePerceptron, ReadsAndWritesChannelsInPlace) {
  constexpr Index kPoints = 100'000, kIn = 3, kHidden = 5, kOut = 2;
  const std::vector<Index> widths{kIn, kHidden, kOut};
  Draw draw(3);
  const auto x = draw.reals<double>(kIn * kPoints, -1, 1),
             w = draw.reals<double>(kIn * kHidden + kHidden * kOut, -1, 1),
             b = draw.reals<double>(kHidden + kOut, -1, 1);
  const PointBox box{1, {kPoints}};
  const struct {
    Pointwise function;
    bool isChannelsFirst;
    std::uint64_t kernels, libraries;
  } cases[] = {{Pointwise::Tanh, true, 1, 0},
               {Pointwise::Tanh, false, 1, 0},
               {Pointwise::Sine, true, 6, 4},
               {Pointwise::Sine, false, 10, 4}};
  for (const auto& [function, isChannelsFirst, kernels, libraries] : cases) {
    const auto run = [&, function = function, isChannelsFirst = isChannelsFirst](
                         const KernelContextPtr& context, const double* in, const double* weights,
                         const double* biases, double* out) {
      ColumnMlp<double> mlp(widths, PointwiseFunction(function), context);
      mlp.setLayer(0, {weights, biases});
      mlp.setLayer(1, {weights + kIn * kHidden, biases + kHidden});
      const auto arrayOf = [&](auto* first, Index channels) {
        return PointArray<std::remove_pointer_t<decltype(first)>>{
            first, {isChannelsFirst ? 1 : channels}, isChannelsFirst ? kPoints : 1};
      };
      mlp.forward(box, arrayOf(in, kIn), arrayOf(out, kOut));
    };
    std::vector<double> want(kOut * kPoints), got(kOut * kPoints);
    run(std::make_shared<KernelContext>(), x.data(), w.data(), b.data(), want.data());
    KernelContext& at = *deviceContext();
    DeviceCopy<double> in(at, x.data(), Index(x.size())), weights(at, w.data(), Index(w.size())),
        biases(at, b.data(), Index(b.size())), out(at, got.data(), Index(got.size()));
    const auto before = tenonStandinCalls();
    run(deviceContext(), in.data(), weights.data(), biases.data(), out.data());
    EXPECT_EQ(tenonStandinCalls().kernels - before.kernels, kernels);
    EXPECT_EQ(tenonStandinCalls().libraries - before.libraries, libraries);
    out.fetch(got.data());
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-13) << i;
  }
}

// The adjoint of the same perceptron: dx and the gradients are those of the host. With the tanh one
// kernel computes the hidden layer again, one the cotangents, and two products and two sums the
// gradients. With the sine there are two products for the cotangents, and the hidden layer is a
// bias, a product, an activation and its derivative; copies are needed only as above.
TEST(DevicePerceptron, AdjointReadsAndWritesChannelsInPlace) {
  constexpr Index kPoints = 40'000, kIn = 3, kHidden = 5, kOut = 2;
  constexpr Index kWeights = kIn * kHidden + kHidden * kOut, kBiases = kHidden + kOut;
  Draw draw(4);
  const auto x = draw.reals<double>(kIn * kPoints, -1, 1),
             dy = draw.reals<double>(kOut * kPoints, -1, 1),
             w = draw.reals<double>(kWeights, -1, 1), b = draw.reals<double>(kBiases, -1, 1);
  const struct {
    Pointwise function;
    bool isChannelsFirst;
    std::uint64_t kernels, libraries;
  } cases[] = {{Pointwise::Tanh, true, 6, 2},
               {Pointwise::Tanh, false, 6, 2},
               {Pointwise::Sine, true, 7, 5},
               {Pointwise::Sine, false, 10, 5}};
  for (const auto& [function, isChannelsFirst, kernels, libraries] : cases) {
    const auto run = [&, function = function, isChannelsFirst = isChannelsFirst](
                         const KernelContextPtr& context, const double* in, const double* dOut,
                         const double* weights, const double* biases, double* dIn, double* dw,
                         double* db) {
      ColumnMlp<double> mlp({kIn, kHidden, kOut}, PointwiseFunction(function), context);
      mlp.setLayer(0, {weights, biases});
      mlp.setLayer(1, {weights + kIn * kHidden, biases + kHidden});
      const auto arrayOf = [&](auto* first, Index channels) {
        return PointArray<std::remove_pointer_t<decltype(first)>>{
            first, {isChannelsFirst ? 1 : channels}, isChannelsFirst ? kPoints : 1};
      };
      mlp.adjoint({1, {kPoints}}, arrayOf(in, kIn), arrayOf(dOut, kOut), arrayOf(dIn, kIn),
                  {{dw, db}, {dw + kIn * kHidden, db + kHidden}});
    };
    std::vector<double> dx(x.size()), dw(kWeights), db(kBiases);
    KernelContext& at = *deviceContext();
    DeviceCopy<double> in(at, x.data(), Index(x.size())), dOut(at, dy.data(), Index(dy.size())),
        weights(at, w.data(), kWeights), biases(at, b.data(), kBiases),
        dIn(at, x.data(), Index(x.size())), dWeights(at, dw.data(), kWeights),
        dBiases(at, db.data(), kBiases);
    run(std::make_shared<KernelContext>(), x.data(), dy.data(), w.data(), b.data(), dx.data(),
        dw.data(), db.data());
    const auto before = tenonStandinCalls();
    run(deviceContext(), in.data(), dOut.data(), weights.data(), biases.data(), dIn.data(),
        dWeights.data(), dBiases.data());
    // A sum over so many points takes two kernels.
    EXPECT_EQ(tenonStandinCalls().kernels - before.kernels, kernels);
    EXPECT_EQ(tenonStandinCalls().libraries - before.libraries, libraries);
    const auto expectSame = [](const DeviceCopy<double>& found, const std::vector<double>& want) {
      std::vector<double> values(want.size());
      found.fetch(values.data());
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(values[i], want[i], 1e-10) << i;
    };
    expectSame(dIn, dx);
    expectSame(dWeights, dw);
    expectSame(dBiases, db);
  }
}

} // namespace
} // namespace tenon::test
