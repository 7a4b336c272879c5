// SPDX-License-Identifier: BSD-2-Clause
// A learnable tensor of a layer (Parameter), and its copy in each set-up that reads it
// (ParameterUse). Optimizers read and update the value in a storage layout, for instance split over
// all ranks. Kernels read it in a use layout, for instance replicated. The dual of a layout is the
// layout of gradients: where ranks hold copies of a value, they hold contributions to its gradient,
// to be added. One training step:
//
//   ParameterUse::begin(), end()   value: storage layout -> use layout, before the kernels read it
//   kernel adjoints                add contributions to the gradient, in the dual of the use layout
//   Parameter::collect()           contributions -> dual of the storage layout: gradient()
//   Parameter::direction()         gradient -> storage layout (a reduction), for the optimizer;
//                                  done already if the parameter is in a bucket that was reduced
#pragma once

#include "declaration/core/form.hpp"
#include "layer/core/pass_observer.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"
#include "sys/log/log.hpp"

namespace tenon {

class GradientBucket;
class ParameterUse;
struct Movement;

class Parameter : public Object {
public:
  static constexpr const char* kClass = "Parameter";
  Parameter(CommPtr comm, const ParameterForm& form, const Layout& storage, TenonDataType type,
            Space space);
  ~Parameter() override;

  const Layout& storage() const noexcept { return value_->layout(); }
  TenonDataType dataType() const noexcept { return value_->dataType(); }
  Index fanIn() const noexcept { return fanIn_; }
  Index fanOut() const noexcept { return fanOut_; }
  // The initial value of all elements of a parameter whose fanIn() and fanOut() are 0, such as a
  // bias.
  double initial() const noexcept { return initial_; }

  // The value in the storage layout. After a write, call valueChanged() on all ranks.
  DTensor& value() noexcept { return *value_; }
  void valueChanged() noexcept { ++version_; }
  // The number of calls of valueChanged(), equal on all ranks. ParameterUse converts the value
  // again when it has changed.
  std::uint64_t version() const noexcept { return version_; }
  // A counter that grows with every write to the value's tensor on this rank, also without a call
  // of valueChanged(). A set-up compares it to refuse an adjoint for which the value has changed
  // since the Apply.
  std::uint64_t state() const noexcept { return value_->state(); }
  // Gives the user access to the value. Because the user can change it at any time, each later
  // Apply converts it to the use layout again.
  Ref<DTensor> expose() noexcept {
    exposed_ = true;
    return value_;
  }
  bool isExposed() const noexcept { return exposed_; }

  // A frozen parameter accumulates no gradient and is not updated by optimizers. Must be equal on
  // all ranks. A change clears the gradient.
  void setFrozen(bool frozen);
  bool isFrozen() const noexcept { return frozen_; }
  // The log event of the layer, to which the conversions of the gradient are added.
  void setEvent(int event) noexcept { event_ = event; }
  int event() const noexcept { return event_; }
  // Observers that receive the time of direction().
  void setObservers(Observers observers) noexcept { observers_ = std::move(observers); }

  // Whether the parameter has initial values.
  bool isInitialized() const noexcept { return initialized_; }
  void setInitialized() noexcept { initialized_ = true; }

  // The gradient in the dual of the storage layout, with the contributions of all uses. Collective;
  // a write must be done on all ranks.
  DTensor& gradient();
  // What this rank has collected so far, to read only. Not collective.
  const DTensor& collectedGradient() const noexcept { return *gradient_; }
  // Gives the user access to the gradient. Because the user can change it at any time, the
  // parameter from now on reduces it separately, not in a bucket.
  Ref<DTensor> exposeGradient();
  // The gradient converted to the storage layout: the update direction of an optimizer. If nothing
  // is summed (isSummed()), it is the gradient's own tensor. Collective.
  const DTensor& direction();
  // The same values as direction(), but never in the tensor of the gradient itself. Collective.
  Ref<DTensor> reducedGradient();
  void zeroGradient();
  // Multiplies the gradient by a factor; a direction that is up to date remains so. Collective.
  void scaleGradient(double factor);

  // A bucket reduces the gradients of several parameters in one conversion (gradient_bucket.hpp).
  // This parameter then stores its gradient and direction at these addresses in the bucket's
  // memory, and has a reduction of its own only if direction() needs it. The user must not have
  // access to the gradient.
  void enterBucket(std::shared_ptr<GradientBucket> bucket, void* gradient, void* direction);
  void leaveBucket() noexcept { bucket_.reset(); }
  const std::shared_ptr<GradientBucket>& bucket() const noexcept { return bucket_; }
  bool isInBucket() const noexcept { return bucket_ != nullptr; }
  // Reduces the gradients of the bucket if there is one, and this gradient has changed since the
  // last reduction. Collective.
  void reduceBucket();
  // Adds the pending contributions of all uses to the gradient. Collective.
  void collect();
  bool isCollected() const noexcept;
  // Marks the direction as up to date with the gradient; `took` is the time of the reduction.
  void setReduced(const ScopeTotals& took) noexcept;
  // Marks the direction as out of date. Must be called on all ranks.
  void changeGradient() noexcept {
    reduced_ = false;
    ++gradientChanges_;
  }
  // How often the gradient has changed, equal on all ranks.
  std::uint64_t gradientChanges() const noexcept { return gradientChanges_; }
  // Whether the direction is up to date. Never if the user has access to the gradient, who can
  // change it at any time.
  bool isReduced() const noexcept { return reduced_ && !gradientExposed_; }
  bool isGradientExposed() const noexcept { return gradientExposed_; }
  // For the log: the layout that the reduction of this gradient communicates. In a bucket, one
  // member returns the layout of the whole bucket and all others return null, so the one reduction
  // is counted once.
  const Layout* reducedAs() const;

