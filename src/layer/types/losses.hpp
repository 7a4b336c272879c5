// SPDX-License-Identifier: BSD-2-Clause
// Common parts of the local kernels of losses (losses.cpp, cross_entropy.cpp). A loss is a sum or
// mean of terms, each of which compares x with a target and can have a weight. Each rank computes
// the terms of its block of x, and the layer sums these contributions over the ranks. The user sets
// target and weights as tensors on the layer. In each Apply:
//
//   1. TargetUse::begin(), end()   convert the target (or the weights) to the layout of the loss
//   2. forwardMany() of a kernel   computes this rank's contribution to the loss, and saves the
//                                  derivative in the workspace (SavedGradient)
//   3. tangentMany(), adjointMany()  read only the saved derivative
#pragma once

#include "layer/core/layer.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"

#include <optional>

namespace tenon {

// The target, the labels or the weights (entry.of says which), converted to the use layout: the
// layout in which the kernels of one set-up read it. The user can set a tensor of another layout or
// type before each Apply; the conversion is then created again.
class TargetUse final : public Source {
public:
  TargetUse(const Layer& layer, const SourceEntry& entry);

  // Throws TENON_ERR_STATE, TENON_ERR_DATATYPE or TENON_ERR_SHAPE if no suitable tensor was set.
  void begin() override;
  // Throws TENON_ERR_ARG if a weight is negative or not finite.
  void end() override;
  const DTensor& value() const noexcept { return *value_; }

private:
  const DTensor& userTensor() const;
  // The type of the kernel's tensor: labels are int64, weights have the layer's type, other targets
  // are float32 or float64.
  TenonDataType wantedType(const DTensor& userTensor) const;
  void check(const DTensor& userTensor, TenonDataType type) const;
  void checkWeights() const;

  const Layer& layer_;
  SourceEntry::Of of_;
  Layout use_;
  LinearOpRef conversion_;
  Ref<DTensor> arrived_; // copy of a tensor from another space, in the layer's
  Ref<DTensor> moved_;   // labels of int32 in the layout of the kernel, whose labels are int64
  Ref<DTensor> value_;
};

// A kernel whose workspace stores the derivative of this rank's contribution with respect to its
// first input. Derived classes compute both in forwardMany().
class SavedGradient : public LocalKernel {
public:
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&,
                   DTensor& contribution) final;
  void adjointMany(const KernelPoint& point, const DTensor& dContribution, ParameterUses&,
                   InputCotangents dx) final;
  bool runsOnDevice() const final { return true; }
  bool isRepeatable() const final { return false; } // targets change between calls
};

// The address of the single number in a tensor of one element, in the memory space of the tensor,
// hence without a copy to the host; null on ranks that do not store it.
template <class T>
const T* placeOf(const DTensor& number) {
  return number.localElements() > 0 ? number.data<T>() : nullptr;
}
template <class T>
T* placeOf(DTensor& number) {
  T* place = number.mutableData<T>();
  return number.localElements() > 0 ? place : nullptr;
}

struct LossArea; // loss_weights.hpp

// The block of a loss on one rank: its box of x, and what the kernels need to scale the terms. A
// term is an element of x, a label, or a whole sample (index of dimension 0).
struct LossPart {
  Layout use; // distribution of x over the ranks, as the kernels read it
  Box box;    // of this rank's terms: of x without a halo, of samples of an ensemble, of labels
  bool countsTerms; // true on one of the ranks that share the same terms, which counts them
  double terms;     // number of terms on all ranks, or the sum of their weights by area
  bool isMean;
  bool weighsElements = false, weighsSamples = false;
  TenonDataType type;
  KernelContextPtr context;
  std::shared_ptr<const TargetUse> target, weights; // null if there are none
  std::shared_ptr<const LossArea> area = {};        // weights by area; null if there are none

  Index rows() const { return box[kSampleDim].size(); }
  Index elements() const { return tenon::elements(box); }
  // The factor of the terms: 1 for a sum; for a mean 1 / weightSum, or 1 / terms if `weightSum` is
  // null.
  double scale(const DTensor* weightSum) const;
  // The weights, or null if the loss has none of this kind.
  template <class T>
  const T* elementWeights() const {
    return weighsElements ? weights->value().data<T>() : nullptr;
  }
  template <class T>
  const T* sampleWeights() const {
    return weighsSamples ? weights->value().data<T>() : nullptr;
  }

  static constexpr int kSampleDim = 0;
};

// The global index of an element of a row-major box.
Shape indexOf(const Box& box, Index element);

// Makes one kernel of a loss, at set-up on each rank; `at` identifies the layer and the kernel. It
// is the sum of the weights if the kernel has the name "weights", otherwise the result of
// make(part).
using MakeLossKernel = std::function<std::unique_ptr<LocalKernel>(const LossPart& part)>;
std::unique_ptr<LocalKernel> makeLossKernel(const KernelSite& at, const MakeLossKernel& make);

} // namespace tenon
