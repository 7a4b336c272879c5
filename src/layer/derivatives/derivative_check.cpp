// SPDX-License-Identifier: BSD-2-Clause
// The dot test and the Taylor test of a layer's derivatives (formulas in derivative_check.hpp).
// Both use a Trial, which stores the point (x, p) and random directions (dx, dp):
//
//   dot test:     applyWithTangent() gives dy = J (dx, dp); pairAdjoint() gives the pairings of the
//                 directions with the results of the adjoint
//   Taylor test:  applyWithTangent() once, then applyAt(h) for h = 1/8, 1/16, ...
//
// The constructor saves all that a test changes (modes, parameters, running statistics, counts of
// random numbers, gradients and tangents), and the destructor restores it. The tests can therefore
// be run between the steps of a training. All functions are collective. pairing(a, b) is the inner
// product of a tensor and a cotangent over all ranks.
#include "layer/derivatives/derivative_check.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "layer/networks/state.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tenon {

namespace {

using Tensors = std::vector<Ref<DTensor>>;

// Fills a tensor with random values that its layout allows. Copies of an element on several ranks
// must be equal. In a layout of partial sums, the contributions of the ranks must be independent:
// filling by global position would give the value to one contribution and 0 to the others, so each
// contribution is drawn like a whole tensor, from its own random stream. The factor 64 makes the
// streams of different contributions and tensors different, for axes of up to 64 ranks.
void fillValid(DTensor& x, std::uint64_t seed, std::uint64_t stream) {
  LayoutSpec spec = x.layout().spec();
  for (int axis = 0; axis < x.layout().grid().axes(); ++axis)
    if (spec.properties[axis].isPartial()) {
      spec.properties[axis] = Property::broadcast();
      if (x.position() >= 0)
        stream = 64 * stream + x.layout().grid().coordinate(x.position(), axis);
    }
  DTensor contribution(x.comm(), Layout(std::move(spec)), x.dataType());
  fillUniform(contribution, seed, stream, -1, 1);
  copyLocal(contribution, x);
}

std::vector<const DTensor*> constPointers(const Tensors& tensors) {
  std::vector<const DTensor*> pointers;
  for (const Ref<DTensor>& tensor : tensors)
    pointers.push_back(tensor.get());
  return pointers;
}

std::vector<DTensor*> pointersOf(const Tensors& tensors) {
  std::vector<DTensor*> pointers;
  for (const Ref<DTensor>& tensor : tensors)
    pointers.push_back(tensor.get());
  return pointers;
}

// The norm of all tensors together.
double normOf(const Tensors& tensors) {
  double squares = 0;
  for (const Ref<DTensor>& tensor : tensors)
    squares += rawNorm(*tensor) * rawNorm(*tensor);
  return std::sqrt(squares);
}

// A copy of a layer's state: parameters, running statistics, and counts of random numbers.
// visitState() always visits these in the same order, so the copies are stored in a list, without
// names.
class SavedState {
public:
  explicit SavedState(Layer& layer) : layer_(layer) {
    Save save;
    visitState(layer_, "", save);
    tensors_ = std::move(save.tensors);
    numbers_ = std::move(save.numbers);
  }
  void restore() {
    Restore restore(tensors_.begin(), numbers_.begin());
    visitState(layer_, "", restore);
  }

private:
  struct Save final : StateVisitor {
    void tensor(const std::string&, DTensor& value) override {
      tensors.push_back(makeRef<DTensor>(value.comm(), value.layout(), value.dataType()));
      copyLocal(value, *tensors.back());
    }
    void number(const std::string&, std::uint64_t& value) override { numbers.push_back(value); }
    Tensors tensors;
    std::vector<std::uint64_t> numbers;
  };
  struct Restore final : StateVisitor {
    Restore(Tensors::const_iterator t, std::vector<std::uint64_t>::const_iterator n)
        : tensors(t), numbers(n) {}
    void tensor(const std::string&, DTensor& value) override { copyLocal(**tensors++, value); }
    void number(const std::string&, std::uint64_t& value) override { value = *numbers++; }
    Tensors::const_iterator tensors;
    std::vector<std::uint64_t>::const_iterator numbers;
  };

