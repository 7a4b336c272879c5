// SPDX-License-Identifier: BSD-2-Clause
// Optimizers update the parameters of a layer from their gradients. Each rank updates its own block
// of a parameter, in the layout in which the parameter is stored; the optimizer's state has the
// same layout. If parameters are stored split and used replicated, this is a sharded optimizer: the
// conversion of gradients is a reduce-scatter, and that of parameters an all-gather.
//
//   the user runs Apply and adjoint; clipGradientNorm() (optional); step(), which clears gradients
//   or stepWith(closure), whose closure runs Apply and adjoint and returns the loss
//
// The gradients of parameters with copies on the same ranks are reduced together, in buckets that
// the first step makes, or a plan has made (layer/core/gradient_bucket.hpp).
#pragma once

#include "layer/networks/state.hpp"
#include "sys/options/settable_object.hpp"
#include "train/rate_schedule.hpp"

#include <functional>

namespace tenon {

// Settings that all types have, with a default per type.
constexpr OptionSpec learningRateOption(const char* byDefault) {
  return {"learning_rate", OptionSpec::Real, byDefault, "learning rate", nullptr, above(0)};
}
constexpr OptionSpec weightDecayOption(const char* byDefault) {
  return {
      "weight_decay", OptionSpec::Real,
      byDefault,      "weight decay: multiple of the parameters that is added to their gradients",
      nullptr,        atLeast(0)};
}

// A derived class implements stepParameter(), and lists its state in slots().
class Optimizer : public SettableObject {
public:
  static constexpr const char* kClass = "Optimizer";

  std::string_view type() const noexcept override = 0;
  const CommPtr& comm() const noexcept { return layer_->comm(); }
  // The settings of the type, of the schedule and of all optimizers; can change between two steps.
  const Settings& settings() const noexcept override { return settings_; }
  void setFromOptions() override;
  double weightDecay() const noexcept { return weightDecay_; }
  Index steps() const noexcept { return static_cast<Index>(steps_); }
  // Returns the rate of the next step: the learning rate times the schedule's factor.
  double currentRate() const {
    schedule_.check();
    return learningRate_ * schedule_.factor(steps());
  }
  RateSchedule& schedule() noexcept { return schedule_; }

  // Collective on comm. Converts the gradients, updates every parameter that is not frozen, and
  // clears the gradients.
  void step();
  // Collective on comm. Calls the closure, which runs the layer and its adjoint and returns the
  // loss, then takes a step with the gradients. The loss of rank 0 counts. Some types (lbfgs) call
  // the closure several times, with different parameters each time. The closure must not take a
  // step itself: TENON_ERR_STATE. Returns the loss of the first call.
  using Closure = std::function<double()>;
  double stepWith(const Closure& closure);
  // Collective on comm. Returns the norm of the gradients of all parameters that are not frozen,
  // taken together. If it is finite and above `maximum`, all gradients are scaled by maximum /
  // norm.
  double clipGradientNorm(double maximum);

  // Visits the number of steps, "PATH/steps", and the type's tensors, "PATH/mean/conv1/weight".
  void visitState(const std::string& path, StateVisitor& visitor);

protected:
  // `tables` are the settings of the type, including learning_rate and weight_decay with their
  // defaults. The constructor of the type must call applySettings() at its end.
  using OptionTables = std::vector<std::span<const OptionSpec>>;
  Optimizer(Ref<Layer> layer, OptionTables tables);
  // A type reads its own settings, then calls this for the common ones.
  void applySettings(Settings after, const Settings::Names& names) override;
  // Updates one parameter, whose index is `number`.
  virtual void stepParameter(std::size_t number, const DTensor& direction, DTensor& value) = 0;
  const std::vector<Ref<Parameter>>& parameters() const noexcept { return parameters_; }
  const Layer& layer() const noexcept { return *layer_; }
  // One state tensor per parameter, initially zero.
  using StateTensors = std::vector<Ref<DTensor>>;
  StateTensors makeState() const;
  // State tensors of the type for each parameter, such as "mean" and "square" of Adam.
  struct Slot {
    const char* name;
    const StateTensors* tensors;
  };
  virtual std::vector<Slot> slots() const = 0;
  virtual void visitNumbers(const std::string&, StateVisitor&) {}
  // Takes a step with the current gradients; `loss` is passed if it is known.
  virtual void update(std::optional<double> loss);
  virtual double updateWith(const Closure& closure);
  // Reduces the gradients that have changed, those of a bucket together. Then direction() of their
  // parameters sends nothing. Collective on comm.
  void reduceGradients();
  // Directions by parameter; null for a frozen one.
  using Directions = std::vector<const DTensor*>;
  // A norm that is finite if all directions are. Collective on comm.
  double normOfCopies(const Directions& directions) const;
  // Whether the directions, of this norm, and the loss are finite, so a step can be taken. If not,
  // returns false after a warning, or throws the same error on all ranks, as the setting not_finite
  // says. Collective on comm.
  bool isFinite(double norm, std::optional<double> loss);
  // Clears the gradients and counts the step.
  void endStep();

private:
  void checkIdle() const;
  void prepareReductions();
  std::uint64_t gradientChanges() const;
  bool isAsClipped() const;
  std::string placeOfNotFinite() const;

  Ref<Layer> layer_;
  std::vector<Ref<Parameter>> parameters_;
  Settings settings_;
  double learningRate_ = 0, weightDecay_ = 0; // values of the settings
  std::uint64_t steps_ = 0;
  RateSchedule schedule_;
  // Parameters without a reduction, because they have been frozen in all steps.
  std::vector<Ref<Parameter>> unprepared_;
  Index bucketBytes_ = 0;
  std::optional<double> clippedNorm_; // of this step's gradients, by clipGradientNorm()
  std::uint64_t clippedChanges_ = 0;  // gradientChanges() then
  Directions directions_;             // a member only to reuse its memory: a step allocates nothing
  // Whether a loss or gradients that are not finite are an error, which leaves everything
  // unchanged, or a warning, after which the step is counted but skipped.
  bool isNotFiniteError_ = true;
  bool warned_ = false; // warned since the last finite step
  bool atWork_ = false;
};

// Creates an optimizer of type "sgd", "adam", "adamw" or "lbfgs" for a layer that is set up. Throws
// TENON_ERR_TYPE, listing the known types, for another type.
Ref<Optimizer> makeOptimizer(const std::string& type, Ref<Layer> layer);

} // namespace tenon
