// SPDX-License-Identifier: BSD-2-Clause
// The factor of an optimizer's learning rate as a function of the step, and decisions based on the
// losses that the program reports: when to reduce the rate, and when to stop. With s completed
// steps and w warm-up steps, n = max(0, s - w), the factor is min(1, (s + 1) / w) times
//
//     constant  1
//     step      gamma^floor(n / period)
//     cosine    least + (1 - least) (1 + cos(pi min(n / period, 1))) / 2
//     plateau   max(least, gamma^k) after k reductions, one each time that more than `patience`
//               consecutive reports were not better than the best loss by the fraction
//               `improvement` of it
//
// gamma is the setting schedule_factor, `least` is least_rate. Example: step with gamma = 0.1 and
// period 100 has the factors 1 in steps 0 to 99, 0.1 in steps 100 to 199, 0.01 after these.
#pragma once

#include "sys/options/settings.hpp"
#include "sys/types.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace tenon {

class StateVisitor;

class RateSchedule {
public:
  // The settings of a schedule, which an optimizer includes; update() reads them by these names.
  static std::span<const OptionSpec> options() noexcept;
  void update(const Settings& settings);
  // Throws TENON_ERR_STATE if the schedule needs a period and none is set. (A period can be set
  // after the schedule, so setting it is not checked.)
  void check() const;

  // Returns the factor of the learning rate; requires settings that check() accepts.
  double factor(Index stepsDone) const;
  // Records a loss. Returns whether the run should stop.
  bool report(double loss);
  // Visits the state that results from reports, if the settings use reports.
  void visitState(const std::string& path, StateVisitor& visitor);

private:
  enum class Kind { Constant, Step, Cosine, Plateau };
  // Whether reported losses have an effect.
  bool watches() const { return kind_ == Kind::Plateau || stopPatience_ > 0; }

  Kind kind_ = Kind::Constant;
  Index period_ = 0; // for Step and Cosine, in steps; 0: not set
  double factor_ = 0.1, least_ = 0;
  Index warmup_ = 0, patience_ = 10;
  Index stopPatience_ = 0; // number of reports without improvement after which to stop; 0: never
  double improvement_ = 1e-4;

  double best_ = std::numeric_limits<double>::infinity(); // lowest reported loss
  // Reports without improvement: since the best loss, and since the last reduction or improvement.
  std::uint64_t waiting_ = 0, sinceReduction_ = 0;
  std::uint64_t reductions_ = 0; // of the rate
};

} // namespace tenon
