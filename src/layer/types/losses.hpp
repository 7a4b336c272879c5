// SPDX-License-Identifier: BSD-2-Clause
// Common parts of losses: the target with which they compare their input, the weights of their
// terms, and kernels that compute their derivative together with the value.
#pragma once

#include "layer/core/layer.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"

#include <optional>

namespace tenon {

// The target or the weights in the use layout of a set-up. The tensor that the user sets can have
// another layout or type each time; a new conversion is made when they change.
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
  // Labels are integers, weights have the layer's type, other targets are float32 or float64.
  TenonDataType wantedType(const DTensor& userTensor) const;
  void check(const DTensor& userTensor, TenonDataType type) const;
  void checkWeights() const;

  const Layer& layer_;
  SourceEntry::Of of_;
  Layout use_;
  LinearOpRef conversion_;
  Ref<DTensor> arrived_; // copy of a tensor from another space, in the layer's
  Ref<DTensor> value_;
};

// A kernel whose workspace holds the derivative of this rank's contribution by its first input.
class SavedGradient : public LocalKernel {
public:
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&,
                   DTensor& contribution) final;
  void adjointMany(const KernelPoint& point, const DTensor& dContribution, ParameterUses&,
                   InputCotangents dx) final;
  bool runsOnDevice() const final { return true; }
  bool isRepeatable() const final { return false; } // targets change between calls
};

// The address of the number in a tensor of one element, without a copy to the host; null on ranks
// that do not hold it.
template <class T>
const T* placeOf(const DTensor& number) {
  return number.localElements() > 0 ? number.data<T>() : nullptr;
}
template <class T>
T* placeOf(DTensor& number) {
  T* place = number.mutableData<T>();
  return number.localElements() > 0 ? place : nullptr;
}

// The local block of a loss, as its kernels need it.
struct LossPart {
  Layout use;
  Box box;            // of this rank, without a halo
  bool countsSamples; // true on one of the ranks that share the same samples, which counts them
  double terms;       // number of terms on all ranks
  bool isMean;
  bool weighsElements = false, weighsSamples = false;
  TenonDataType type;
  KernelContextPtr context;
  std::shared_ptr<const TargetUse> target, weights; // null if there are none

  Index rows() const { return box[kSampleDim].size(); }
  Index elements() const { return tenon::elements(box); }
  // The factor of the terms. `weightSum` is the sum of the weights; if null, a mean divides by the
  // number of terms.
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

// Makes a kernel of a loss: the sum of the weights, or the kernel made by make(part).
using MakeLossKernel = std::function<std::unique_ptr<LocalKernel>(const LossPart& part)>;
std::unique_ptr<LocalKernel> makeLossKernel(const KernelSite& at, const MakeLossKernel& make);

} // namespace tenon
