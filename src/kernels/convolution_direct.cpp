// SPDX-License-Identifier: BSD-2-Clause
// Direct convolution: sums over columns that are read in place, in loops of vectors for the processor's
// instructions (convolution_direct_kernels.hpp). Outputs of a row must read consecutive inputs.
#include "kernels/convolution_backends.hpp"
#include "kernels/convolution_direct_outputs.hpp"
#include "kernels/convolution_direct_weights.hpp"

namespace tenon {

namespace {

template <class T>
class DirectConvolution final : public Convolution<T> {
public:
  DirectConvolution(const ConvolutionShape& shape, KernelContextPtr context, InstructionSet set)
      : context_(std::move(context)), set_(set),
        forward_(forwardSum(shape), directKernels<T>(set), *context_),
        weights_(forwardSum(shape), directKernels<T>(set), *context_) {
    for (const DirectSum& sum : adjointSums(shape))
      data_.emplace_back(sum, directKernels<T>(set), *context_);
  }

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    forward_.run(*context_, x, w, b, y, accumulate);
  }
  void adjointData(const T* w, const T* dy, T* dx) override {
    for (const DirectOutputs<T>& cells : data_)
      cells.run(*context_, dy, w, nullptr, dx, false);
  }
  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    weights_.run(*context_, x, dy, dw, db);
  }

  Backend backend() const override { return Backend::Direct; }
  const char* implementation() const override { return instructionSetName(set_); }

private:
  KernelContextPtr context_;
  InstructionSet set_;
  DirectOutputs<T> forward_;
  DirectWeights<T> weights_;
  std::vector<DirectOutputs<T>> data_; // for each residue of the stride
};

} // namespace

template <class T>
std::unique_ptr<Convolution<T>>
makeDirectConvolution(const ConvolutionShape& shape, KernelContextPtr context, InstructionSet set) {
  return std::make_unique<DirectConvolution<T>>(shape, std::move(context), set);
}

template std::unique_ptr<Convolution<float>>
makeDirectConvolution<float>(const ConvolutionShape&, KernelContextPtr, InstructionSet);
template std::unique_ptr<Convolution<double>>
makeDirectConvolution<double>(const ConvolutionShape&, KernelContextPtr, InstructionSet);

} // namespace tenon
