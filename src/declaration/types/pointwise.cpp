// SPDX-License-Identifier: BSD-2-Clause
// Functions of each element, all in one table. A nonlinear one needs a partial input summed first,
// since f(a + b) is not f(a) + f(b). The table says what the derivative reads: a function that can
// be differentiated from its value keeps the output, which the next layer often keeps too, and its
// input can be given up.
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kSlope[] = {
    {"slope", OptionSpec::Real, "0.01", "slope of leakyrelu for negative arguments"}};
constexpr OptionSpec kAlpha[] = {
    {"alpha", OptionSpec::Real, "1", "value that elu approaches below, without its sign"}};
constexpr OptionSpec kFactor[] = {{"factor", OptionSpec::Real, "1", "factor of scale"}};

enum class Reads { Nothing, Argument, Value };

struct Function {
  const char* name;
  Reads reads; // what the derivative reads
  std::span<const OptionSpec> settings = {};
  bool isLinear = false;
};
constexpr Function kFunctions[] = {{"relu", Reads::Value},
                                   {"tanh", Reads::Value},
                                   {"sigmoid", Reads::Value},
                                   {"leakyrelu", Reads::Argument, kSlope},
                                   {"elu", Reads::Argument, kAlpha},
                                   {"gelu", Reads::Argument},
                                   {"gelutanh", Reads::Argument},
                                   {"silu", Reads::Argument},
                                   {"softplus", Reads::Argument},
                                   {"exp", Reads::Value},
                                   {"sine", Reads::Argument},
                                   {"scale", Reads::Nothing, kFactor, true},
                                   {"identity", Reads::Nothing, {}, true}};

class PointwiseDeclaration final : public Elementwise {
public:
  explicit PointwiseDeclaration(const Function& function)
      : Elementwise(function.name, function.settings), function_(function) {}

  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .keepsInputs = function_.reads == Reads::Argument,
            .keepsOutput = function_.reads == Reads::Value};
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
