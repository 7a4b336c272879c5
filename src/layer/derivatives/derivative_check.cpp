// SPDX-License-Identifier: BSD-2-Clause
// The dot test and the Taylor test of a layer's derivatives. A Trial holds the point and the
// directions, and puts back when it ends all that a test changes: mode, parameters, running
// statistics, random numbers drawn, gradients and tangents. So a test can stand in the middle of a
// training.
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

// Fills with valid values: equal on copies, and independent in all contributions. A fill by global
// position would give the value to one contribution and 0 to the others, so that each contribution
// is drawn as if it were whole, with a stream of its own.
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
  std::vector<const DTensor*> all;
  for (const Ref<DTensor>& tensor : tensors)
    all.push_back(tensor.get());
  return all;
}

std::vector<DTensor*> pointersOf(const Tensors& tensors) {
  std::vector<DTensor*> all;
  for (const Ref<DTensor>& tensor : tensors)
    all.push_back(tensor.get());
  return all;
}

// Of all together.
double normOf(const Tensors& tensors) {
  double squares = 0;
  for (const Ref<DTensor>& tensor : tensors)
    squares += rawNorm(*tensor) * rawNorm(*tensor);
  return std::sqrt(squares);
}

// What a layer carries at one moment: parameters, running statistics, and how much was drawn. A
// walk is always in the same order, so that nothing needs a name.
class Carried {
public:
  explicit Carried(Layer& layer) : layer_(layer) {
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

// A layer at a point with a direction; puts back what the tests change when it ends.
class Trial {
public:
  Trial(Layer& layer, const DTensor* x, std::uint64_t seed)
      : layer_(layer), modes_(layer), seed_(seed), carried_(checked(layer, x)) {
    for (const Layout& input : layer.inputLayouts()) {
      x_.push_back(drawn(input));
      dx_.push_back(drawn(input));
    }
    if (x)
      copyLocal(*x, *x_.front());
    for (const Ref<Parameter>& p : layer.parameters())
      moved_.push_back(hold(p));
    layer_.setRecording(true);
  }
  ~Trial() {
    carried_.restore();
    for (Moved& m : moved_) {
      if (m.hadTangent)
        copyLocal(*m.tangent, m.parameter->tangent());
      else
        m.parameter->clearTangent();
      copyLocal(*m.gradient, m.parameter->gradient());
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
    Tensors all;
    for (const Layout& output : layer_.outputLayouts())
      all.push_back(tensor(output));
    return all;
  }
  // y <- f(x, p), pushed on the stack; dy <- J (dx, dp). If the tangent fails, what was pushed is
  // forgotten, since a later adjoint of the user's would pop it.
  void applyWithTangent(const Tensors& y, const Tensors& dy) {
    layer_.apply(Inputs(constPointers(x_)), Outputs(pointersOf(y)));
    try {
      layer_.applyTangent(Inputs(constPointers(dx_)), Outputs(pointersOf(dy)));
    } catch (...) {
      layer_.forgetLast();
      throw;
    }
  }
  // y <- f(x + h dx, p + h dp), from the state in which the layer was: each step must draw the
  // random numbers of the first, and parameters must not move on from the step before.
  void applyAt(double h, const Tensors& y) {
    Tensors at;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      at.push_back(tensor(x_[i]->layout()));
      copyLocal(*x_[i], *at.back());
      axpby(h, *dx_[i], 1, *at.back());
    }
    carried_.restore();
    for (Moved& m : moved_) {
      axpby(h, m.parameter->tangent(), 1, m.parameter->value());
      m.parameter->valueChanged();
    }
    layer_.apply(Inputs(constPointers(at)), Outputs(pointersOf(y)));
    layer_.forgetLast();
  }
  // The pairing of the direction with what the adjoint leaves, and in relativeError the scale of
  // that. Gradients accumulate, so that they begin at zero here.
  LayerAdjointResult pairAdjoint(const Tensors& dy) {
    Tensors cotangents;
    for (const Layout& input : layer_.inputLayouts())
      cotangents.push_back(tensor(input.dual()));
    for (Moved& m : moved_)
      m.parameter->zeroGradient();
    layer_.applyAdjoint(OutputCotangents(constPointers(dy)),
                        InputCotangents(pointersOf(cotangents)));
    LayerAdjointResult sum;
    const auto add = [&](const DTensor& direction, const DTensor& gradient) {
      sum.adjointPairing += pairing(direction, gradient);
      sum.relativeError += rawNorm(direction) * rawNorm(gradient);
    };
    for (std::size_t i = 0; i < dx_.size(); ++i)
      add(*dx_[i], *cotangents[i]);
    for (Moved& m : moved_)
      add(m.parameter->tangent(), m.parameter->gradient());
    return sum;
  }

private:
  struct Moved {
    Ref<Parameter> parameter;
    Ref<DTensor> gradient, tangent; // as they were
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

  // Draws a direction for a parameter. A frozen one gathers no gradient, so that it must not move
  // either.
  Moved hold(const Ref<Parameter>& p) {
    Moved m{p, tensor(p->storage().dual()), tensor(p->storage()), p->hasTangent()};
    copyLocal(p->gradient(), *m.gradient);
    if (m.hadTangent)
      copyLocal(p->tangent(), *m.tangent);
    if (p->isFrozen())
      fillConstant(p->tangent(), 0);
    else
      fillValid(p->tangent(), seed_, ++stream_);
    return m;
  }

  Layer& layer_;
  SavedModes modes_;
  std::uint64_t seed_, stream_ = 0;
  Carried carried_;
  Tensors x_, dx_;
  std::vector<Moved> moved_;
};

} // namespace

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
  // The pairings can be small by cancellation, so that their difference is measured by bounds of
  // their size.
  scale = std::max(scale, result.relativeError);
  const double difference = std::abs(result.tangentPairing - result.adjointPairing);
  result.relativeError = scale > 0 ? difference / scale : difference;
  return result;
}

// The remainder falls fourfold with each halving of the step, until rounding, which does not fall,
// takes over. So the order is that between the two shortest steps whose remainders are well above
// rounding.
LayerTaylorResult checkLayerTaylor(Layer& layer, const DTensor* x, std::uint64_t seed) {
  constexpr double kLongest = 0.125, kAboveRounding = 200;
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
  double before = 0, h = kLongest;
  for (int n = 0; n <= kHalvings; ++n, h /= 2) {
    trial.applyAt(h, y);
    for (std::size_t i = 0; i < y.size(); ++i) {
      axpby(-1, *f[i], 1, *y[i]);
      axpby(-h, *tangent[i], 1, *y[i]);
    }
    const double remainder = normOf(y);
    if (n == 0)
      result.remainder = size > 0 ? remainder / size : remainder;
    // The negation ends the loop for NaN too.
    if (!(remainder > kAboveRounding * rounding * size))
      break;
    if (n > 0)
      result.order = std::log2(before / remainder);
    before = remainder;
  }
  return result;
}

} // namespace tenon
