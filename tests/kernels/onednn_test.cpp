// SPDX-License-Identifier: BSD-2-Clause
// Kernels by oneDNN in builds that have it: that they compute rightly is in the sweeps over all
// backends.
#include "kernels/base/onednn.hpp"

#include "kernels/convolution/convolution.hpp"
#include "kernels/draw.hpp"

namespace tenon::test {

// What the library's own default keeps grows by some 40 MiB in a program that draws shapes.
TEST(KernelContext, OneDnnKeepsFewPrimitivesThatNobodyUses) {
  onednn::engine();
  EXPECT_LE(dnnl::get_primitive_cache_capacity(), 128);
}

TEST(KernelContext, HoldsTheOneStreamOfItsOneDnnKernels) {
  Draw draw(3);
  const auto context = std::make_shared<KernelContext>();
  EXPECT_EQ(context->oneDnn(), nullptr);
  const ConvolutionShape shape{1, 2, 3, draw.ordinaryWindow()};
  const auto first = makeConvolution<float>(shape, Backend::OneDnn, context);
  const auto stream = context->oneDnn();
  ASSERT_EQ(first->backend(), Backend::OneDnn);
  EXPECT_NE(stream, nullptr);
  const auto second = makeConvolution<float>(shape, Backend::OneDnn, context);
  EXPECT_EQ(context->oneDnn(), stream);
}

} // namespace tenon::test
