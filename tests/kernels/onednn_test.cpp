// SPDX-License-Identifier: BSD-2-Clause
// The state of oneDNN in builds that have it: the capacity of its cache, and the stream that the
// kernels of a context share. The results of its kernels are tested with those of the other
// backends.
#include "kernels/base/onednn.hpp"

#include "kernels/convolution/convolution.hpp"
#include "kernels/draw.hpp"

namespace tenon::test {

// With the library's default capacity of 1024, the memory of a program with many shapes grows by
// about 40 MiB.
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
