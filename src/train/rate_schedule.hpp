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

#include "sys/types.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace tenon {

class StateVisitor;

class RateSchedule {
public:
  enum class Kind { Constant, Step, Cosine, Plateau };
  struct Settings {
    Kind kind = Kind::Constant;
    Index period = 0; // of Step and Cosine, in steps
    double factor = 0.1, least = 0;
    Index warmup = 0;
    Index patience = 10;
    Index stopPatience = 0; // reports without improvement after which to stop; 0: never
    double improvement = 1e-4;
  };

  // Throws TENON_ERR_ARG unless the settings are in range and fit each other.
  void set(const Settings& settings);
  const Settings& settings() const noexcept { return settings_; }
  static Kind parseKind(const std::string& name);

  double factor(Index stepsDone) const;
  // Returns whether the run should stop.
  bool report(double loss);
  // What the reports have left, where the settings look at them.
  void visitState(const std::string& path, StateVisitor& visitor);

private:
  bool watches() const { return settings_.kind == Kind::Plateau || settings_.stopPatience > 0; }

  Settings settings_;
  double best_ = std::numeric_limits<double>::infinity();
  std::uint64_t waiting_ = 0, sinceReduction_ = 0, reductions_ = 0; // in reports
};

} // namespace tenon
