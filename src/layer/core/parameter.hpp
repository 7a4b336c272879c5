// SPDX-License-Identifier: BSD-2-Clause
// A learnable tensor of a layer. It is kept in a storage layout, in which the optimizer steps, and
// used in the layout of the layer's signature. Gradients accumulate as contributions in the use
// layout's dual, are converted once to the storage layout's dual, and become a direction by the
// conversion from there to the storage layout.
#pragma once

#include "declaration/core/form.hpp"
#include "layer/core/pass_observer.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"
#include "sys/log/log.hpp"

namespace tenon {

class ParameterUse;

class Parameter : public Object {
public:
  static constexpr const char* kClass = "Parameter";
  Parameter(CommPtr comm, const ParameterForm& form, const Layout& storage, TenonDataType type,
            Space space);

  const Layout& storage() const noexcept { return value_->layout(); }
  TenonDataType dataType() const noexcept { return value_->dataType(); }
  Index fanIn() const noexcept { return fanIn_; }
  Index fanOut() const noexcept { return fanOut_; }
  // What all elements of a parameter without fans start with.
  double initial() const noexcept { return initial_; }

  // The value in the storage layout. Who writes it calls valueChanged() on all ranks.
  DTensor& value() noexcept { return *value_; }
  void valueChanged() noexcept { ++version_; }
  std::uint64_t version() const noexcept { return version_; }
  // Grows with every write to the value that goes through its tensor, announced or not.
  std::uint64_t state() const noexcept { return value_->state(); }
  // For handing the value to the user, who may write it at any time: from now on every use converts
  // it anew.
  Ref<DTensor> expose() noexcept {
    exposed_ = true;
    return value_;
  }
  bool isExposed() const noexcept { return exposed_; }

  // A frozen parameter gathers no gradient, and optimizers leave it alone. The same on all ranks;
  // a change clears the gradient.
  void setFrozen(bool frozen);
  bool isFrozen() const noexcept { return frozen_; }
  // The log's event of the conversions of its gradient: its layer's.
  void setEvent(int event) noexcept { event_ = event; }
  int event() const noexcept { return event_; }
  // Who is told what direction() takes.
  void setObservers(Observers observers) noexcept { observers_ = std::move(observers); }

  // Whether first values were given to it.
  bool isInitialized() const noexcept { return initialized_; }
  void setInitialized() noexcept { initialized_ = true; }

  // The gradient in the dual of the storage layout, with what all uses have accumulated.
  // Collective; who writes it does so on all ranks.
  DTensor& gradient();
  // For handing it to the user, who may write it at any time: from now on the parameter reduces it
  // for itself.
  Ref<DTensor> exposeGradient();
  // The gradient converted to the storage layout: what an optimizer steps along. Collective.
  const DTensor& direction();
  // The same in a tensor of the storage layout, whatever the gradient's. Collective.
  Ref<DTensor> reducedGradient();
  void zeroGradient();

  // A bucket reduces the gradients of several parameters in one conversion. Theirs, and their
  // directions, then lie in its memory, and the parameter has no reduction of its own until
  // direction() needs it. What travels is said of the parameter that is the last to be ready.
  struct InBucket {
    std::shared_ptr<void> memory;
    void *gradient = nullptr, *direction = nullptr;
    std::optional<Layout> carried = {}; // of the last one
  };
  void setBucket(InBucket bucket);
  void leaveBucket() noexcept { bucket_.reset(); }
  bool isInBucket() const noexcept { return bucket_.has_value(); }
  // The contributions of all uses are in the gradient.
  void collect();
  // The direction is that of the gradient as it is now; what this took.
  void setReduced(const OpenScope& took) noexcept;
  // It is not any more, on all ranks.
  void changeGradient() noexcept { reduced_ = false; }
  // What is reduced for the gradient: none where another parameter carries it.
  const Layout* reducedAs() const;

  // Whether its gradient is summed over processes: else its layout and the storage hold the same
  // memory.
  bool isSummed() const noexcept { return isSummed_; }
  // Its own reduction, from the gradient's layout to the storage; null where there is none now. One
  // that is not prepared is made when it is first needed. Collective.
  void prepareReduction();
  const LinearOp* toDirection() const noexcept { return toDirection_.get(); }
  // Memory of value, gradient, direction and tangent, allocated now.
  Index bytes() const;

  // The direction of a tangent, in the storage layout; zero until somebody writes it.
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
  std::uint64_t version_ = 0;
  bool exposed_ = false, frozen_ = false, initialized_ = false;
  bool gradientExposed_ = false, reduced_ = false;
  bool isSummed_;
  std::optional<InBucket> bucket_;
  std::shared_ptr<void> bucketMemory_; // which outlives it
  OpenScope bucketTook_;
  Ref<DTensor> value_, gradient_, arriving_, direction_, tangent_;
  LinearOpRef toDirection_; // null where nothing is summed, or a bucket does it
  std::vector<ParameterUse*> uses_;
};

// A parameter as one set-up of a layer uses it. Its value is converted if it may have changed
// since.
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

  // In the use layout.
  const DTensor& value() const;
  // The tangent's direction in the use layout, or null if the parameter has none.
  const DTensor* tangent() const;
  // Where the local kernel adds its contributions, in the use layout's dual.
  DTensor& gradientContributions();
  bool isFrozen() const noexcept { return constant_ || parameter_->isFrozen(); }
  // As a constant it has no tangent, and what kernels add to its gradient is thrown away.
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
  Ref<Parameter> parameter_;
  LinearOpRef toUse_; // null where both layouts hold the same memory
  Ref<DTensor> value_, tangent_, contributions_, discarded_;
  std::uint64_t seen_ = ~std::uint64_t(0);
  bool begun_ = false;   // the conversion is under way
  bool pending_ = false; // contributions wait to be collected
  bool constant_ = false;
};

// First values of parameters. Weights are drawn by global position from the global fans, so they do
// not depend on the partition:
//   glorot  variance 2 / (fanIn + fanOut)   (Glorot & Bengio 2010)
//   he      variance 2 / fanIn              (He et al. 2015)
// uniform in +-sqrt(3 variance), or normal. Parameters without fans start with one value:
// biases with zero.

void initializeParameter(Parameter& parameter, const std::string& rule, std::uint64_t seed,
                         std::uint64_t stream);

} // namespace tenon