  Layer& layer_;
  Tensors tensors_;
  std::vector<std::uint64_t> numbers_;
};

// A layer at a point (x, p) with directions (dx, dp); the destructor restores the layer. x_ and dx_
// have one tensor per input; the directions dp are the tangents of the parameters.
class Trial {
public:
  Trial(Layer& layer, const DTensor* x, std::uint64_t seed)
      : layer_(layer), modes_(layer), seed_(seed), state_(checked(layer, x)) {
    for (const Layout& input : layer.inputLayouts()) {
      x_.push_back(drawn(input));
      dx_.push_back(drawn(input));
    }
    if (x)
      copyLocal(*x, *x_.front());
    for (const Ref<Parameter>& p : layer.parameters())
      parameters_.push_back(saveAndDraw(p));
    layer_.setRecording(true);
  }
  ~Trial() {
    state_.restore();
    for (VariedParameter& varied : parameters_) {
      if (varied.hadTangent)
        copyLocal(*varied.tangent, varied.parameter->tangent());
      else
        varied.parameter->clearTangent();
      copyLocal(*varied.gradient, varied.parameter->gradient());
    }
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  Ref<DTensor> drawn(const Layout& layout) {
    Ref<DTensor> x = tensor(layout);
    fillValid(*x, seed_, ++stream_);
    return x;
  }
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(layer_.comm(), layout, layer_.dataType(), layer_.space());
  }
  Tensors outputs() const {
    Tensors tensors;
    for (const Layout& output : layer_.outputLayouts())
      tensors.push_back(tensor(output));
    return tensors;
  }
  // y <- f(x, p), which is pushed on the stack; dy <- J (dx, dp). If the tangent fails, the Apply
  // is removed from the stack, as a later adjoint of the user would pop it.
  void applyWithTangent(const Tensors& y, const Tensors& dy) {
    layer_.apply(Inputs(constPointers(x_)), Outputs(pointersOf(y)));
    try {
      layer_.applyTangent(Inputs(constPointers(dx_)), Outputs(pointersOf(dy)));
    } catch (...) {
      layer_.forgetLast();
      throw;
    }
  }
  // y <- f(x + h dx, p + h dp), beginning with the original state: each step must draw the same
  // random numbers, and parameters must not accumulate the steps.
  void applyAt(double h, const Tensors& y) {
    Tensors point;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      point.push_back(tensor(x_[i]->layout()));
      copyLocal(*x_[i], *point.back());
      axpby(h, *dx_[i], 1, *point.back());
    }
    state_.restore();
    for (VariedParameter& varied : parameters_) {
      axpby(h, varied.parameter->tangent(), 1, varied.parameter->value());
      varied.parameter->valueChanged();
    }
    layer_.apply(Inputs(constPointers(point)), Outputs(pointersOf(y)));
    layer_.forgetLast();
  }
  // Calls the adjoint for dy and returns in adjointPairing the sum of <dx, cotangent of x> and <dp,
  // gradient>, and in relativeError the same sum with the product of the two norms instead of each
  // pairing. Gradients accumulate, so they are first set to zero.
  LayerAdjointResult pairAdjoint(const Tensors& dy) {
    Tensors cotangents;
    for (const Layout& input : layer_.inputLayouts())
      cotangents.push_back(tensor(input.dual()));
    for (VariedParameter& varied : parameters_)
      varied.parameter->zeroGradient();
    layer_.applyAdjoint(OutputCotangents(constPointers(dy)),
                        InputCotangents(pointersOf(cotangents)));
    LayerAdjointResult sum;
    const auto add = [&](const DTensor& direction, const DTensor& gradient) {
      sum.adjointPairing += pairing(direction, gradient);
      sum.relativeError += rawNorm(direction) * rawNorm(gradient);
    };
    for (std::size_t i = 0; i < dx_.size(); ++i)
      add(*dx_[i], *cotangents[i]);
    for (VariedParameter& varied : parameters_)
      add(varied.parameter->tangent(), varied.parameter->gradient());
    return sum;
  }

private:
  struct VariedParameter {
    Ref<Parameter> parameter;
    Ref<DTensor> gradient, tangent; // copies of the original ones
    bool hadTangent;
  };

