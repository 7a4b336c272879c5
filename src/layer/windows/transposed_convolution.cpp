// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the transposed convolution from x to u. It is the adjoint C* of a convolution C
// from u to x, so it uses a convolution kernel with forward and adjoint exchanged:
//
//   Apply          u = C* x + b       adjointData() of the kernel
//   adjoint of x   dx = C du          forward() of the kernel
//
// Near the boundary of this rank's block, x also contributes to elements of u that belong to
// neighbours. In one dimension, for this rank:
//
//   x             | owned block |
//   u    beyond | owned block | beyond
//
// All of u is computed here, and an exchange adds the elements beyond the block on the neighbours.
// The bias must be added once, and therefore only to the elements of u that this rank owns.
#include "declaration/windows/transposed_convolution.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/convolution/convolution.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalTransposedConvolution final : public BilinearKernel {
public:
  // `all` is the box of u that this rank computes, and `owned` the block to which it adds the bias.
  LocalTransposedConvolution(const ConvolutionShape& shape, const Box& all, const Box& owned,
                             TenonDataType type, Backend backend, const KernelContextPtr& context)
      : BilinearKernel(2.0 * double(shape.batch * shape.outChannels * outputVolume(shape.window)) *
                       double(shape.inChannels) / double(shape.groups) *
                       double(kernelVolume(shape.window))),
        kernel_(type, [&]<class T>() { return makeConvolution<T>(shape, backend, context); }),
        elementsOfU_(elements(all)), rank_(static_cast<int>(all.size())), type_(type) {
    const Shape strides = rowMajorStrides(extents(all));
    for (int d = 0; d < rank_; ++d) {
      biasExtent_[d] = owned[d].size();
      biasStrides_[d] = strides[d];
      // An empty block can have any begin, and needs no offset.
      biasOffset_ += owned[d].empty() ? 0 : (owned[d].begin - all[d].begin) * strides[d];
    }
  }

  bool runsOnDevice() const override { return true; }
  Autotuner* autotuner() override {
    return kernel_.visit([](auto& k) { return k.autotuner(); });
  }
  std::string describe() const override {
    return kernel_.visit([](const auto& k) {
      return fmt::format("backend {} ({})", backendName(k.backend()), k.implementation());
    });
  }

private:
  static constexpr Strides kChannelStrides = {0, 1};

  void product(const DTensor& x, const DTensor& w, const DTensor* b, bool adds,
               DTensor& u) override {
    if (adds)
      addProduct(x, w, u);
    else
      visitFloating(u.dataType(), [&]<class T>(T) {
        kernel_.get<T>().adjointData(w.data<T>(), x.data<T>(), u.mutableData<T>());
      });
    if (b)
      addBias(*b, u);
  }
  void adjointX(const DTensor& w, const DTensor& du, DTensor& dx) override {
    visitFloating(du.dataType(), [&]<class T>(T) {
      kernel_.get<T>().forward(du.data<T>(), w.data<T>(), /*b=*/nullptr, dx.mutableData<T>(),
                               /*accumulate=*/false);
    });
  }
  void adjointW(const DTensor& x, const DTensor& du, DTensor& dw, DTensor* db) override {
    visitFloating(du.dataType(), [&]<class T>(T) {
      // The kernel's own bias gradient would be a sum over x, which is its output. The gradient of
      // this layer's bias is the sum of du over the block to which the bias was added.
      kernel_.get<T>().adjointWeights(du.data<T>(), x.data<T>(), dw.mutableData<T>(), nullptr);
      if (db)
        blockMultiplyAdd<T>(du.context(), rank_, biasExtent_.data(), T(1), nullptr, nullptr,
                            du.data<T>() + biasOffset_, biasStrides_.data(), db->mutableData<T>(),
                            kChannelStrides.data());
    });
  }
  void fill(const DTensor* b, DTensor& u) override {
    scaleArray(0, u);
    if (b)
      addBias(*b, u);
  }

  void addBias(const DTensor& b, DTensor& u) const {
    visitFloating(u.dataType(), [&]<class T>(T) {
      blockMultiplyAdd<T>(u.context(), rank_, biasExtent_.data(), T(1), nullptr, nullptr,
                          b.data<T>(), kChannelStrides.data(), u.mutableData<T>() + biasOffset_,
                          biasStrides_.data());
    });
  }
  // The adjoint of the convolution overwrites its result, so adding it needs a separate array. Only
  // tangents use this.
  void addProduct(const DTensor& x, const DTensor& w, DTensor& u) {
    const Index bytes = elementsOfU_ * dataTypeSize(type_);
    if (contribution_.bytes() < bytes)
      contribution_ = Buffer(bytes, "tangent of a transposed convolution", u.context().memory());
    const Index one = 1;
    visitFloating(u.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjointData(w.data<T>(), x.data<T>(), contribution_.data<T>());
      blockMultiplyAdd<T>(u.context(), 1, &elementsOfU_, T(1), nullptr, nullptr,
                          contribution_.data<T>(), &one, u.mutableData<T>(), &one);
    });
  }

  TypedKernel<Convolution> kernel_;
  Index elementsOfU_;
  Index biasOffset_ = 0; // in u, of the block to which the bias is added
  int rank_;             // number of dimensions of u
  TenonDataType type_;
  Strides biasExtent_{}, biasStrides_{}; // of that block
  Buffer contribution_;                  // for tangents, allocated on first use
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeTransposedConvolutionKernel(const KernelSite& at) {
  const auto& transposed = static_cast<const TransposedConvolution&>(at.layer.declaration());
  const Box x = at.input(), u = transposed.contributions(at.form).boxOfRank(at.rank());
  const Index inOfGroup = at.use().shape()[1] / transposed.groups();
  const Index groups = transposed.groups() > 1 ? x[1].size() / inOfGroup : 1;
  const ConvolutionShape shape{x[0].size(), u[1].size(), x[1].size(),
                               localWindow(transposed.windows(), at.form.output.shape(), u, x),
                               std::max<Index>(1, groups)};
  return std::make_unique<LocalTransposedConvolution>(shape, u, at.outputs(), at.layer.dataType(),
                                                      backendOf(at.layer), at.context());
}

} // namespace tenon
