// SPDX-License-Identifier: BSD-2-Clause
// Declares the pointwise functions y = f(x), such as relu, tanh and exp: one layer type for each
// entry of kFunctions. The arithmetic of a function is in kernels/functors/pointwise.hpp; here are
// its settings, which are its parameters, and what its derivative reads. Dropout and stopgradient
// are at the end of the file.
//
// The derivative of f needs x or y of the forward evaluation, which is then saved. Where f'(x)
// follows from y, such as 1 - y^2 of tanh, y is saved and not x, since the next layer often saves
// the same array as its input.
//
// A layer of these types can have any distribution of x and does not communicate, with one
// exception: if x is a partial sum (each rank has a contribution) and f is not linear, the
// contributions are summed first, since f(a + b) is not f(a) + f(b).
#include "declaration/types/pointwise.hpp"

#include "declaration/core/elementwise.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kSlope[] = {
    {"slope", OptionSpec::Real, "0.01", "slope of leakyrelu for negative arguments"}};
constexpr OptionSpec kAlpha[] = {
    {"alpha", OptionSpec::Real, "1", "value that elu approaches below, without its sign"}};
constexpr OptionSpec kPositiveAlpha[] = {{"alpha", OptionSpec::Real, "1",
                                          "value that celu approaches below, without its sign",
                                          nullptr, above(0)}};
constexpr OptionSpec kFactor[] = {{"factor", OptionSpec::Real, "1", "factor of scale"},
                                  {"shift", OptionSpec::Real, "0", "what scale adds"}};
constexpr OptionSpec kEnds[] = {
    {"low", OptionSpec::Real, nullptr, "least value of clamp; none where it is not set"},
    {"high", OptionSpec::Real, nullptr, "largest value of clamp; none where it is not set"}};
constexpr OptionSpec kExponent[] = {{"exponent", OptionSpec::Real, "2", "exponent of power"}};

enum class Reads { Nothing, Argument, Value };

// The names are layer types, and also values of the setting "activation" of other layers.
struct Function {
  const char* name;
  Pointwise function;
  Reads reads; // what the derivative reads: nothing, x (the argument) or y (the value)
  std::span<const OptionSpec> settings = {};
  bool isLinear = false;
  // The arguments of examples, if the function has no value or an unbounded derivative for others.
  enum class Domain { All, Positive, Fractions, AboveOne } domain = Domain::All;
};
using Domain = Function::Domain;
constexpr Function kFunctions[] = {
    {"relu", Pointwise::Relu, Reads::Value},
    {"tanh", Pointwise::Tanh, Reads::Value},
    {"sigmoid", Pointwise::Sigmoid, Reads::Value},
    {"leakyrelu", Pointwise::LeakyRelu, Reads::Argument, kSlope},
    {"elu", Pointwise::Elu, Reads::Argument, kAlpha},
    {"gelu", Pointwise::Gelu, Reads::Argument},
    {"gelutanh", Pointwise::GeluTanh, Reads::Argument},
    {"silu", Pointwise::Silu, Reads::Argument},
    {"softplus", Pointwise::Softplus, Reads::Argument},
    {"exp", Pointwise::Exp, Reads::Value},
    {"sine", Pointwise::Sine, Reads::Argument},
    {"cosine", Pointwise::Cosine, Reads::Argument},
    {"clamp", Pointwise::Clamp, Reads::Argument, kEnds},
    {"abs", Pointwise::Abs, Reads::Argument},
    {"sqrt", Pointwise::Sqrt, Reads::Value, {}, /*isLinear=*/false, Domain::Positive},
    {"reciprocal", Pointwise::Reciprocal, Reads::Value, {}, false, Domain::Positive},
    {"power", Pointwise::Power, Reads::Argument, kExponent, false, Domain::Positive},
    {"log", Pointwise::Log, Reads::Argument, {}, false, Domain::Positive},
    {"softsign", Pointwise::Softsign, Reads::Argument},
    {"mish", Pointwise::Mish, Reads::Argument},
    {"hardswish", Pointwise::HardSwish, Reads::Argument},
    {"selu", Pointwise::Selu, Reads::Argument},
    {"celu", Pointwise::Celu, Reads::Argument, kPositiveAlpha},
    {"tan", Pointwise::Tan, Reads::Value, {}, false, Domain::Fractions},
    {"asin", Pointwise::Asin, Reads::Argument, {}, false, Domain::Fractions},
    {"acos", Pointwise::Acos, Reads::Argument, {}, false, Domain::Fractions},
    {"atan", Pointwise::Atan, Reads::Argument},
    {"sinh", Pointwise::Sinh, Reads::Argument},
    {"cosh", Pointwise::Cosh, Reads::Argument},
    {"asinh", Pointwise::Asinh, Reads::Argument},
    {"acosh", Pointwise::Acosh, Reads::Argument, {}, false, Domain::AboveOne},
    {"atanh", Pointwise::Atanh, Reads::Argument, {}, false, Domain::Fractions},
    {"erf", Pointwise::Erf, Reads::Argument},
    {"floor", Pointwise::Floor, Reads::Nothing},
    {"ceil", Pointwise::Ceil, Reads::Nothing},
    {"round", Pointwise::Round, Reads::Nothing},
    {"scale", Pointwise::Scale, Reads::Nothing, kFactor, /*isLinear=*/true},
    {"identity", Pointwise::Identity, Reads::Nothing, {}, /*isLinear=*/true}};

