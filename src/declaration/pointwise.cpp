// SPDX-License-Identifier: BSD-2-Clause
// A function of each element. A partial input of a nonlinear one must be summed first, since f(a + b)
// is not f(a) + f(b).
#include "declaration/declaration_types.hpp"
#include "declaration/elementwise.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kSlope[] = {
    {"slope", OptionSpec::Real, "0.01", "slope of leakyrelu for negative arguments"}};
constexpr OptionSpec kFactor[] = {{"factor", OptionSpec::Real, "1", "factor of scale"}};

struct Function {
  const char* name;
  int kept; // tensors that the derivative reads
  std::span<const OptionSpec> settings = {};
  bool isLinear = false;
};
constexpr Function kFunctions[] = {{"relu", 1},
                                   {"tanh", 1},
                                   {"sigmoid", 1},
                                   {"leakyrelu", 1, kSlope},
                                   {"gelu", 1},
                                   {"gelutanh", 1},
                                   {"silu", 1},
                                   {"softplus", 1},
                                   {"exp", 1},
                                   {"sine", 1},
                                   {"scale", 0, kFactor, true},
                                   {"identity", 0, {}, true}};

class PointwiseDeclaration final : public Elementwise {
public:
  explicit PointwiseDeclaration(const Function& function)
      : Elementwise(function.name, function.settings), function_(function) {}

  Work work(const Form& form, int position) const override {
    return {.keptCells = function_.kept * cells(form.uses[0].box(position))};
  }
  std::string summary() const override {
    if (function_.settings.empty())
      return {};
    const char* name = function_.settings.front().name;
    return fmt::format("{} {}", name, real(name));
  }
  Example example(ExampleDraw& draw) const override {
    Example example = Elementwise::example(draw);
    for (const OptionSpec& setting : function_.settings)
      example.settings.emplace_back(setting.name, function_.isLinear ? -1.5 : 0.25);
    return example;
  }

private:
  bool isLinear() const override { return function_.isLinear; }
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
  for (const Function& function : kFunctions)
    if (name == function.name)
      return std::make_unique<PointwiseDeclaration>(function);
  return nullptr;
}

} // namespace tenon
