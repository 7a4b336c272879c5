// SPDX-License-Identifier: BSD-2-Clause
// L-BFGS (Nocedal and Wright, Numerical Optimization, Algorithms 7.4 and 7.5). With parameters w
// and gradient g, the direction is -H g, where H approximates the inverse Hessian. H follows from
// the last pairs s = w' - w, y = g' - g, beginning with gamma I, gamma = s.y / y.y of the newest
// pair. The step length along the direction satisfies the strong Wolfe conditions
// (line_search.hpp); 1 is tried first. Inner products are over all parameters, with each element
// counted once even if several ranks have copies.
#pragma once

#include "train/line_search.hpp"
#include "train/optimizer.hpp"

namespace tenon {

class Lbfgs final : public Optimizer {
public:
  explicit Lbfgs(Ref<Layer> layer);
  std::string_view type() const noexcept override { return "lbfgs"; }

private:
  // The history can only change before the first step.
  void applySettings(Settings after, const Settings::Names& names) override;
  void makePairs(Index count);
  double updateWith(const Closure& closure) override;
  [[noreturn]] void stepParameter(std::size_t, const DTensor&, DTensor&) override;
  [[noreturn]] void update(std::optional<double>) override;
  std::vector<Slot> slots() const override;
  void visitNumbers(const std::string& path, StateVisitor& visitor) override;

  // Differences of parameters (s) and of gradients (y) between two points.
  struct Pair {
    StateTensors s, y;
    double product = 0, squareOfY = 0; // s.y, y.y
  };
  // The pair of this age; 0 is the newest.
  Pair& newest(std::uint64_t age) {
    return pairs_[(next_ + pairs_.size() - 1 - age) % pairs_.size()];
  }
  double dot(const StateTensors& x, const StateTensors& y) const;
  // Calls each(number, parameter) for every parameter that is not frozen.
  template <class Each>
  void forEach(const Each& each) const;
  void combine(double alpha, const StateTensors& x, double beta, const StateTensors& y) const;
  double evaluate(const Closure& closure);
  void moveTo(double at);
  void chooseDirection();
  // Stores the pair of the last move, from the point in start_ with the gradient in before_.
  void keepPair(double at, double length);
  void computeProducts(Pair& pair) const;
  bool iterate(const Closure& closure, double& loss, double gradientNorm);

  Index iterations_ = 0; // maximal number of directions per step
  // A step ends if the gradient's norm is at most gradientTolerance_, or if the length of the last
  // move or its change of the loss is below changeTolerance_.
  double gradientTolerance_ = 0, changeTolerance_ = 0;
  std::vector<Pair> pairs_;            // ring buffer
  std::vector<std::string> names_;     // of the pairs' tensors in checkpoints
  std::uint64_t count_ = 0, next_ = 0; // number of pairs, and index for the next one
  StateTensors gradient_;              // at the current parameters
  StateTensors before_;                // the gradient at the beginning of the line search
  StateTensors direction_;             // of the line search
  StateTensors start_;                 // the parameters at its beginning
  double rounding_;                    // relative rounding error of the parameters' type
};

} // namespace tenon
