// SPDX-License-Identifier: BSD-2-Clause
// Parameters: value, gradient, and their uses in set-ups. For a weight that is stored split over
// the ranks (layout S) and read by kernels as a copy on every rank (layout B), with P for partial
// sums:
//
//   value      S --all-gather--> B       ParameterUse::begin(), end(), before kernels read it
//   gradient   P --reduce-scatter--> S   Parameter::collect(), when it is needed
//
// An adjoint adds contributions to the array of its ParameterUse. collect() converts this array to
// the dual of the storage layout only when an optimizer or a reader needs the gradient. Gradients
// that are accumulated over k adjoints therefore need one conversion and one reduction, not k. If
// the storage itself is replicated, its dual has contributions too; direction() then sums them.
// Where storage and use have the same local arrays, kernels add to the gradient itself, which saves
// an array of the parameter's size.
// Conversions are collective, so all ranks decide alike whether one is needed.
#include "layer/core/parameter.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "layer/core/gradient_bucket.hpp"
#include "layer/core/held_bytes.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/log/log.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon {

namespace {

// A tensor in the memory of a bucket, which it holds: the user can hold the tensor for longer than
// the layer.
class TensorInBucket final : public DTensor {
public:
  TensorInBucket(const DTensor& like, std::shared_ptr<Buffer> memory, void* first)
      : DTensor(like.comm(), like.layout(), like.dataType(), like.space()),
        memory_(std::move(memory)) {
    placeBox(first, /*readOnly=*/false);
  }

private:
  std::shared_ptr<Buffer> memory_;
};

} // namespace

void initializeParameter(Parameter& parameter, const std::string& rule, std::uint64_t seed,
                         std::uint64_t stream) {
  DTensor& value = parameter.value();
  const Index fans =
      rule.starts_with("he") ? parameter.fanIn() : parameter.fanIn() + parameter.fanOut();
  // The parameters of a layer have streams of their own: equal shapes get different values.
  const std::uint64_t ownStream = stream ^ streamOf(parameter.name());
  if (fans == 0) {
    fillConstant(value, parameter.initial());
  } else {
    const double variance = 2.0 / static_cast<double>(fans);
    const double bound = std::sqrt(3 * variance);
    if (rule.ends_with("uniform"))
      fillUniform(value, seed, ownStream, -bound, bound);
    else
      fillNormal(value, seed, ownStream, 0, std::sqrt(variance));
  }
  parameter.valueChanged();
  parameter.setInitialized();
}

Parameter::Parameter(CommPtr comm, const ParameterForm& form, const Layout& storage,
                     TenonDataType type, Space space)
    : Object(kClass), comm_(std::move(comm)), fanIn_(form.fanIn), fanOut_(form.fanOut),
      initial_(form.initial), isSummed_(!haveSameMemory(storage.dual(), storage)),
      value_(makeRef<DTensor>(comm_, storage, type, space)),
      gradient_(makeRef<DTensor>(comm_, storage.dual(), type, space)),
      arriving_(makeRef<DTensor>(comm_, storage.dual(), type, space)),
      direction_(makeRef<DTensor>(comm_, storage, type, space)) {
  value_->setName(form.name);
  setName(form.name);
}

Parameter::~Parameter() {
  if (bucket_)
    bucket_->forget(*this);
}

void Parameter::prepareReduction() {
  if (isSummed_ && !toDirection_)
    toDirection_ = makeConversion(comm_, gradient_->layout(), storage(), dataType(),
                                  MovementPolicy::fromOptions(value_->space()));
}

Movement Parameter::ownReduction() const {
  return movementFor(*comm_, gradient_->layout(), storage(), dataType(),
                     MovementPolicy::fromOptions(value_->space()));
}

// Clears the gradient when the mode changes: an optimizer must not use an old gradient after a
// parameter was frozen and unfrozen.
void Parameter::setFrozen(bool frozen) {
  if (frozen != frozen_)
    zeroGradient();
  frozen_ = frozen;
}