// The function with this name, or null.
const Function* functionNamed(const std::string& name) {
  const auto entry = std::ranges::find(kFunctions, name, &Function::name);
  return entry == std::end(kFunctions) ? nullptr : entry;
}

template <class T>
class LocalPointwise final : public SymmetricKernel {
public:
  explicit LocalPointwise(const PointwiseFunction& function) : function_(function) {}

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    pointwiseForward<T>(y.context(), function_, x[0].elements(), x[0].data<T>(),
                        y.mutableData<T>());
  }
  const PointwiseFunction* function() const override { return &function_; }
  std::string describe() const override { return "element by element"; }
  ChannelOrders channelOrders() override { return ChannelOrders::Same; }

private:
  // r = f'(x) v. Only the array that the derivative reads was saved.
  void derivative(const SavedArrays& point, const LocalArray& v, LocalArray& r) override {
    pointwiseDerivative<T>(r.context(), function_, v.elements(),
                           point.inputs.empty() ? nullptr : point.inputs[0].data<T>(),
                           point.output.data<T>(), v.data<T>(), r.mutableData<T>());
  }

  PointwiseFunction function_;
};

class PointwiseDeclaration final : public Elementwise {
public:
  explicit PointwiseDeclaration(const Function& function)
      : Elementwise(function.name, function.settings), function_(function) {}
  // Functions of single elements give the same values on the patches of a multi-block grid as on
  // the joined field, and can be evaluated in ghost cells as well.
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  std::string computedHaloObstacle() const override { return {}; }

  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .savesInputs = function_.reads == Reads::Argument,
            .savesOutput = function_.reads == Reads::Value,
            .isFunction = true};
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makePointwise(at.type, pointwiseFunction(type(), *this));
  }
  // The first setting, and the others if they were set.
  std::string summary() const override {
    std::vector<std::string> settingTexts;
    for (const OptionSpec& setting : function_.settings)
      if (const auto value = settings().find<double>(setting.name);
          value && (settingTexts.empty() || isSet(setting.name)))
        settingTexts.push_back(fmt::format("{} {}", setting.name, *value));
    return joined(settingTexts);
  }
  Shape outputShape(const std::vector<Shape>& inputs) const override {
    if (isClamp() && !isSet("low") && !isSet("high"))
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has neither a low nor a high; set one of them", title()));
    return Elementwise::outputShape(inputs);
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    outputShape({inputs.front().shape()});
    return Elementwise::form(inputs, choice);
  }
  Example example(ExampleDraw& draw) const override {
    Example example = Elementwise::example(draw);
    // Settings get increasing values, since low of clamp must be below high.
    double value = function_.isLinear ? -1.5 : 0.25;
    for (const OptionSpec& setting : function_.settings) {
      example.settings.emplace_back(setting.name, value);
      value += 0.5;
    }
    if (function_.domain == Domain::Positive)
      example.makePositive();
    if (function_.domain == Domain::Fractions)
      std::tie(example.low, example.high) = std::pair(-0.75, 0.75);
    if (function_.domain == Domain::AboveOne)
      std::tie(example.low, example.high) = std::pair(1.5, 3.0);
    return example;
  }

