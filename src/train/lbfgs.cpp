// SPDX-License-Identifier: BSD-2-Clause
// L-BFGS by the two-loop recursion, and the line search along its direction. One step
// (updateWith()) consists of up to `iterations` iterations:
//
//   evaluate()          loss and gradient at the current parameters, by the user's closure
//   iterate():
//     chooseDirection() d = -H g from the stored pairs
//     searchLine()      a step length t; calls moveTo() and evaluate() for each trial
//     keepPair()        stores s = t d and y = new gradient - old gradient
//
// A pair (s, y) of differences is stored only if its curvature s.y exceeds rounding errors.
// Checkpoints contain the pairs, but not their products s.y and y.y, which are computed again at
// the beginning of each step. Each rank stores its own block of all vectors. Inner products are
// sums over the ranks, so all ranks get the same numbers and decide alike.
#include "train/lbfgs.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

namespace {

// Relative rounding error of the least precise type among the parameters.
double roundingOf(const std::vector<Ref<Parameter>>& parameters) {
  const bool isSingle =
      std::ranges::any_of(parameters, [](const auto& p) { return p->dataType() == TENON_FLOAT32; });
  return isSingle ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

constexpr double kRoundings = 100; // rounding errors of a loss, which is a sum of many terms

constexpr OptionSpec kLbfgsOptions[] = {
    {"learning_rate", OptionSpec::Real, "1",
     "learning rate, which scales the very first move; later ones have the length that the pairs "
     "of differences give",
     nullptr, above(0)},
    weightDecayOption("0"),
    {"history",
     OptionSpec::Int,
     "10",
     "pairs of differences that L-BFGS keeps",
     nullptr,
     {1, 1000}},
    {"iterations",
     OptionSpec::Int,
     "20",
     "directions of L-BFGS in one step, at most",
     nullptr,
     {1, 1e9}},
    {"gradient_tolerance", OptionSpec::Real, "1e-7", "norm of the gradient at which L-BFGS is done",
     nullptr, atLeast(0)},
    {"change_tolerance", OptionSpec::Real, "1e-9",
     "length of a move, and change of the loss, below which L-BFGS is done", nullptr, atLeast(0)},
};
const OptionRegistration kLbfgsRegistration{{"lbfgs", kLbfgsOptions}};

} // namespace

Lbfgs::Lbfgs(Ref<Layer> layer)
    : Optimizer(std::move(layer), {kLbfgsOptions}), gradient_(makeState()), before_(makeState()),
      direction_(makeState()), start_(makeState()), rounding_(roundingOf(parameters())) {
  applySettings(settings(), {});
}

void Lbfgs::applySettings(Settings after, const Settings::Names& names) {
  const auto history = after.value<Index>("history", owner());
  if (history != static_cast<Index>(pairs_.size())) {
    if (steps() > 0)
      throw Error(TENON_ERR_STATE,
                  fmt::format("the history of {} cannot change after its first step", title()));
    makePairs(history);
  }
  iterations_ = after.value<Index>("iterations", owner());
  gradientTolerance_ = after.value<double>("gradient_tolerance", owner());
  changeTolerance_ = after.value<double>("change_tolerance", owner());
  Optimizer::applySettings(std::move(after), names);
}

// names_ holds the names of tensors in checkpoints, to which slots() returns pointers.
void Lbfgs::makePairs(Index count) {
  std::vector<Pair> pairs(static_cast<std::size_t>(count));
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) {
    pairs[static_cast<std::size_t>(i)] = {makeState(), makeState()};
    names.push_back(fmt::format("move_{}", i));
    names.push_back(fmt::format("change_{}", i));
  }
  pairs_ = std::move(pairs);
  names_ = std::move(names);
}

// A single gradient is not sufficient for the line search.
void Lbfgs::update(std::optional<double>) {
  throw Error(TENON_ERR_TYPE,
              fmt::format("{} has type lbfgs, which needs the loss at several points; call "
                          "TenonOptimizerStepClosure()",
                          title()));
}

