// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of maximum and average pooling: y is the maximum or mean of each window of x, on
// each rank for the outputs that it owns. x has a halo, which an exchange has filled before. A
// maximum stores the position of the largest element of each window in the workspace, which
// derivatives read instead of x. A mean is linear, and its workspace is empty. The layers that
// move values between cells and faces of a staggered grid (collocate, stagger) are means too.
#include "kernels/pooling/pooling.hpp"

#include "declaration/core/windowed.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/kernel_context.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalPooling final : public OneInputKernel {
public:
  LocalPooling(const PoolingShape& shape, TenonDataType type, Backend backend,
               const KernelContextPtr& context)
      : kernel_(type, [&]<class T>() { return makePooling<T>(shape, backend, context); }) {}

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      kernel_.get<T>().forward(x.data<T>(), y.mutableData<T>(),
                               workspace ? workspace->data<void>() : nullptr);
    });
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    if (!dx)
      return scaleArray(0, dy);
    visitFloating(dy.dataType(), [&]<class T>(T) {
      kernel_.get<T>().tangent(dx->data<T>(), point.workspace->data<void>(), dy.mutableData<T>());
    });
  }

  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (!dx)
      return;
    visitFloating(dy.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjoint(dy.data<T>(), point.workspace->data<void>(), dx->mutableData<T>());
    });
  }

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return kernel_.visit(
        [](const auto& k) { return fmt::format("backend {}", backendName(k.backend())); });
  }

private:
  TypedKernel<Pooling> kernel_;
};

// The kernel with this mode (maximum, or one of two means) for the windows of the layer.
std::unique_ptr<LocalKernel> makePooling(const KernelSite& at, PoolingMode mode) {
  // Windows do not extend over batch and channels, so each pair of these is an independent plane.
  const Box in = at.input();
  const auto& windowed = static_cast<const Windowed&>(at.layer.declaration());
  const PoolingShape shape{in[0].size() * in[1].size(),
                           localWindow(windowed.windows(), at.use().shape(), in, at.outputs()),
                           mode};
  return std::make_unique<LocalPooling>(shape, at.layer.dataType(), backendOf(at.layer),
                                        at.context());
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeMaxPoolingKernel(const KernelSite& at) {
  return makePooling(at, PoolingMode::Max);
}

std::unique_ptr<LocalKernel> makeAveragePoolingKernel(const KernelSite& at) {
  const bool includes = at.layer.declaration().value<bool>("include_padding");
  return makePooling(at,
                     includes ? PoolingMode::AverageIncludePad : PoolingMode::AverageExcludePad);
}

// Means between faces and cells: elements filled by a boundary mode count, missing ones at a wall
// do not.
std::unique_ptr<LocalKernel> makeCollocateKernel(const KernelSite& at) {
  return makePooling(at, PoolingMode::AverageExcludePad);
}

std::unique_ptr<LocalKernel> makeStaggerKernel(const KernelSite& at) {
  return makePooling(at, PoolingMode::AverageExcludePad);
}

} // namespace tenon
