// SPDX-License-Identifier: BSD-2-Clause
// The kernels of a convolution with forward and adjoint exchanged: the convolution's input u is what this
// one gives, and its output what this one reads.
#include "declaration/types/transposed_convolution.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/convolution/convolution.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalTransposedConvolution final : public OneInputKernel {
public:
  // `all` is the box of u, `owned` the part of it that gets the bias from this rank.
  LocalTransposedConvolution(const ConvolutionShape& shape, const Box& all, const Box& owned,
                             TenonDataType type, Backend backend, const KernelContextPtr& context)
      : kernel_(type, [&]<class T>() { return makeConvolution<T>(shape, backend, context); }),
        cells_(cells(all)), rank_(static_cast<int>(all.size())), type_(type),
        flops_(2.0 * double(shape.batch * shape.outChannels * outputVolume(shape.window)) *
               double(shape.inChannels) / double(shape.groups) *
               double(kernelVolume(shape.window))) {
    const Shape strides = rowMajorStrides(extents(all));
    for (int d = 0; d < rank_; ++d) {
      extent_[d] = owned[d].size();
      strides_[d] = strides[d];
      first_ += owned[d].empty() ? 0 : (owned[d].begin - all[d].begin) * strides[d];
    }
  }

  void forward(const DTensor& x, ParameterUses& p, DTensor& u, Buffer*) override {
    visitFloating(u.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjointData(p[0]->value().data<T>(), x.data<T>(), u.mutableData<T>());
      if (p.size() > 1)
        addBias<T>(p[1]->value(), u);
    });
    logFlops(flops_);
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& p,
               DTensor& du) override {
    visitFloating(du.dataType(), [&]<class T>(T) {
      const DTensor* dw = p[0]->tangent();
      if (dx)
        kernel_.get<T>().adjointData(p[0]->value().data<T>(), dx->data<T>(), du.mutableData<T>());
      else
        scaleArray(0, du);
      if (dw)
        addOfWeights<T>(*dw, *point.x, du);
      if (p.size() > 1 && p[1]->tangent())
        addBias<T>(*p[1]->tangent(), du);
      logFlops(flops_ * ((dx ? 1 : 0) + (dw ? 1 : 0)));
    });
  }

  void adjoint(const KernelPoint&, const DTensor& du, ParameterUses& p, DTensor* dx) override {
    if (!dx)
      return;
    visitFloating(du.dataType(), [&]<class T>(T) {
      kernel_.get<T>().forward(du.data<T>(), p[0]->value().data<T>(), nullptr, dx->mutableData<T>(),
                               false);
    });
    logFlops(flops_);
  }

  void adjointParameters(const KernelPoint& point, const DTensor& du, ParameterUses& p) override {
    visitFloating(du.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjointWeights(du.data<T>(), point.x->data<T>(),
                                      p[0]->gradientAddends().mutableData<T>(), nullptr);
      if (p.size() < 2 || p[1]->gradientAddends().localElements() == 0)
        return;
      blockMultiplyAdd<T>(du.context(), rank_, extent_.data(), T(1), nullptr, nullptr,
                          du.data<T>() + first_, strides_.data(),
                          p[1]->gradientAddends().mutableData<T>(), kChannels.data());
    });
    logFlops(flops_);
  }

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return kernel_.visit([](const auto& k) {
      return fmt::format("backend {} ({})", backendName(k.backend()), k.implementation());
    });
  }

private:
  static constexpr Strides kChannels = {0, 1};

  // Off the root of an axis there is no bias.
  template <class T>
  void addBias(const DTensor& b, DTensor& u) const {
    if (b.localElements() > 0)
      blockMultiplyAdd<T>(u.context(), rank_, extent_.data(), T(1), nullptr, nullptr, b.data<T>(),
                          kChannels.data(), u.mutableData<T>() + first_, strides_.data());
  }
  template <class T>
  void addOfWeights(const DTensor& dw, const DTensor& x, DTensor& du) {
    const Index bytes = cells_ * dataTypeSize(type_);
    if (ofWeights_.bytes() < bytes)
      ofWeights_ = Buffer(bytes, "tangent of a transposed convolution", du.context().memory());
    kernel_.get<T>().adjointData(dw.data<T>(), x.data<T>(), ofWeights_.data<T>());
    const Index one = 1;
    blockMultiplyAdd<T>(du.context(), 1, &cells_, T(1), nullptr, nullptr, ofWeights_.data<T>(),
                        &one, du.mutableData<T>(), &one);
  }

  TypedKernel<Convolution> kernel_;
  Index cells_, first_ = 0; // of u, and of what gets the bias
  int rank_;
  TenonDataType type_;
  double flops_;
  Strides extent_{}, strides_{};
  Buffer ofWeights_; // for tangents, once there is one
};

} // namespace

std::unique_ptr<LocalKernel> makeTransposedconvKernel(Layer& layer, const Form& form,
                                                      const Layout& use, const Box& outputs) {
  const auto& transposed = static_cast<const TransposedConvolution&>(layer.declaration());
  const int rank = layer.comm()->rank();
  const Box x = use.boxOfRank(rank), u = transposed.addends(form).boxOfRank(rank);
  const Index inOfGroup = use.shape()[1] / transposed.groups();
  const Index groups = transposed.groups() > 1 ? x[1].size() / inOfGroup : 1;
  const ConvolutionShape shape{x[0].size(), u[1].size(), x[1].size(),
                               localWindow(transposed.windows(), form.output.shape(), u, x),
                               std::max<Index>(1, groups)};
  return std::make_unique<LocalTransposedConvolution>(shape, u, outputs, layer.dataType(),
                                                      backendOf(layer),
                                                      contextOf(layer.comm(), layer.space()));
}

} // namespace tenon