  static Layer& checked(Layer& layer, const DTensor* x) {
    const Layouts& inputs = layer.inputLayouts(); // throws before SetUp
    if (layer.stackSize() > 0)
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has {} Apply calls that wait for their adjoints; a test of its "
                              "derivatives needs an empty stack: call TenonLayerApplyAdjoint() or "
                              "TenonLayerClearStack() first",
                              layer.title(), layer.stackSize()));
    if (!x)
      return layer;
    if (inputs.size() != 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has {} inputs, but one tensor was passed; pass NULL for a random "
                              "point",
                              layer.title(), inputs.size()));
    checkTensor(*x, inputs.front(), layer.dataType(), layer.title(), "input");
    return layer;
  }

  // Saves the gradient and the tangent of a parameter, and draws a random direction for it. The
  // direction of a frozen parameter is zero, because such a parameter has no gradient to compare
  // with.
  VariedParameter saveAndDraw(const Ref<Parameter>& p) {
    VariedParameter varied{.parameter = p,
                           .gradient = tensor(p->storage().dual()),
                           .tangent = tensor(p->storage()),
                           .hadTangent = p->hasTangent()};
    copyLocal(p->gradient(), *varied.gradient);
    if (varied.hadTangent)
      copyLocal(p->tangent(), *varied.tangent);
    if (p->isFrozen())
      fillConstant(p->tangent(), 0);
    else
      fillValid(p->tangent(), seed_, ++stream_);
    return varied;
  }

  Layer& layer_;
  SavedModes modes_;
  std::uint64_t seed_, stream_ = 0;
  SavedState state_;
  Tensors x_, dx_;
  std::vector<VariedParameter> parameters_;
};

} // namespace

// The dot test: compares <J (dx, dp), dy> with <dx, J* dy> + sum of <dp, gradient_p>.
LayerAdjointResult checkLayerAdjoint(Layer& layer, const DTensor* x, std::uint64_t seed) {
  Trial trial(layer, x, seed);
  const Tensors y = trial.outputs(), tangent = trial.outputs();
  Tensors dy;
  for (const Layout& output : layer.outputLayouts())
    dy.push_back(trial.drawn(output.dual()));
  trial.applyWithTangent(y, tangent);
  LayerAdjointResult result = trial.pairAdjoint(dy);
  double scale = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    result.tangentPairing += pairing(*tangent[i], *dy[i]);
    scale += rawNorm(*tangent[i]) * rawNorm(*dy[i]);
  }
  // Both pairings can be small by cancellation. Their difference is therefore divided by an upper
  // bound of their size, the sum of the products of norms.
  scale = std::max(scale, result.relativeError);
  const double difference = std::abs(result.tangentPairing - result.adjointPairing);
  result.relativeError = scale > 0 ? difference / scale : difference;
  return result;
}

// The remainder f(x + h dx) - f(x) - h J dx decreases by a factor of four with each halving of h,
// until rounding errors, which do not decrease, dominate it. The order log2(4) = 2 is determined
// from the two shortest steps whose remainders are well above rounding.
LayerTaylorResult checkLayerTaylor(Layer& layer, const DTensor* x, std::uint64_t seed) {
  constexpr double kLongest = 0.125; // first step h
  // A remainder counts if it exceeds the rounding error of |f| + |J dx| by this factor.
  constexpr double kAboveRounding = 200;
  constexpr int kHalvings = 12;
  if (layer.declaration().value<std::string>("saved_type") != "same")
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} saves activations in bfloat16, so that its derivatives are not "
                            "those of its values; set saved_type to same for a Taylor test",
                            layer.title()));
  Trial trial(layer, x, seed);
  const Tensors f = trial.outputs(), tangent = trial.outputs(), y = trial.outputs();
  trial.applyWithTangent(f, tangent);
  layer.forgetLast();
  const double size = normOf(f) + normOf(tangent);
  const double rounding = layer.dataType() == TENON_FLOAT32
                              ? std::numeric_limits<float>::epsilon()
                              : std::numeric_limits<double>::epsilon();
  LayerTaylorResult result{std::numeric_limits<double>::infinity(), 0};
  double previous = 0, h = kLongest;
  for (int n = 0; n <= kHalvings; ++n, h /= 2) {
    trial.applyAt(h, y);
    for (std::size_t i = 0; i < y.size(); ++i) {
      axpby(-1, *f[i], 1, *y[i]);
      axpby(-h, *tangent[i], 1, *y[i]);
    }
    const double remainder = normOf(y);
    if (n == 0)
      result.remainder = size > 0 ? remainder / size : remainder;
    // Written with a negation to end the loop for NaN too.
    if (!(remainder > kAboveRounding * rounding * size))
      break;
    if (n > 0)
      result.order = std::log2(previous / remainder);
    previous = remainder;
  }
  return result;
}

} // namespace tenon
