// SPDX-License-Identifier: BSD-2-Clause
// What losses share: the target with which they compare their input, the weights of their terms,
// and kernels that have the derivative before anybody asks for it.
#pragma once

#include "layer/core/layer.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"

#include <optional>

namespace tenon {

// The target, or the weights, in the layout in which a set-up uses it. Whatever is given may come
// in another layout or type than the last time: its conversion is made then.
class TargetUse final : public Source {
public:
  TargetUse(const Layer& layer, const SourceEntry& entry);

  // Throws TENON_ERR_STATE, TENON_ERR_DATATYPE or TENON_ERR_SHAPE if nothing that fits was given.
  void begin() override;
  // Throws TENON_ERR_ARG if a weight is negative or not finite.
  void end() override;
  const DTensor& value() const noexcept { return *value_; }

private:
  const DTensor& given() const;
  // Labels are integers, weights have the layer's type, other targets are float32 or float64.
  TenonDataType wantedType(const DTensor& given) const;
  void check(const DTensor& given, TenonDataType type) const;
  void checkWeights() const;

  const Layer& layer_;
  SourceEntry::Of of_;
  Layout use_;
  LinearOpRef conversion_;
  Ref<DTensor> arrived_; // what is given in another space than the layer's, in that
  Ref<DTensor> value_;
};

// A kernel whose workspace holds this rank's contribution of the derivative by its first input.
class SavedGradient : public LocalKernel {
public:
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&,
                   DTensor& contribution) final;
  void adjointMany(const KernelPoint& point, const DTensor& dContribution, ParameterUses&,
                   InputCotangents dx) final;
  bool runsOnDevice() const final { return true; }
  bool isRepeatable() const final { return false; } // targets come and go
};

// The address of the number in a tensor of one element, which stays where kernels work; null on
// ranks that do not hold it.
template <class T>
const T* placeOf(const DTensor& number) {
  return number.localElements() > 0 ? number.data<T>() : nullptr;
}
template <class T>
T* placeOf(DTensor& number) {
  T* place = number.mutableData<T>();
  return number.localElements() > 0 ? place : nullptr;
}

// What a kernel of a loss knows of it.
struct LossPart {
  Layout use;
  Box box;      // of this rank, without a halo
  bool speaks;  // for the ranks that hold elements of the same samples; one of them does
  double terms; // of all ranks
  bool isMean;
  bool weighsElements = false, weighsSamples = false;
  TenonDataType type;
  KernelContextPtr context;
  std::shared_ptr<const TargetUse> target, weights; // null where there are none

  Index rows() const { return box[kSampleDim].size(); }
  Index elements() const { return tenon::elements(box); }
  // The factor of the terms. `weightSum` is the sum of the weights, null where there is none: then
  // a mean is over the number of terms.
  double scale(const DTensor* weightSum) const;
  // The weights, or null where the loss has none of this kind.
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

// A kernel of a loss: that of the weights' sum, or what make(part) makes.
using MakeLossKernel = std::function<std::unique_ptr<LocalKernel>(const LossPart& part)>;
std::unique_ptr<LocalKernel> makeLossKernel(const KernelSite& at, const MakeLossKernel& make);

} // namespace tenon
