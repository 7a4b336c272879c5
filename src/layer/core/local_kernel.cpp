// SPDX-License-Identifier: BSD-2-Clause
// Calls the kernel of a declaration with the arrays of tensors. A kernel sees only addresses; what
// a tensor does beside is done here: allocation at the first use, the check that the user does not
// hold the array, the mark that it has changed, and which parameters contribute to gradients.
//
//   forwardMany(x, p, y)   ->   forward(arrays of x, values of p, array of y)
#include "layer/core/local_kernel.hpp"

#include "kernels/elementwise/pointwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tenon {

// Applies f to the whole array: no other kernel writes parts of y, and y is contiguous.
void LocalKernel::applyFunction(const PointwiseFunction& f, DTensor& y) {
  visitFloating(y.dataType(), [&]<class T>(T) {
    T* const values = y.mutableData<T>();
    pointwiseForward<T>(y.context(), f, y.localElements(), values, values);
  });
}

namespace {

LocalArray readArray(const DTensor* x) {
  return x ? x->readArray() : LocalArray();
}
LocalArray writtenArray(DTensor* y) {
  return y ? y->writtenArray() : LocalArray();
}

class KernelOnTensors final : public LocalKernel {
public:
  KernelOnTensors(std::unique_ptr<ArrayKernel> kernel, const KernelEntry& entry)
      : kernel_(std::move(kernel)), readsInputs_(!entry.isSource), anyStrides_(entry.anyStrides),
        gradients_(entry.gradients) {}

  void forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer* workspace) override {
    const Arrays read = inputs(x);
    LocalArray written = y.writtenArray();
    kernel_->forward(read, parameters(p), written, workspace);
  }
  bool forwardThen(Inputs x, ParameterUses& p, const PointwiseFunction& f, DTensor& y) override {
    const Arrays read = inputs(x);
    LocalArray written = y.writtenArray();
    return kernel_->forwardThen(read, parameters(p), f, written);
  }
  bool infer(Inputs x, ParameterUses& p, const Finish& finish, DTensor& y) override {
    const Arrays read = inputs(x);
    LocalArray written = y.writtenArray();
    return kernel_->infer(read, parameters(p), finish, written);
  }
  bool foldsChannels() override { return kernel_->foldsChannels(); }
  ChannelOrders channelOrders() override {
    return anyStrides_ ? ChannelOrders::Any : kernel_->channelOrders();
  }
  void applyFunction(const PointwiseFunction& f, DTensor& y) override {
    LocalArray written = y.writtenArray();
    kernel_->applyFunction(f, written);
  }
  void expect(const PointwiseFunction& f) override { kernel_->expect(f); }
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& p, DTensor& dy) override {
    const Arrays read = inputs(dx);
    LocalArray written = dy.writtenArray();
    const KernelParameters parameters = this->parameters(p);
    if (!parameters.empty())
      forEach(p, [](const ParameterUse& use, KernelParameter& parameter) {
        parameter.tangent = readArray(use.tangent());
      });
    kernel_->tangent(saved(point), read, parameters, written);
  }
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& p,
                   InputCotangents dx) override {
    for (std::size_t i = 0; i < dx.size(); ++i)
      arrays_[i] = writtenArray(dx[i]);
    const KernelParameters read = parameters(p);
    // A kernel of this kind computes the gradients of all parameters together, and can omit them
    // only if none is needed.
    if (gradients_ == Gradients::Within)
      addGradients(p, std::ranges::all_of(p, [](const auto& use) { return use->isFrozen(); }));
    kernel_->adjoint(saved(point), dy.readArray(), read, WrittenArrays(arrays_.data(), dx.size()));
  }
  void adjointParameters(const KernelPoint& point, const DTensor& dy, ParameterUses& p) override {
    addGradients(p, /*areFrozen=*/false);
    kernel_->adjointParameters(saved(point), dy.readArray(), parameters_);
  }
  std::string describe() const override { return kernel_->describe(); }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return kernel_->isRepeatable(); }
  Index bytes() const override { return kernel_->bytes(); }
  Autotuner* autotuner() override { return kernel_->autotuner(); }
  const PointwiseFunction* function() const override { return kernel_->function(); }
  std::shared_ptr<ArrayKernel> onArrays() const override { return kernel_; }

private:
  using ArraysOfInputs = std::array<LocalArray, MapList::kMaxInputs>;

  static Arrays arraysOf(Inputs x, ArraysOfInputs& arrays) {
    for (std::size_t i = 0; i < x.size(); ++i)
      arrays[i] = readArray(x[i]);
    return {arrays.data(), x.size()};
  }
  // Inputs that are not read can be arrays that the user holds, or that nobody has allocated.
  Arrays inputs(Inputs x) {
    if (readsInputs_)
      return arraysOf(x, arrays_);
    std::fill_n(arrays_.begin(), x.size(), LocalArray());
    return {arrays_.data(), x.size()};
  }
  SavedArrays saved(const KernelPoint& point) {
    return {.inputs = arraysOf(point.inputs, savedInputs_),
            .output = readArray(point.y),
            .workspace = point.workspace,
            .adds = point.adds};
  }
  // Calls visit() with each parameter of the layer and what the kernel gets of it.
  template <class Visit>
  void forEach(const ParameterUses& p, Visit&& visit) {
    if (parameters_.size() != p.size())
      parameters_.resize(p.size());
    KernelParameter* parameter = parameters_.data();
    for (const auto& use : p)
      visit(*use, *parameter++);
  }
  // Of the kernels of a layer, those with gradients have the parameters.
  KernelParameters parameters(const ParameterUses& p) {
    if (gradients_ == Gradients::None)
      return {};
    forEach(p, [](const ParameterUse& use, KernelParameter& parameter) {
      const DTensor& value = use.value();
      parameter.value = value.readArray();
      parameter.state = value.state();
    });
    return parameters_;
  }
  // All ranks ask for the contributions, also those without elements of a parameter, because the
  // reduction of the gradient is collective.
  void addGradients(const ParameterUses& p, bool areFrozen) {
    forEach(p, [=](ParameterUse& use, KernelParameter& parameter) {
      parameter.gradient = areFrozen ? LocalArray() : use.gradientContributions().writtenArray();
    });
  }

  std::shared_ptr<ArrayKernel> kernel_;
  bool readsInputs_, anyStrides_;
  Gradients gradients_;
  ArraysOfInputs arrays_, savedInputs_; // of the present call
  std::vector<KernelParameter> parameters_;
};

} // namespace

std::unique_ptr<LocalKernel> onTensors(std::unique_ptr<ArrayKernel> kernel,
                                       const KernelEntry& entry) {
  if (!kernel)
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("nothing makes the kernel \"{}\"; override makeKernel() in the "
                            "declaration of its type",
                            entry.name));
  return std::make_unique<KernelOnTensors>(std::move(kernel), entry);
}

} // namespace tenon
