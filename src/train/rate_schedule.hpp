// SPDX-License-Identifier: BSD-2-Clause
// How the learning rate changes from step to step, and what is made of the losses that a run
// reports: when to reduce the rate, and when to stop. With s steps done and w steps of warm-up, n =
// max(0, s - w):
//
//   factor  min(1, (s + 1) / w) times
//     constant  1
//     step      gamma^floor(n / period)
//     cosine    least + (1 - least) (1 + cos(pi min(n / period, 1))) / 2
//     plateau   max(least, gamma^k), k the reductions so far: one each time that more than `patience`
//               reports in a row have not improved on the best by the fraction `improvement` of it
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
  // The settings that an optimizer has for its schedule, by whose names take() finds the values.
  static std::span<const OptionSpec> options() noexcept;
  void take(const Settings& settings);
  // Throws TENON_ERR_STATE if the schedule needs a period and none is set: a period can be set after
  // the schedule.
  void check() const;

  // Of a rate that check() accepts.
  double factor(Index stepsDone) const;
  // Returns whether the run should stop.
  bool report(double loss);
  // What the reports have left, where the settings look at them.
  void visitState(const std::string& path, StateVisitor& visitor);

private:
  enum class Kind { Constant, Step, Cosine, Plateau };
  bool watches() const { return kind_ == Kind::Plateau || stopPatience_ > 0; }

  Kind kind_ = Kind::Constant;
  Index period_ = 0; // of Step and Cosine, in steps; 0: not set
  double factor_ = 0.1, least_ = 0;
  Index warmup_ = 0, patience_ = 10;
  Index stopPatience_ = 0; // reports without improvement after which to stop; 0: never
  double improvement_ = 1e-4;

  double best_ = std::numeric_limits<double>::infinity();
  std::uint64_t waiting_ = 0, sinceReduction_ = 0, reductions_ = 0; // in reports
};

} // namespace tenon