private:
  bool isClamp() const { return function_.settings.data() == kEnds; }
  // A shift must be added once, not to each contribution of a partial sum.
  bool isLinear() const override {
    return function_.isLinear && (!settings().has("shift") || real("shift") == 0);
  }
  void check() const override {
    if (isClamp() && isSet("low") && isSet("high") && real("low") > real("high"))
      throw Error(TENON_ERR_ARG, fmt::format("low of {} is {}, above high, which is {}", title(),
                                             real("low"), real("high")));
  }
  const Function& function_;
};

} // namespace

std::vector<std::string> pointwiseNames() {
  std::vector<std::string> names;
  for (const Function& function : kFunctions)
    names.emplace_back(function.name);
  return names;
}

std::unique_ptr<Declaration> declarePointwise(const std::string& name) {
  const Function* const function = functionNamed(name);
  return function ? std::make_unique<PointwiseDeclaration>(*function) : nullptr;
}

// Ends of clamp that are not set are infinite; the other settings have defaults.
PointwiseFunction pointwiseFunction(const std::string& name, const Declaration& settings) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Function* const entry = functionNamed(name);
  if (!entry)
    throw Error(TENON_ERR_INTERNAL, fmt::format("the function '{}' has no kernel", name));
  PointwiseFunction function(entry->function);
  const auto& parameters = entry->settings;
  if (!parameters.empty())
    function.parameter = settings.settings().find<double>(parameters[0].name).value_or(-kInfinity);
  if (parameters.size() > 1)
    function.second = settings.settings().find<double>(parameters[1].name).value_or(kInfinity);
  return function;
}

std::unique_ptr<ArrayKernel> makePointwise(TenonDataType type, const PointwiseFunction& function) {
  return makeTyped<LocalPointwise>(type, function);
}

// Dropout (Srivastava et al. 2014), scaled in training: y = m x / (1 - rate), where m is 0 with
// probability rate, else 1; in inference y = x. For a fixed mask the map is linear; all
// contributions of a partial sum use the same mask.

namespace {

constexpr OptionSpec kDropoutSettings[] = {{"rate",
                                            OptionSpec::Real,
                                            "0.5",
                                            "probability that an element is dropped",
                                            nullptr,
                                            {.least = 0, .most = 1, .isOpenAbove = true}}};

class Dropout final : public Elementwise {
public:
  Dropout() : Elementwise("dropout", kDropoutSettings) {}
  bool isRandom() const override { return true; }
  std::string summary() const override { return fmt::format("rate {}", real("rate")); }
  Example example(ExampleDraw& draw) const override {
    return {{{"rate", 0.4}}, {draw.shape(1, 3)}};
  }

private:
  bool isLinear() const override { return true; }
  // Saves 8 bytes, the number of the Apply, from which derivatives draw the same mask again.
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .runsOnce = true, .workspace = {sizeof(std::uint64_t)}};
  }
};

} // namespace

std::unique_ptr<Declaration> declareDropout() {
  return std::make_unique<Dropout>();
}

// stopgradient: y = x, whose derivative is declared to be 0, as of detach() in PyTorch. Its kernel
// is a fixed map of the list, so a derivative omits it, and everything before it that nothing else
// needs. No function of kFunctions, since other layers could not apply it to their output.

namespace {

class StopGradient final : public Elementwise {
public:
  StopGradient() : Elementwise("stopgradient", {}) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const ValueId x = list.input("x", form.inputs.front());
    list.output("y", form.output);
    const ValueId u = addUse(list, x, "u", form.uses.front(), /*anyStrides=*/false),
                  y = list.stagedOutput();
    list.runFixed({.name = type()}, {u}, y);
    list.unstage(y);
    return list;
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makePointwise(at.type, Pointwise::Identity);
  }

private:
  bool isLinear() const override { return true; }
};

} // namespace

std::unique_ptr<Declaration> declareStopGradient() {
  return std::make_unique<StopGradient>();
}

} // namespace tenon
