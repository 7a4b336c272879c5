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

LocalArray arrayAt(const void* first, const DTensor& x) {
  return {const_cast<void*>(first), x.dataType(), x.extent(), x.strides().data(), x.context()};
}
LocalArray readArray(const DTensor* x) {
  return x ? arrayAt(x->readAddress(), *x) : LocalArray();
}
LocalArray writtenArray(DTensor* y) {
  return y ? arrayAt(y->writeAddress(), *y) : LocalArray();
}

class KernelOnTensors final : public LocalKernel {
public:
  KernelOnTensors(std::unique_ptr<ArrayKernel> kernel, const KernelEntry& entry)
      : kernel_(std::move(kernel)), readsInputs_(!entry.isSource), gradients_(entry.gradients) {}

  void forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer* workspace) override {
    const Arrays read = inputs(x);
    LocalArray written = writtenArray(&y);
    kernel_->forward(read, parameters(p), written, workspace);
  }
  bool forwardThen(Inputs x, ParameterUses& p, const PointwiseFunction& f, DTensor& y) override {
    const Arrays read = inputs(x);
    LocalArray written = writtenArray(&y);
    return kernel_->forwardThen(read, parameters(p), f, written);
  }
  void applyFunction(const PointwiseFunction& f, DTensor& y) override {
    LocalArray written = writtenArray(&y);
    kernel_->applyFunction(f, written);
  }
  void expect(const PointwiseFunction& f) override { kernel_->expect(f); }
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& p, DTensor& dy) override {
    const Arrays read = inputs(dx);
    LocalArray written = writtenArray(&dy);
    const KernelParameters parameters = this->parameters(p);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].tangent = readArray(p[i]->tangent());
    kernel_->tangent(saved(point), read, parameters, written);
  }
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& p,
                   InputCotangents dx) override {
    for (std::size_t i = 0; i < dx.size(); ++i)
      arrays_[i] = writtenArray(dx[i]);
    const KernelParameters read = parameters(p);
    if (gradients_ == Gradients::Within)
      addGradients(p, std::ranges::all_of(p, [](const auto& use) { return use->isFrozen(); }));
    kernel_->adjoint(saved(point), readArray(&dy), read, WrittenArrays(arrays_.data(), dx.size()));
  }
  void adjointParameters(const KernelPoint& point, const DTensor& dy, ParameterUses& p) override {
    parameters_.resize(p.size());
    addGradients(p, /*areFrozen=*/false);
    kernel_->adjointParameters(saved(point), readArray(&dy), parameters_);
  }
  std::string describe() const override { return kernel_->describe(); }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return kernel_->isRepeatable(); }
  Index bytes() const override { return kernel_->bytes(); }
  Autotuner* autotuner() override { return kernel_->autotuner(); }
  const PointwiseFunction* function() const override { return kernel_->function(); }

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
    return {arraysOf(point.inputs, savedInputs_), readArray(point.y), point.workspace};
  }
  // Of the kernels of a layer, those with gradients have the parameters.
  KernelParameters parameters(const ParameterUses& p) {
    if (gradients_ == Gradients::None)
      return {};
    parameters_.resize(p.size());
    for (std::size_t i = 0; i < p.size(); ++i)
      parameters_[i].value = readArray(&p[i]->value());
    return parameters_;
  }
  // All ranks ask for the contributions, also those without elements of a parameter, because the
  // reduction of the gradient is collective.
  void addGradients(ParameterUses& p, bool areFrozen) {
    for (std::size_t i = 0; i < p.size(); ++i)
      parameters_[i].gradient =
          areFrozen ? LocalArray() : writtenArray(&p[i]->gradientContributions());
  }

  std::unique_ptr<ArrayKernel> kernel_;
  bool readsInputs_;
  Gradients gradients_;
  // The arrays of a call, members since their construction would take longer than some kernels.
  ArraysOfInputs arrays_, savedInputs_;
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