void Lbfgs::stepParameter(std::size_t, const DTensor&, DTensor&) {
  update({});
}

std::vector<Optimizer::Slot> Lbfgs::slots() const {
  std::vector<Slot> result;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    result.push_back({names_[2 * i].c_str(), &pairs_[i].s});
    result.push_back({names_[2 * i + 1].c_str(), &pairs_[i].y});
  }
  return result;
}

void Lbfgs::visitNumbers(const std::string& path, StateVisitor& visitor) {
  visitor.number(path + "/pairs", count_);
  visitor.number(path + "/next_pair", next_);
}

template <class Each>
void Lbfgs::forEach(const Each& each) const {
  for (std::size_t i = 0; i < parameters().size(); ++i)
    if (!parameters()[i]->isFrozen())
      each(i, *parameters()[i]);
}

// The inner product over all parameters that are not frozen. Collective.
double Lbfgs::dot(const StateTensors& x, const StateTensors& y) const {
  std::vector<TensorPair> pairs;
  forEach([&](std::size_t i, Parameter&) { pairs.emplace_back(x[i].get(), y[i].get()); });
  return innerProduct(*comm(), pairs);
}

// y <- alpha x + beta y.
void Lbfgs::combine(double alpha, const StateTensors& x, double beta, const StateTensors& y) const {
  forEach([&](std::size_t i, Parameter&) { axpby(alpha, *x[i], beta, *y[i]); });
}

// Returns the loss at the current parameters, and computes its gradient; both include the weight
// decay.
double Lbfgs::evaluate(const Closure& closure) {
  for (const Ref<Parameter>& p : parameters())
    p->zeroGradient();
  const double loss = valueOfFirstRank(*comm(), closure());
  reduceGradients();
  double squares = 0;
  std::vector<TensorPair> values;
  forEach([&](std::size_t i, Parameter& p) {
    copyLocal(p.direction(), *gradient_[i]);
    if (weightDecay() > 0) {
      axpby(weightDecay(), p.value(), 1, *gradient_[i]);
      values.emplace_back(&p.value(), &p.value());
    }
  });
  if (weightDecay() > 0)
    squares = innerProduct(*comm(), values);
  return loss + weightDecay() / 2 * squares;
}

// w <- start + at * direction, without accumulating rounding errors over trial steps.
void Lbfgs::moveTo(double at) {
  forEach([&](std::size_t i, Parameter& p) {
    copyLocal(*start_[i], p.value());
    axpby(at, *direction_[i], 1, p.value());
    p.valueChanged();
  });
}

// direction <- -H gradient, by the two-loop recursion, where H is the inverse Hessian that the
// pairs approximate: first from the newest pair to the oldest, then a multiple gamma of the
// identity for what the pairs do not know, then back to the newest.
void Lbfgs::chooseDirection() {
  combine(-1, gradient_, 0, direction_);
  std::vector<double> alpha;
  for (std::uint64_t age = 0; age < count_; ++age) {
    Pair& pair = newest(age);
    alpha.push_back(dot(pair.s, direction_) / pair.product);
    combine(-alpha.back(), pair.y, 1, direction_);
  }
  if (count_ > 0) {
    const double gamma = newest(0).product / newest(0).squareOfY;
    forEach([&](std::size_t i, Parameter&) { scaleArray(gamma, *direction_[i]); });
  }
  for (std::uint64_t age = count_; age-- > 0;) {
    Pair& pair = newest(age);
    const double beta = dot(pair.y, direction_) / pair.product;
    combine(alpha[age] - beta, pair.s, 1, direction_);
  }
}

