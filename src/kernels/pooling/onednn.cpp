// SPDX-License-Identifier: BSD-2-Clause
// Average pooling by oneDNN. Maxima are not supported, since oneDNN ignores NaN instead of
// propagating it. Windows are not supported if they are dilated, leave input at an end unread, or
// extend beyond the padding that the mean counts. The functions are declared in backends.hpp.
#include "kernels/base/onednn.hpp"
#include "kernels/convolution/window.hpp"
#include "kernels/pooling/backends.hpp"

namespace tenon {

namespace {

using dnnl::memory;

class OneDnnPooling final : public Pooling<float> {
public:
  OneDnnPooling(const PoolingShape& shape, KernelContext& context)
      : stream_(onednn::streamOf(context)) {
    const dnnl::engine& engine = onednn::engine();
    const WindowShape& w = shape.window;
    const auto x = onednn::plainDescription(1, shape.planes, w.in, w.rank);
    const auto y = onednn::plainDescription(1, shape.planes, w.out, w.rank);
    const auto algorithm = shape.mode == PoolingMode::AverageIncludePad
                               ? dnnl::algorithm::pooling_avg_include_padding
                               : dnnl::algorithm::pooling_avg_exclude_padding;
    const auto strides = onednn::toDims(w.stride, w.rank),
               kernel = onednn::toDims(w.kernel, w.rank);
    const auto low = onednn::toDims(w.padLow, w.rank);
    memory::dims high;
    for (int d = 0; d < w.rank; ++d)
      high.push_back(padHigh(w, d));

    // The planes are passed as channels of one image, since pooling treats all planes alike.
    const memory::dims noGaps(w.rank, 0);
    const dnnl::primitive_attr usual; // default attributes
    const auto forward = [&](dnnl::prop_kind kind) {
      return onednn::described<onednn::PoolingForward>(usual, kind, algorithm, x, y, strides,
                                                       kernel, noGaps, low, high);
    };
    forward_ = onednn::PoolingForward(forward(dnnl::prop_kind::forward_inference));
    adjoint_ = onednn::PoolingAdjoint(onednn::describedBeside<onednn::PoolingAdjoint>(
        forward(dnnl::prop_kind::forward_training), usual, algorithm, x, y, strides, kernel, noGaps,
        low, high));
    x_ = memory(x, engine, DNNL_MEMORY_NONE);
    y_ = memory(y, engine, DNNL_MEMORY_NONE);
  }

  Index workspaceBytes() const override { return 0; }

  void forward(const float* x, float* y, void*) override {
    run(forward_, DNNL_ARG_SRC, x, DNNL_ARG_DST, y);
  }
  void adjoint(const float* dy, const void*, float* dx) override {
    run(adjoint_, DNNL_ARG_DIFF_SRC, dx, DNNL_ARG_DIFF_DST, dy);
  }
  void tangent(const float* dx, const void*, float* dy) override { forward(dx, dy, nullptr); }
  Backend backend() const override { return Backend::OneDnn; }

private:
  void run(const dnnl::primitive& primitive, int xArgument, const float* x, int yArgument,
           const float* y) {
    onednn::guarded("pooling", [&] {
      x_.set_data_handle(const_cast<float*>(x));
      y_.set_data_handle(const_cast<float*>(y));
      primitive.execute(stream_, {{xArgument, x_}, {yArgument, y_}});
      stream_.wait();
    });
  }

  dnnl::stream stream_;
  onednn::PoolingForward forward_;
  onednn::PoolingAdjoint adjoint_;
  memory x_, y_;
};

} // namespace

bool oneDnnPools(const PoolingShape& shape) {
  const WindowShape& w = shape.window;
  if (shape.mode == PoolingMode::Max)
    return false;
  if (shape.planes * inputVolume(w) * outputVolume(w) == 0)
    return false; // oneDNN does not support empty arrays
  // Fewer than `stride` unread elements at the high end, as any strided window can leave, are no
  // obstacle.
  for (int d = 0; d < w.rank; ++d)
    if (w.dilation[d] != 1 || w.padLow[d] < 0 || padHigh(w, d) <= -w.stride[d])
      return false;
  // Of all windows the last one extends farthest.
  if (shape.mode == PoolingMode::AverageIncludePad)
    for (int d = 0; d < w.rank; ++d)
      if (tapsBeforeEnd(w, d, w.out[d] - 1) < w.kernel[d])
        return false;
  return true;
}

std::unique_ptr<Pooling<float>> makeOneDnnPooling(const PoolingShape& shape,
                                                  KernelContextPtr context) {
  return onednn::guarded("setting up pooling",
                         [&] { return std::make_unique<OneDnnPooling>(shape, *context); });
}

} // namespace tenon
