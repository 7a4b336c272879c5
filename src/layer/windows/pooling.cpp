// SPDX-License-Identifier: BSD-2-Clause
// Maximum and mean over the windows that a rank's outputs read. A maximum notes in the workspace
// which element was the largest, and derivatives read that in place of x; a mean is linear, and its
// workspace is empty.
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

std::unique_ptr<LocalKernel> makePooling(const KernelSite& at, PoolingMode mode) {
  // Windows do not reach across batch and channels, so that both together number planes.
  const Box in = at.input();
  const auto& windowed = static_cast<const Windowed&>(at.layer.declaration());
  const PoolingShape shape{in[0].size() * in[1].size(),
                           localWindow(windowed.windows(), at.use().shape(), in, at.outputs()),
                           mode};
  return std::make_unique<LocalPooling>(shape, at.layer.dataType(), backendOf(at.layer),
                                        at.context());
}

} // namespace

std::unique_ptr<LocalKernel> makeMaxPoolingKernel(const KernelSite& at) {
  return makePooling(at, PoolingMode::Max);
}

std::unique_ptr<LocalKernel> makeAveragePoolingKernel(const KernelSite& at) {
  const bool includes = at.layer.declaration().value<bool>("include_padding");
  return makePooling(at,
                     includes ? PoolingMode::AverageIncludePad : PoolingMode::AverageExcludePad);
}

// Between faces and cells: what a boundary mode has filled counts, and what is absent at a wall
// does not.
std::unique_ptr<LocalKernel> makeCollocateKernel(const KernelSite& at) {
  return makePooling(at, PoolingMode::AverageExcludePad);
}

std::unique_ptr<LocalKernel> makeStaggerKernel(const KernelSite& at) {
  return makePooling(at, PoolingMode::AverageExcludePad);
}

} // namespace tenon
