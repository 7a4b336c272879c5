// SPDX-License-Identifier: BSD-2-Clause
// KernelContext, the scratch memory that all kernels of a rank share: its size is that of the
// largest plan, it is counted as allocated memory, and several kernels in one context, called in
// turns, compute the same results as kernels of the reference backend with their own contexts.
#include "kernels/base/context.hpp"

#include "kernels/convolution/convolution.hpp"
#include "kernels/draw.hpp"
#include "kernels/pooling/pooling.hpp"

namespace tenon::test {

TEST(KernelContext, GrowsToTheLargestPlanAndIsCounted) {
  const Index before = bytesAlive();
  {
    KernelContext context;
    ScratchPlan small, large;
    EXPECT_EQ(small.add<char>(1), 0);
    EXPECT_EQ(small.add<double>(10), Index(kAlignment));
    large.add<double>(1000);
    context.reserve(large);
    context.reserve(small);
    EXPECT_EQ(context.scratchBytes(), large.bytes());
    EXPECT_EQ(bytesAlive() - before, large.bytes());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(context.scratch<char>(64)) % kAlignment, 0u);
  }
  EXPECT_EQ(bytesAlive(), before);
}

template <class T>
class SharedContext : public ::testing::Test {};
TYPED_TEST_SUITE(SharedContext, RealTypes);

// Each convolution is larger than the one created before it, so its creation enlarges the scratch
// and can move it. The calls 0, 1 and 2 are forward(), adjointData() and adjointWeights().
TYPED_TEST(SharedContext, ServesKernelsInTurns) {
  using T = TypeParam;
  Draw draw(17);
  for (Backend backend : fastBackends<T>()) {
    const auto context = std::make_shared<KernelContext>();
    std::vector<ConvolutionShape> shapes;
    std::vector<std::unique_ptr<Convolution<T>>> shared, alone;
    for (Index size : {1, 2, 4, 7}) {
      shapes.push_back({.batch = 2,
                        .inChannels = size,
                        .outChannels = size + 1,
                        .window = draw.ordinaryWindow()});
      shared.push_back(makeConvolution<T>(shapes.back(), backend, context));
      alone.push_back(makeConvolution<T>(shapes.back(), Backend::Reference));
    }
    for (int turn = 0; turn < 2; ++turn)
      for (size_t i = 0; i < shapes.size(); ++i) {
        const ConvolutionShape& s = shapes[i];
        const auto x = draw.integers<T>(s.batch * s.inChannels * inputVolume(s.window));
        const auto w = draw.integers<T>(s.outChannels * s.inChannels * kernelVolume(s.window));
        const auto dy = draw.integers<T>(s.batch * s.outChannels * outputVolume(s.window));
        for (auto call : {0, 1, 2}) {
          std::vector<T> got(call == 0 ? dy.size() : call == 1 ? x.size() : w.size()), want = got;
          for (auto [op, result] : {std::pair(&shared[i], &got), std::pair(&alone[i], &want)}) {
            if (call == 0)
              (*op)->forward(x.data(), w.data(), nullptr, result->data(), false);
            else if (call == 1)
              (*op)->adjointData(w.data(), dy.data(), result->data());
            else
              (*op)->adjointWeights(x.data(), dy.data(), result->data(), nullptr);
          }
          ASSERT_EQ(got, want) << backendName(backend) << " " << describe(s.window);
        }
      }
  }
}

} // namespace tenon::test
