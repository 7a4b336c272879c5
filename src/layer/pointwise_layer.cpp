// SPDX-License-Identifier: BSD-2-Clause
#include "layer/pointwise_layer.hpp"

#include "sys/options.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace tenon {

namespace {

// A parameter is a setting of that name; the others have none.
struct Known {
  Pointwise function;
  const char* name;
  const char* parameter = nullptr;
  double value = 0;
};
constexpr Known kKnown[] = {{Pointwise::Relu, "relu"},
                            {Pointwise::Tanh, "tanh"},
                            {Pointwise::Sigmoid, "sigmoid"},
                            {Pointwise::LeakyRelu, "leakyrelu", "slope", 0.01},
                            {Pointwise::Gelu, "gelu"},
                            {Pointwise::GeluTanh, "gelutanh"},
                            {Pointwise::Silu, "silu"},
                            {Pointwise::Softplus, "softplus"},
                            {Pointwise::Scale, "scale", "factor", 1},
                            {Pointwise::Identity, "identity"}};

constexpr OptionSpec kOptions[] = {
    {"slope", OptionSpec::Real, "0.01", "slope of leakyrelu for negative arguments"},
    {"factor", OptionSpec::Real, "1", "factor of scale"},
};
const OptionRegistration kRegistration{{"pointwise", kOptions}};

const Known& knownOf(Pointwise function) {
  for (const Known& entry : kKnown)
    if (entry.function == function)
      return entry;
  throw Error(TENON_ERR_INTERNAL,
              fmt::format("pointwise function {} has no name", static_cast<int>(function)));
}

class LocalPointwise final : public OneInputKernel {
public:
  LocalPointwise(const PointwiseFunction& function, Backend backend)
      : function_(function), backend_(backend) {}

  bool keepsInput() const override { return pointwiseReads(function_).x; }
  bool keepsOutput() const override { return pointwiseReads(function_).y; }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      pointwiseForward<T>(backend_, function_, x.localCells(), x.data<T>(), y.mutableData<T>());
    });
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    if (dx)
      return scale(point, *dx, dy);
    visitFloating(dy.dataType(),
                  [&]<class T>(T) { std::fill_n(dy.mutableData<T>(), dy.localCells(), T(0)); });
  }

  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      scale(point, dy, *dx);
  }

  std::string describe() const override { return fmt::format("backend {}", backendName(backend_)); }

private:
  // r = f'(x) v: the Jacobian is diagonal, so tangent and adjoint are one.
  void scale(const KernelPoint& point, const DTensor& v, DTensor& r) {
    visitFloating(v.dataType(), [&]<class T>(T) {
      pointwiseDerivative<T>(
          backend_, function_, v.localCells(), point.x ? point.x->data<T>() : nullptr,
          point.y ? point.y->data<T>() : nullptr, v.data<T>(), r.mutableData<T>());
    });
  }

  PointwiseFunction function_;
  Backend backend_;
};

} // namespace

std::vector<std::string> pointwiseNames() {
  std::vector<std::string> names;
  for (const Known& entry : kKnown)
    names.emplace_back(entry.name);
  return names;
}

Pointwise parsePointwise(const std::string& name) {
  for (const Known& entry : kKnown)
    if (name == entry.name)
      return entry.function;
  const std::vector<std::string> known = pointwiseNames();
  throw Error(
      TENON_ERR_TYPE,
      fmt::format("unknown pointwise function '{}'; the nearest is '{}', the functions are {}",
                  name, nearest(name, known), fmt::join(known, ", ")));
}

PointwiseLayer::PointwiseLayer(CommPtr comm, const PointwiseFunction& function)
    : KernelLayer(std::move(comm)), function_(function) {}

PointwiseLayer::PointwiseLayer(CommPtr comm, Pointwise function)
    : PointwiseLayer(std::move(comm), PointwiseFunction(function, knownOf(function).value)) {}

const char* PointwiseLayer::type() const noexcept {
  return knownOf(function_.kind).name;
}

void PointwiseLayer::setParameter(const std::string& name, double value) {
  checkBeforeSetUp("changing the parameter of the function");
  const Known& entry = knownOf(function_.kind);
  if (!entry.parameter || name != entry.parameter)
    throw Error(TENON_ERR_TYPE,
                fmt::format("{} has type {}, which does not have a {}", title(), entry.name, name));
  if (!std::isfinite(value))
    throw Error(TENON_ERR_ARG,
                fmt::format("the {} of {} is {}; it must be finite", name, title(), value));
  function_.parameter = value;
}

void PointwiseLayer::setFromOptions() {
  Layer::setFromOptions();
  const char* parameter = knownOf(function_.kind).parameter;
  if (!parameter)
    return;
  if (const auto value = options().findReal(prefix(), parameter))
    setParameter(parameter, *value);
}

std::string PointwiseLayer::ownSettings() const {
  const Known& entry = knownOf(function_.kind);
  return entry.parameter ? fmt::format("{} {}", entry.parameter, function_.parameter) : "";
}

KernelPlan PointwiseLayer::plan(const Layout& input) {
  const Layout plain = input.withoutMargins();
  const bool linear = function_.kind == Pointwise::Scale || function_.kind == Pointwise::Identity;
  Signature chosen(elementwiseTable(input.rank(), linear), input, signature(), title());
  std::vector<CutSource> same;
  for (int d = 0; d < input.rank(); ++d)
    same.push_back({&plain, d});
  const Layout use = makeLayout(input.shape(), input.meshPtr(), chosen.input(), same);
  const Backend asked = parseBackend(backend());
  const Backend resolved =
      visitFloating(dataType(), [&]<class T>(T) { return resolveBackend<T>(asked); });
  return {chosen, use, use, {}, {}, std::make_unique<LocalPointwise>(function_, resolved)};
}

} // namespace tenon