  // Whether the gradient is summed over processes; if not, gradient and storage have the same local
  // arrays.
  bool isSummed() const noexcept { return isSummed_; }
  // Creates the conversion that reduces this parameter's gradient separately, from the gradient's
  // layout to the storage layout; without this call, its first use creates it. toDirection()
  // returns the conversion, or null if there is none. Collective.
  void prepareReduction();
  void dropReduction() noexcept { toDirection_ = {}; }
  const LinearOp* toDirection() const noexcept { return toDirection_.get(); }
  // How that reduction is carried out, whether or not it exists. Not collective.
  Movement ownReduction() const;
  // Bytes allocated now for value, gradient, direction and tangent, also in the memory of a bucket,
  // whose buffers are counted for one of its members.
  Index bytes() const;

  // The tangent (direction of differentiation) in the storage layout; zero until it is written.
  DTensor& tangent();
  bool hasTangent() const noexcept { return tangent_.get() != nullptr; }
  void clearTangent() noexcept { tangent_ = {}; }

private:
  friend class ParameterUse;
  CommPtr comm_;
  Index fanIn_, fanOut_;
  double initial_;
  int event_ = -1;
  Observers observers_;
  std::uint64_t version_ = 0, gradientChanges_ = 0;
  bool exposed_ = false, frozen_ = false, initialized_ = false;
  bool gradientExposed_ = false, reduced_ = false; // reduced_: direction_ is up to date
  bool isSummed_;
  std::shared_ptr<GradientBucket> bucket_;
  Index bytesInBucket_ = 0; // of gradient and direction in the memory of a bucket, now or earlier
  std::optional<ScopeTotals> took_; // by the last reduction, until it is reported to the observers
  Ref<DTensor> value_, gradient_, arriving_, direction_, tangent_; // arriving_: for collect()
  LinearOpRef toDirection_; // null if nothing is summed, or a bucket does it
  std::vector<ParameterUse*> uses_;
};

// A parameter in one set-up of a layer: its value in the use layout, and the contributions to its
// gradient. The value is converted again only if it can have changed.
class ParameterUse final : public Source {
public:
  ParameterUse(Ref<Parameter> parameter, const Layout& use);
  ~ParameterUse() override;
  ParameterUse(const ParameterUse&) = delete;
  ParameterUse& operator=(const ParameterUse&) = delete;

  void begin() override;
  void end() override;
  void beginTangent() override;
  void endTangent() override;
  bool isIdle(bool ofTangent) const override;

  // The value in the use layout.
  const DTensor& value() const;
  // The tangent in the use layout, or null if the parameter has none.
  const DTensor* tangent() const;
  // The array to which the local kernel adds: the gradient itself, or one in the dual of the use
  // layout, which collect() adds to the gradient.
  DTensor& gradientContributions();
  bool isFrozen() const noexcept { return constant_ || parameter_->isFrozen(); }
  // If constant, the parameter has no tangent here, and contributions to its gradient are
  // discarded.
  void setConstant(bool constant) noexcept { constant_ = constant; }
  void changeGradient() noexcept {
    if (!constant_)
      parameter_->changeGradient();
  }
  Layout layout() const { return contributions_->layout().dual(); }
  const Parameter& parameter() const noexcept { return *parameter_; }
  const LinearOp* conversion() const noexcept { return toUse_.get(); }
  Index bytes() const;

private:
  friend class Parameter;
  bool addsToGradient() const;
  Ref<Parameter> parameter_;
  LinearOpRef toUse_; // null if both layouts have the same local arrays
  Ref<DTensor> value_, tangent_, contributions_, discarded_;
  std::uint64_t seen_ = ~std::uint64_t(0); // version of the parameter in value_
  bool begun_ = false;                     // the conversion has begun and not ended
  bool pending_ = false;                   // contributions are not collected yet
  bool constant_ = false;
};

// Initializes a parameter by a rule (setting "initializer"). The random number of an element
// depends only on its global index, and the variance on the fans of the whole tensor, so the values
// do not depend on the partition:
//   glorot  variance 2 / (fanIn + fanOut)   (Glorot & Bengio 2010)
//   he      variance 2 / fanIn              (He et al. 2015)
// The distribution is uniform in +-sqrt(3 variance), or normal. A parameter without fans, such as a
// bias, has the value initial() everywhere.
void initializeParameter(Parameter& parameter, const std::string& rule, std::uint64_t seed,
                         std::uint64_t stream);

} // namespace tenon