DTensor& Parameter::gradient() {
  changeGradient();
  collect();
  return *gradient_;
}

Ref<DTensor> Parameter::exposeGradient() {
  gradientExposed_ = true;
  return Ref<DTensor>::share(&gradient());
}

void Parameter::collect() {
  if (frozen_)
    return;
  const LogScope scope(event_);
  for (ParameterUse* use : uses_) {
    if (!use->pending_)
      continue;
    use->pending_ = false;
    // applyAdjoint() overwrites its result, so it cannot add to gradient_ directly.
    if (use->toUse_) {
      use->toUse_->applyAdjoint(*use->contributions_, *arriving_);
      axpby(1, *arriving_, 1, *gradient_);
    } else {
      axpby(1, *use->contributions_, 1, *gradient_);
    }
    scaleArray(0, *use->contributions_);
  }
}

bool Parameter::isCollected() const noexcept {
  return std::ranges::none_of(uses_, [](const ParameterUse* use) { return use->pending_; });
}

// The reduced gradient. If the user has access to the gradient, an earlier result is not used
// (isReduced()): the user can have changed the gradient since.
const DTensor& Parameter::direction() {
  const LogScope scope(event_);
  if (!isReduced()) {
    collect();
    prepareReduction();
    if (isSummed_)
      toDirection_->apply(*gradient_, *direction_);
    setReduced(logTotalsOfOpenScope());
  }
  // The time of the last reduction, here or in a bucket, is reported once.
  if (logEnabled() && took_)
    for (PassObserver* observer : observers_)
      observer->reduced(*this, *took_);
  took_.reset();
  return isSummed_ ? *direction_ : *gradient_;
}

void Parameter::enterBucket(std::shared_ptr<GradientBucket> bucket, void* gradient,
                            void* direction) {
  const auto moved = makeRef<TensorInBucket>(*gradient_, bucket->memory(), gradient);
  // A gradient that was never written has no memory yet and counts as zero.
  if (gradient_->isPlaced() || gradient_->arrayBytes() > 0)
    copyLocal(*gradient_, *moved);
  direction_ = makeRef<TensorInBucket>(*direction_, bucket->memory(), direction);
  gradient_ = moved;
  bytesInBucket_ = 2 * moved->localElements() * dataTypeSize(dataType());
  if (bucket_)
    bucket_->forget(*this);
  bucket_ = std::move(bucket);
  toDirection_ = {};
  changeGradient();
}

void Parameter::reduceBucket() {
  if (bucket_ && !frozen_ && !gradientExposed_ && !reduced_)
    bucket_->reduce();
}

void Parameter::setReduced(const ScopeTotals& took) noexcept {
  reduced_ = true;
  took_ = took;
}

const Layout* Parameter::reducedAs() const {
  if (!bucket_)
    return &storage();
  return bucket_->reported() == this ? &bucket_->layout() : nullptr;
}

Ref<DTensor> Parameter::reducedGradient() {
  const DTensor& reduced = direction();
  if (&reduced != direction_.get())
    copyLocal(reduced, *direction_);
  return direction_;
}

void Parameter::zeroGradient() {
  changeGradient();
  // A gradient that was never written has no memory yet and counts as zero.
  if (gradient_->isPlaced() || gradient_->arrayBytes() > 0)
    scaleArray(0, *gradient_);
  for (ParameterUse* use : uses_) {
    if (use->pending_)
      scaleArray(0, *use->contributions_);
    use->pending_ = false;
  }
}

void Parameter::scaleGradient(double factor) {
  collect();
  scaleArray(factor, *gradient_);
  if (isSummed_ && reduced_)
    scaleArray(factor, *direction_);
}

DTensor& Parameter::tangent() {
  if (!tangent_)
    tangent_ = makeRef<DTensor>(comm_, storage(), dataType(), value_->space());
  return *tangent_;
}

