// SPDX-License-Identifier: BSD-2-Clause
// Elementwise functions such as relu or tanh, and the local kernel that applies them to the array
// of one rank: y = f(x), with tangent and adjoint f'(x) v. Depending on f, its derivative is
// computed from x, from y = f(x), or from neither (tanh: 1 - y^2). Only the tensor that it reads is
// saved; the others are null in derivatives (point.x, point.y).
//
//   kKnownFunctions          all functions by name, with the settings that are their parameters
//   pointwiseFunction()      a function by its name, with the parameters from a layer's settings
//   makePointwise(), ...     the kernel of a function
//
// A new function needs an entry in this table, and its arithmetic in kernels/elementwise/pointwise.
#include "layer/types/pointwise.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_types.hpp"

#include <fmt/format.h>

#include <limits>

namespace tenon {

namespace {

// The names are layer types, and also values of the setting "activation" of other layers.
struct KnownFunction {
  const char* name;
  Pointwise function;
  // The names of the settings that are its first and second parameter (null: none), and the
  // parameters' values if the settings are not set.
  const char *parameter = nullptr, *second = nullptr;
  double defaultValue[2] = {0, 0};
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr KnownFunction kKnownFunctions[] = {
    {"relu", Pointwise::Relu},
    {"tanh", Pointwise::Tanh},
    {"sigmoid", Pointwise::Sigmoid},
    {"leakyrelu", Pointwise::LeakyRelu, "slope"},
    {"elu", Pointwise::Elu, "alpha"},
    {"gelu", Pointwise::Gelu},
    {"gelutanh", Pointwise::GeluTanh},
    {"silu", Pointwise::Silu},
    {"softplus", Pointwise::Softplus},
    {"exp", Pointwise::Exp},
    {"sine", Pointwise::Sine},
    {"cosine", Pointwise::Cosine},
    {"clamp", Pointwise::Clamp, "low", "high", {-kInfinity, kInfinity}},
    {"abs", Pointwise::Abs},
    {"sqrt", Pointwise::Sqrt},
    {"reciprocal", Pointwise::Reciprocal},
    {"power", Pointwise::Power, "exponent"},
    {"log", Pointwise::Log},
    {"softsign", Pointwise::Softsign},
    {"mish", Pointwise::Mish},
    {"hardswish", Pointwise::HardSwish},
    {"selu", Pointwise::Selu},
    {"celu", Pointwise::Celu, "alpha"},
    {"scale", Pointwise::Scale, "factor", "shift"},
    {"identity", Pointwise::Identity}};

class LocalPointwise final : public OneInputKernel {
public:
  explicit LocalPointwise(const PointwiseFunction& function) : function_(function) {}

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      pointwiseForward<T>(y.context(), function_, x.localElements(), x.data<T>(),
                          y.mutableData<T>());
    });
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    if (dx)
      scale(point, *dx, dy);
    else
      scaleArray(0, dy);
  }

  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      scale(point, dy, *dx);
  }

  bool runsOnDevice() const override { return true; }
  const PointwiseFunction* function() const override { return &function_; }
  std::string describe() const override { return "element by element"; }

private:
  // r = f'(x) v. The Jacobian is diagonal, so tangent and adjoint are the same.
  void scale(const KernelPoint& point, const DTensor& v, DTensor& r) {
    visitFloating(v.dataType(), [&]<class T>(T) {
      pointwiseDerivative<T>(
          r.context(), function_, v.localElements(), point.x ? point.x->data<T>() : nullptr,
          point.y ? point.y->data<T>() : nullptr, v.data<T>(), r.mutableData<T>());
    });
  }

  PointwiseFunction function_;
};

} // namespace

PointwiseFunction pointwiseFunction(const std::string& name, const Declaration& settings) {
  const auto valueOf = [&](const char* setting, double defaultValue) {
    return setting ? settings.settings().find<double>(setting).value_or(defaultValue)
                   : defaultValue;
  };
  for (const KnownFunction& entry : kKnownFunctions)
    if (name == entry.name)
      return {entry.function, valueOf(entry.parameter, entry.defaultValue[0]),
              valueOf(entry.second, entry.defaultValue[1])};
  throw Error(TENON_ERR_INTERNAL, fmt::format("the function '{}' has no kernel", name));
}

std::unique_ptr<LocalKernel> makePointwise(const PointwiseFunction& function) {
  return std::make_unique<LocalPointwise>(function);
}

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makePointwiseKernel(const KernelSite& at) {
  return makePointwise(pointwiseFunction(at.layer.declaration().type(), at.layer.declaration()));
}

} // namespace tenon