// Stores the pair of the last move, of this length, unless its curvature is lost in rounding.
void Lbfgs::keepPair(double at, double length) {
  Pair& pair = pairs_[next_];
  combine(at, direction_, 0, pair.s);
  combine(1, gradient_, 0, pair.y);
  combine(-1, before_, 1, pair.y);
  for (std::size_t i = 0; i < parameters().size(); ++i)
    if (parameters()[i]->isFrozen()) // it did not move; clear data of an older pair
      for (const StateTensors* part : {&pair.s, &pair.y})
        fillConstant(*(*part)[i], 0);
  computeProducts(pair);
  if (!(pair.product > rounding_ * length * std::sqrt(pair.squareOfY))) {
    // Its data has overwritten the oldest pair.
    count_ = std::min<std::uint64_t>(count_, pairs_.size() - 1);
    return;
  }
  next_ = (next_ + 1) % pairs_.size();
  count_ = std::min<std::uint64_t>(count_ + 1, pairs_.size());
}

void Lbfgs::computeProducts(Pair& pair) const {
  pair.product = dot(pair.s, pair.y);
  pair.squareOfY = dot(pair.y, pair.y);
}

// Chooses a direction and moves along it; `loss` is that of the current parameters, before and
// after the call. Returns whether another iteration is useful.
bool Lbfgs::iterate(const Closure& closure, double& loss, double gradientNorm) {
  chooseDirection();
  const LinePoint start{.at = 0, .value = loss, .slope = dot(gradient_, direction_)};
  // Stops unless the direction descends (also at a NaN). The bound is a square, as the slope along
  // the negative gradient, -|g|^2, is.
  if (!(start.slope < -changeTolerance_ * changeTolerance_))
    return false;
  forEach([&](std::size_t i, Parameter& p) {
    copyLocal(p.value(), *start_[i]);
    copyLocal(*gradient_[i], *before_[i]);
  });
  double lastTrial = 0; // step length at which the parameters and gradient_ are now
  const auto evaluateAt = [&](double t) {
    moveTo(t);
    lastTrial = t;
    const double value = evaluate(closure);
    // Otherwise a loss of -inf would be the lowest.
    return LinePoint{.at = t,
                     .value = std::isfinite(value) ? value : HUGE_VAL,
                     .slope = dot(gradient_, direction_)};
  };
  const double length = std::sqrt(dot(direction_, direction_));
  // With pairs, the direction already has the expected length; steps of length 1 give superlinear
  // convergence.
  const double first = count_ == 0 ? currentRate() * std::min(1.0, 1 / gradientNorm) : 1;
  const LineResult lineResult =
      searchLine(evaluateAt, start, first,
                 {.shortest = changeTolerance_ / length, .rounding = kRoundings * rounding_});
  if (lineResult.point.at != lastTrial)
    evaluateAt(lineResult.point.at);
  const double change = std::abs(lineResult.point.value - loss);
  loss = lineResult.point.value;
  if (lineResult.point.at == 0)
    return false;
  keepPair(lineResult.point.at, lineResult.point.at * length);
  return lineResult.point.at * length >= changeTolerance_ && change >= changeTolerance_;
}

double Lbfgs::updateWith(const Closure& closure) {
  static const int event = logEvent("OptimizerStep");
  const LogScope scope(event);
  for (std::uint64_t age = 0; age < count_; ++age) { // a checkpoint contains only the pairs
    computeProducts(newest(age));
    // Possible if a parameter has been frozen since the pair was stored.
    if (!(newest(age).product > 0))
      count_ = age;
  }
  double loss = evaluate(closure);
  const double initialLoss = loss;
  // Later points with losses that are not finite are handled by the line search.
  Directions gradients;
  forEach([&](std::size_t i, Parameter&) { gradients.push_back(gradient_[i].get()); });
  const Index maxIterations = isFinite(normOfCopies(gradients), loss) ? iterations_ : 0;
  for (Index i = 0; i < maxIterations; ++i) {
    const double norm = std::sqrt(dot(gradient_, gradient_));
    if (!(norm > gradientTolerance_) || !iterate(closure, loss, norm))
      break;
  }
  endStep();
  return initialLoss;
}

} // namespace tenon