Index Parameter::bytes() const {
  const bool isReported = bucket_ && bucket_->reported() == this;
  return heldBytes(value_, gradient_, arriving_, direction_, tangent_, toDirection_) +
         bytesInBucket_ + (isReported ? bucket_->bufferBytes() : 0);
}

ParameterUse::ParameterUse(Ref<Parameter> parameter, const Layout& use)
    : parameter_(std::move(parameter)) {
  Parameter& p = *parameter_;
  const Space space = p.value_->space();
  contributions_ = makeRef<DTensor>(p.comm_, use.dual(), p.dataType(), space);
  if (!haveSameMemory(p.storage(), use)) {
    toUse_ =
        makeConversion(p.comm_, p.storage(), use, p.dataType(), MovementPolicy::fromOptions(space));
    value_ = makeRef<DTensor>(p.comm_, use, p.dataType(), space);
    tangent_ = makeRef<DTensor>(p.comm_, use, p.dataType(), space);
  }
  p.uses_.push_back(this);
}

ParameterUse::~ParameterUse() {
  std::erase(parameter_->uses_, this);
}

Index ParameterUse::bytes() const {
  return heldBytes(contributions_, discarded_, toUse_) + (toUse_ ? heldBytes(value_, tangent_) : 0);
}

// Decides on all ranks alike, because the conversion is collective: valueChanged() is called on all
// ranks. A value that the user has access to can change without this call, and is always converted.
bool ParameterUse::isIdle(bool ofTangent) const {
  if (!toUse_)
    return true; // kernels read the storage itself
  if (begun_)
    return false; // end() must still complete the conversion
  return ofTangent ? constant_ || !parameter_->hasTangent()
                   : !parameter_->isExposed() && seen_ == parameter_->version();
}

void ParameterUse::begin() {
  if (isIdle(/*ofTangent=*/false))
    return;
  toUse_->start({.sense = Sense::Forward,
                 .alpha = 1,
                 .x = parameter_->value_.get(),
                 .beta = 0,
                 .y = value_.get()});
  begun_ = true;
}

void ParameterUse::end() {
  if (!std::exchange(begun_, false))
    return;
  toUse_->finish();
  seen_ = parameter_->version();
}

void ParameterUse::beginTangent() {
  if (isIdle(/*ofTangent=*/true))
    return;
  toUse_->start({.sense = Sense::Forward,
                 .alpha = 1,
                 .x = parameter_->tangent_.get(),
                 .beta = 0,
                 .y = tangent_.get()});
  begun_ = true;
}

void ParameterUse::endTangent() {
  if (std::exchange(begun_, false))
    toUse_->finish();
}

const DTensor& ParameterUse::value() const {
  if (toUse_)
    return *value_;
  if (parameter_->value_->isPlaced() && !parameter_->value_->isContiguous())
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("the array placed in parameter \"{}\" is strided; place a contiguous one",
                    parameter_->name()));
  return *parameter_->value_;
}

const DTensor* ParameterUse::tangent() const {
  if (constant_ || !parameter_->hasTangent())
    return nullptr;
  return toUse_ ? tangent_.get() : parameter_->tangent_.get();
}

// In a bucket the gradient begins at any element, to which the kernels of some libraries cannot
// write, and an array that the user has placed can have any strides.
bool ParameterUse::addsToGradient() const {
  const Parameter& p = *parameter_;
  return !toUse_ && !p.isInBucket() && !p.gradient_->isPlaced();
}

DTensor& ParameterUse::gradientContributions() {
  // Kernels add to the gradient in every adjoint. If the parameter is constant, as in a Jacobian
  // with respect to inputs, or frozen, they write to an array that is never read.
  if (isFrozen()) {
    if (!discarded_)
      discarded_ = makeRef<DTensor>(contributions_->comm(), contributions_->layout(),
                                    contributions_->dataType(), contributions_->space());
    scaleArray(0, *discarded_);
    return *discarded_;
  }
  if (addsToGradient())
    return *parameter_->gradient_;
  pending_ = true;
  return *contributions_;
}

} // namespace tenon
