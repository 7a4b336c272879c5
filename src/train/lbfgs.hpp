// SPDX-License-Identifier: BSD-2-Clause
// L-BFGS (Nocedal and Wright, Numerical Optimization, Algorithms 7.4 and 7.5). A direction is -H g,
// with H of the last pairs s = w' - w, y = g' - g and gamma = s.y / y.y of the newest; the step
// along it fulfils the strong Wolfe conditions, of which 1 is tried first. Dots run over all
// parameters, each element once.
#pragma once

#include "train/line_search.hpp"
#include "train/optimizer.hpp"

namespace tenon {

class Lbfgs final : public Optimizer {
public:
  explicit Lbfgs(Ref<Layer> layer);
  std::string_view type() const noexcept override { return "lbfgs"; }

private:
  // The history may change before the first step only.
  void takeOver(Settings after, const Settings::Names& names) override;
  void makePairs(Index count);
  double updateWith(const Closure& closure) override;
  [[noreturn]] void stepParameter(std::size_t, const DTensor&, DTensor&) override;
  [[noreturn]] void update(std::optional<double>) override;
  std::vector<Slot> slots() const override;
  void visitNumbers(const std::string& path, StateVisitor& visitor) override;

  struct Pair {
    StateTensors s, y;
    double product = 0, squareOfY = 0; // s.y, y.y
  };
  Pair& newest(std::uint64_t age) {
    return pairs_[(next_ + pairs_.size() - 1 - age) % pairs_.size()];
  }
  double dot(const StateTensors& x, const StateTensors& y) const;
  // For each parameter that is not frozen: each(number, parameter).
  template <class Each>
  void forEach(const Each& each) const;
  void combine(double alpha, const StateTensors& x, double beta, const StateTensors& y) const;
  double evaluate(const Closure& closure);
  void moveTo(double at);
  void chooseDirection();
  // From the point in start_, whose gradient is in before_.
  void keepPair(double at, double length);
  void computeProducts(Pair& pair) const;
  bool iterate(const Closure& closure, double& loss, double gradientNorm);

  Index iterations_ = 0; // at most so many directions in one step
  // A step ends where the gradient's norm is not above the first, or the length of the last move or
  // its change of the loss is below the second.
  double gradientTolerance_ = 0, changeTolerance_ = 0;
  std::vector<Pair> pairs_; // a ring
  std::vector<std::string> names_;
  std::uint64_t count_ = 0, next_ = 0; // pairs there are, and where the next one goes
  StateTensors gradient_, before_, direction_, start_;
  double rounding_; // relative
};

} // namespace tenon
