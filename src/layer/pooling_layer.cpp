// SPDX-License-Identifier: BSD-2-Clause
#include "layer/pooling_layer.hpp"

#include "layer/layer_context.hpp"
#include "layer/local_window.hpp"
#include "layer/typed_kernel.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalPooling final : public OneInputKernel {
public:
  LocalPooling(const PoolingShape& shape, TenonDataType type, Backend backend,
               const KernelContextPtr& context)
      : isMax_(shape.mode == PoolingMode::Max),
        kernel_(type, [&]<class T>() { return makePooling<T>(shape, backend, context); }) {}

  Index workspaceBytes() const override {
    return kernel_.visit([](const auto& k) { return k.workspaceBytes(); });
  }
  // The tangent of a maximum needs to know where it was.
  bool keepsInput() const override { return isMax_; }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      kernel_.get<T>().forward(x.data<T>(), y.mutableData<T>(),
                               workspace ? workspace->data<void>() : nullptr);
    });
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      if (dx)
        kernel_.get<T>().tangent(point.x ? point.x->data<T>() : nullptr, dx->data<T>(),
                                 dy.mutableData<T>());
      else
        std::fill_n(dy.mutableData<T>(), dy.localCells(), T(0));
    });
  }

  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (!dx)
      return;
    visitFloating(dy.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjoint(dy.data<T>(), point.workspace->data<void>(), dx->mutableData<T>());
    });
  }

  std::string describe() const override {
    return kernel_.visit(
        [](const auto& k) { return fmt::format("backend {}", backendName(k.backend())); });
  }

private:
  bool isMax_;
  TypedKernel<Pooling> kernel_;
};

} // namespace

PoolingLayer::PoolingLayer(CommPtr comm, PoolingMode mode, std::vector<Window> windows)
    : WindowedLayer(std::move(comm), std::move(windows)), mode_(mode) {}

const char* PoolingLayer::type() const noexcept {
  return mode_ == PoolingMode::Max ? "maxpooling" : "averagepooling";
}

std::string PoolingLayer::ownSettings() const {
  constexpr const char* kModes[] = {"max", "average including padding",
                                    "average excluding padding"};
  return fmt::format("{}-D, {}, {}", spatialRank(), kModes[static_cast<int>(mode_)],
                     describeWindows());
}

SignatureTable PoolingLayer::table() const {
  SignatureTable table = elementwiseTable(spatialRank() + kFirstSpatial, mode_ != PoolingMode::Max);
  table[0].letter = "n";
  table[1].letter = "c";
  for (int s = 0; s < spatialRank(); ++s)
    table[s + kFirstSpatial].letter = spatialLetter(s, spatialRank());
  return table;
}

WindowedLayer::WindowPlan PoolingLayer::windowPlan(const Layout& input) const {
  const Index channels = input.rank() > 1 ? input.shape()[1] : 0;
  const Shape outShape = windowOutputShape(windows(), input, channels, title());
  const Signature chosen(table(), input, signature(), title());
  std::vector<CutSource> same;
  for (int d = 0; d < input.rank(); ++d)
    same.push_back({&input, d});
  const Layout plain = makeLayout(input.shape(), input.meshPtr(), chosen.input(), same);
  const Layout output =
      windowOutputLayout(windows(), plain, outShape, chosen.output(), plain.cuts(1));
  WindowPlan result{chosen, plain, output, windowUseLayout(windows(), plain, output)};
  checkHalo(input, result.use);
  return result;
}

KernelPlan PoolingLayer::plan(const Layout& input) {
  const auto [chosen, plain, output, use] = windowPlan(input);
  const int here = input.mesh().position(comm()->rank());
  const Box in = use.box(here), out = output.box(here);
  const PoolingShape shape{in[0].size() * in[1].size(),
                           localWindow(windows(), use.shape(), in, out), mode_};
  auto kernel =
      std::make_unique<LocalPooling>(shape, dataType(), parseBackend(backend()), contextOf(comm()));
  return {chosen, use, output, {}, {}, std::move(kernel), callersValues()};
}

} // namespace tenon
