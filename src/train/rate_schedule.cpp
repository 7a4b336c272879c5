// SPDX-License-Identifier: BSD-2-Clause
// Factors of the learning rate by steps, and what reports of losses do to it. Reports must be equal
// on all ranks: each rank keeps its own count of them, without communication.
#include "train/rate_schedule.hpp"

#include "layer/networks/state.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace tenon {

namespace {

const std::vector<std::string> kKinds = {"constant", "step", "cosine", "plateau"};

void require(bool holds, const char* what, double value, const char* range) {
  if (!holds)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} of the schedule is {}; it must be {}", what, value, range));
}

} // namespace

RateSchedule::Kind RateSchedule::parseKind(const std::string& name) {
  const auto found = std::find(kKinds.begin(), kKinds.end(), name);
  if (found == kKinds.end())
    throw Error(TENON_ERR_ARG,
                fmt::format("unknown schedule \"{}\"; expected one of {}", name, joined(kKinds)));
  return static_cast<Kind>(found - kKinds.begin());
}

void RateSchedule::set(const Settings& s) {
  const bool isPeriodic = s.kind == Kind::Step || s.kind == Kind::Cosine;
  require(s.period >= (isPeriodic ? 1 : 0), "the period", static_cast<double>(s.period),
          isPeriodic ? "at least 1 step" : "at least 0");
  require(s.factor > 0 && s.factor <= 1, "the factor", s.factor, "in (0,1]");
  require(s.least >= 0 && s.least <= 1, "the least fraction", s.least, "in [0,1]");
  require(s.warmup >= 0, "the warm-up", static_cast<double>(s.warmup), "at least 0 steps");
  require(s.patience >= 0, "the patience", static_cast<double>(s.patience), "at least 0 reports");
  require(s.stopPatience >= 0, "the patience before a stop", static_cast<double>(s.stopPatience),
          "at least 0 reports");
  require(s.improvement >= 0 && s.improvement < 1, "the improvement", s.improvement, "in [0,1)");
  settings_ = s;
}

double RateSchedule::factor(Index stepsDone) const {
  const Settings& s = settings_;
  const auto done = static_cast<double>(stepsDone);
  const double warm = stepsDone < s.warmup ? (done + 1) / static_cast<double>(s.warmup) : 1;
  const Index n = std::max<Index>(0, stepsDone - s.warmup);
  switch (s.kind) {
  case Kind::Step: {
    const Index periods = n / s.period;
    return warm * std::pow(s.factor, static_cast<double>(periods));
  }
  case Kind::Cosine: {
    const double part = std::min(1.0, static_cast<double>(n) / static_cast<double>(s.period));
    return warm * (s.least + (1 - s.least) * (1 + std::cos(std::numbers::pi * part)) / 2);
  }
  case Kind::Plateau:
    return warm * std::max(s.least, std::pow(s.factor, static_cast<double>(reductions_)));
  default:
    return warm;
  }
}

bool RateSchedule::report(double loss) {
  const bool isBetter =
      // The first report is compared with infinity, of which no fraction can be taken.
      std::isinf(best_) ? loss < best_ : loss < best_ - settings_.improvement * std::abs(best_);
  if (isBetter) {
    best_ = loss;
    waiting_ = sinceReduction_ = 0;
  } else {
    ++waiting_;
    if (++sinceReduction_ > static_cast<std::uint64_t>(settings_.patience)) {
      ++reductions_;
      sinceReduction_ = 0;
    }
  }
  return settings_.stopPatience > 0 &&
         waiting_ >= static_cast<std::uint64_t>(settings_.stopPatience);
}

void RateSchedule::visitState(const std::string& path, StateVisitor& visitor) {
  if (!watches())
    return;
  visitor.real(path + "/best", best_);
  visitor.number(path + "/waiting", waiting_);
  visitor.number(path + "/since_reduction", sinceReduction_);
  visitor.number(path + "/reductions", reductions_);
}

} // namespace tenon
