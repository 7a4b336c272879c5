// SPDX-License-Identifier: BSD-2-Clause
#include "layer/pointwise_layer.hpp"

#include "sys/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

struct Name {
  Pointwise function;
  const char* name;
};
constexpr Name kNames[] = {
    {Pointwise::Relu, "relu"}, {Pointwise::Tanh, "tanh"}, {Pointwise::Sigmoid, "sigmoid"}};

class LocalPointwise final : public LocalKernel {
public:
  LocalPointwise(Pointwise function, Backend backend) : function_(function), backend_(backend) {}

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

  std::string describe() const override { return backendName(backend_); }

private:
  // r = f'(x) v: the Jacobian is diagonal, so tangent and adjoint are one.
  void scale(const KernelPoint& point, const DTensor& v, DTensor& r) {
    visitFloating(v.dataType(), [&]<class T>(T) {
      pointwiseDerivative<T>(
          backend_, function_, v.localCells(), point.x ? point.x->data<T>() : nullptr,
          point.y ? point.y->data<T>() : nullptr, v.data<T>(), r.mutableData<T>());
    });
  }

  Pointwise function_;
  Backend backend_;
};

} // namespace

Pointwise parsePointwise(const std::string& name) {
  std::vector<std::string> known;
  for (const Name& entry : kNames) {
    if (name == entry.name)
      return entry.function;
    known.emplace_back(entry.name);
  }
  throw Error(TENON_ERR_TYPE, fmt::format("'{}' is no pointwise function; the nearest is '{}', and "
                                          "there are relu, tanh and sigmoid",
                                          name, nearest(name, known)));
}

PointwiseLayer::PointwiseLayer(CommPtr comm, Pointwise function)
    : KernelLayer(std::move(comm)), function_(function) {}

const char* PointwiseLayer::type() const noexcept {
  for (const Name& entry : kNames)
    if (entry.function == function_)
      return entry.name;
  return "pointwise";
}

KernelPlan PointwiseLayer::plan(const Layout& input) {
  const Layout plain = input.withoutMargins();
  Signature chosen(elementwiseTable(input.rank(), false), input.properties(), signature(), title());
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
