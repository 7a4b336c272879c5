// SPDX-License-Identifier: BSD-2-Clause
// Optimizers step the parameters of a layer along their gradients, each rank in its part of the
// storage layout; the state lies there too. With parameters stored split and used whole this is the
// sharded optimizer: the conversions are the reduce-scatter and the all-gather.
#pragma once

#include "layer/networks/state.hpp"
#include "sys/options/settable_object.hpp"
#include "train/rate_schedule.hpp"

#include <functional>

namespace tenon {

// The settings that all types have, but with defaults of their own.
constexpr OptionSpec learningRateOption(const char* byDefault) {
  return {"learning_rate", OptionSpec::Real, byDefault, "learning rate", nullptr, above(0)};
}
constexpr OptionSpec weightDecayOption(const char* byDefault) {
  return {
      "weight_decay", OptionSpec::Real,
      byDefault,      "weight decay: multiple of the parameters that is added to their gradients",
      nullptr,        atLeast(0)};
}

class Optimizer : public SettableObject {
public:
  static constexpr const char* kClass = "Optimizer";

  std::string_view type() const noexcept override = 0;
  const CommPtr& comm() const noexcept { return layer_->comm(); }
  // The settings of the type, of the schedule and of all optimizers, which may change between any
  // two steps.
  const Settings& settings() const noexcept override { return settings_; }
  void setFromOptions() override;
  double weightDecay() const noexcept { return weightDecay_; }
  Index steps() const noexcept { return static_cast<Index>(steps_); }
  // What the next step uses: the learning rate times the schedule's factor.
  double currentRate() const {
    schedule_.check();
    return learningRate_ * schedule_.factor(steps());
  }
  RateSchedule& schedule() noexcept { return schedule_; }

  // Converts the gradients, steps every parameter that is not frozen and clears the gradients.
  // Collective.
  void step();
  // The same with the gradients that the closure accumulates beside the loss that it returns, of
  // which rank 0's counts. It is called once, by some types more often, with other parameters each
  // time. Returns the loss of the first call. Collective. The closure takes no steps:
  // TENON_ERR_STATE.
  using Closure = std::function<double()>;
  double stepWith(const Closure& closure);
  // The norm of the gradients of all parameters that are not frozen, taken together. Where it is
  // finite and above `maximum` all are scaled by maximum / norm. Collective.
  double clipGradientNorm(double maximum);

  // The number of steps, "PATH/steps", and the tensors of the type, "PATH/mean/conv1/weight".
  void visitState(const std::string& path, StateVisitor& visitor);

protected:
  // The tables of the type's settings, among them learning_rate and weight_decay with the type's
  // defaults. The type's constructor ends with a first takeOver().
  using OptionTables = std::vector<std::span<const OptionSpec>>;
  Optimizer(Ref<Layer> layer, OptionTables tables);
  // A type takes over its own settings before those of all types.
  void takeOver(Settings after, const Settings::Names& names) override;
  // Steps one parameter; `number` counts the parameters.
  virtual void stepParameter(std::size_t number, const DTensor& direction, DTensor& value) = 0;
  const std::vector<Ref<Parameter>>& parameters() const noexcept { return parameters_; }
  const Layer& layer() const noexcept { return *layer_; }
  // A state tensor like each parameter, zero at first.
  using StateTensors = std::vector<Ref<DTensor>>;
  StateTensors makeState() const;
  // What the type keeps for each parameter: "mean" and "square" of Adam.
  struct Slot {
    const char* name;
    const StateTensors* tensors;
  };
  virtual std::vector<Slot> slots() const = 0;
  virtual void visitNumbers(const std::string&, StateVisitor&) {}
  // A step with the gradients as they are; the loss where it is known.
  virtual void update(std::optional<double> loss);
  virtual double updateWith(const Closure& closure);
  // The directions of parameters, null for one that is frozen.
  using Directions = std::vector<const DTensor*>;
  // Whether a step can be taken along them: not where they or the loss are not finite and a warning
  // is enough. Throws the same error on all ranks where it is not. Collective.
  bool isFinite(const Directions& directions, std::optional<double> loss);
  // Clears the gradients and counts a step.
  void endStep();

private:
  void checkIdle() const;
  std::string placeOfNotFinite() const;

  Ref<Layer> layer_;
  std::vector<Ref<Parameter>> parameters_;
  Settings settings_;
  double learningRate_ = 0, weightDecay_ = 0; // as they are set
  std::uint64_t steps_ = 0;
  RateSchedule schedule_;
  Directions directions_; // kept for its memory: a step allocates nothing
  // Whether a loss or gradients that are not finite are an error, before which nothing is changed, or
  // a warning, after which the step is counted but left out.
  bool isNotFiniteError_ = true;
  bool warned_ = false; // and no finite step since
  bool atWork_ = false;
};

// A new optimizer of the type "sgd", "adam", "adamw" or "lbfgs" for a layer that is set up. Throws
// TENON_ERR_TYPE naming the known ones.
Ref<Optimizer> makeOptimizer(const std::string& type, Ref<Layer> layer);

} // namespace tenon
