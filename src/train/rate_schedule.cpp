// SPDX-License-Identifier: BSD-2-Clause
// Factors of the learning rate, and their dependence on reported losses (formulas in
// rate_schedule.hpp). An optimizer multiplies its learning rate by factor() in each step; the
// program calls report(), through the optimizer, with a loss, for instance after each epoch.
// Reports must be equal on all ranks: each rank counts them independently, without communication.
#include "train/rate_schedule.hpp"

#include "layer/networks/state.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace tenon {

namespace {

// In the order of RateSchedule::Kind.
const std::vector<std::string> kKinds = {"constant", "step", "cosine", "plateau"};

constexpr OptionSpec kOptions[] = {
    {"schedule", OptionSpec::Choice, "constant", "how the learning rate changes from step to step",
     "constant|step|cosine|plateau"},
    {"schedule_period", OptionSpec::Int, nullptr,
     "steps between reductions of the schedule step, and until the end of cosine", nullptr,
     atLeast(1)},
    {"schedule_factor",
     OptionSpec::Real,
     "0.1",
     "factor of the learning rate at each reduction of the schedules step and plateau",
     nullptr,
     {.least = 0, .most = 1, .isOpenBelow = true}},
    {"least_rate",
     OptionSpec::Real,
     "0",
     "fraction of the learning rate at which the schedules cosine and plateau end",
     nullptr,
     {.least = 0, .most = 1}},
    {"warmup", OptionSpec::Int, "0", "steps in which the learning rate rises to its value", nullptr,
     atLeast(0)},
    {"patience", OptionSpec::Int, "10",
     "reports without improvement before the schedule plateau reduces the learning rate", nullptr,
     atLeast(0)},
    {"stop_patience", OptionSpec::Int, "0",
     "reports without improvement after which training should stop; 0: never", nullptr, atLeast(0)},
    {"improvement",
     OptionSpec::Real,
     "1e-4",
     "fraction of the best loss by which a report must be lower to count as an improvement",
     nullptr,
     {.least = 0, .most = 1, .isOpenAbove = true}},
};

} // namespace

std::span<const OptionSpec> RateSchedule::options() noexcept {
  return kOptions;
}

// The settings are of known types, because options() declares them.
void RateSchedule::update(const Settings& settings) {
  const auto kind = *settings.find<std::string>("schedule");
  kind_ = static_cast<Kind>(std::find(kKinds.begin(), kKinds.end(), kind) - kKinds.begin());
  period_ = settings.find<Index>("schedule_period").value_or(0);
  factor_ = *settings.find<double>("schedule_factor");
  least_ = *settings.find<double>("least_rate");
  warmup_ = *settings.find<Index>("warmup");
  patience_ = *settings.find<Index>("patience");
  stopPatience_ = *settings.find<Index>("stop_patience");
  improvement_ = *settings.find<double>("improvement");
}

void RateSchedule::check() const {
  if (period_ < 1 && (kind_ == Kind::Step || kind_ == Kind::Cosine))
    throw Error(TENON_ERR_STATE,
                fmt::format("the schedule {} of the learning rate has no period; set "
                            "schedule_period, in steps",
                            kKinds[static_cast<std::size_t>(kind_)]));
}

double RateSchedule::factor(Index stepsDone) const {
  // Step 0 of the warm-up has a factor above 0, since a step without a change would be wasted.
  const auto completed = static_cast<double>(stepsDone);
  const double warm = stepsDone < warmup_ ? (completed + 1) / static_cast<double>(warmup_) : 1;
  const Index n = std::max<Index>(0, stepsDone - warmup_); // steps after the warm-up
  switch (kind_) {
  case Kind::Step: {
    const Index periods = n / period_;
    return warm * std::pow(factor_, static_cast<double>(periods));
  }
  case Kind::Cosine: {
    const double part = std::min(1.0, static_cast<double>(n) / static_cast<double>(period_));
    return warm * (least_ + (1 - least_) * (1 + std::cos(std::numbers::pi * part)) / 2);
  }
  case Kind::Plateau:
    return warm * std::max(least_, std::pow(factor_, static_cast<double>(reductions_)));
  default:
    return warm;
  }
}

// Both counters restart at an improvement; a reduction restarts only its own.
bool RateSchedule::report(double loss) {
  const bool isBetter =
      // The first report is compared with infinity, for which a fraction is undefined.
      std::isinf(best_) ? loss < best_ : loss < best_ - improvement_ * std::abs(best_);
  if (isBetter) {
    best_ = loss;
    waiting_ = sinceReduction_ = 0;
  } else {
    ++waiting_;
    if (++sinceReduction_ > static_cast<std::uint64_t>(patience_)) {
      ++reductions_;
      sinceReduction_ = 0;
    }
  }
  return stopPatience_ > 0 && waiting_ >= static_cast<std::uint64_t>(stopPatience_);
}

// Without plateau and early stopping there is no state to save.
void RateSchedule::visitState(const std::string& path, StateVisitor& visitor) {
  if (!watches())
    return;
  visitor.real(path + "/best", best_);
  visitor.number(path + "/waiting", waiting_);
  visitor.number(path + "/since_reduction", sinceReduction_);
  visitor.number(path + "/reductions", reductions_);
}

} // namespace tenon
