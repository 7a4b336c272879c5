// SPDX-License-Identifier: BSD-2-Clause
// Constant folding: an operation whose inputs are all known constants (training does not change
// them) is computed at import, in float64, and its result is a constant instead of a layer. Results
// of integers remain integers, because they are used as sizes and indices. The methods are members
// of ModelBuilder and are called by unary(), binary(), where(), reduce() and matmul(); fold(x)
// returns the numbers of a constant, read from the file if necessary. Class ModelBuilder is in
// model_builder.hpp.
//
// Each constant also has a mark isFixed(): no tensor from which it was computed is a parameter, so
// a layer with it as a weight is frozen. It is passed on by .fixed(...).
#include "import/canonical/model_builder.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace tenon {

namespace {

using Function = double (*)(double);

// The functions of one number by their names in the canonical graph.

const std::map<std::string, Function>& foldedFunctions() {
  static const std::map<std::string, Function> functions = {
      {"sqrt", [](double a) { return std::sqrt(a); }},
      {"exp", [](double a) { return std::exp(a); }},
      {"neg", [](double a) { return -a; }},
      {"reciprocal", [](double a) { return 1 / a; }},
      {"abs", [](double a) { return std::abs(a); }},
      {"floor", [](double a) { return std::floor(a); }},
      {"ceil", [](double a) { return std::ceil(a); }},
      {"not", [](double a) { return double(a == 0); }},
      {"log", [](double a) { return std::log(a); }},
      {"sine", [](double a) { return std::sin(a); }},
      {"cosine", [](double a) { return std::cos(a); }},
      {"erf", [](double a) { return std::erf(a); }},
      {"round", [](double a) { return std::nearbyint(a); }},
      {"tan", [](double a) { return std::tan(a); }},
      {"asin", [](double a) { return std::asin(a); }},
      {"acos", [](double a) { return std::acos(a); }},
      {"atan", [](double a) { return std::atan(a); }},
      {"sinh", [](double a) { return std::sinh(a); }},
      {"cosh", [](double a) { return std::cosh(a); }},
      {"asinh", [](double a) { return std::asinh(a); }},
      {"acosh", [](double a) { return std::acosh(a); }},
      {"atanh", [](double a) { return std::atanh(a); }},
      {"silu", [](double a) { return a / (1 + std::exp(-a)); }},
      {"softplus", [](double a) { return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a))); }},
      {"relu", [](double a) { return std::max(a, 0.0); }},
      {"sigmoid", [](double a) { return 1 / (1 + std::exp(-a)); }},
      {"tanh", [](double a) { return std::tanh(a); }}};
  return functions;
}

using Operation = double (*)(double, double);

// The operations of two numbers. Truth values are the numbers 1 and 0.

const std::map<std::string, Operation>& foldedOperations() {
  static const std::map<std::string, Operation> operations = {
      {"add", [](double a, double b) { return a + b; }},
      {"sub", [](double a, double b) { return a - b; }},
      {"mul", [](double a, double b) { return a * b; }},
      {"div", [](double a, double b) { return a / b; }},
      {"truediv", [](double a, double b) { return a / b; }},
      {"floordiv", [](double a, double b) { return std::floor(a / b); }},
      {"truncdiv", [](double a, double b) { return std::trunc(a / b); }},
      {"pow", [](double a, double b) { return std::pow(a, b); }},
      {"mod", [](double a, double b) { return a - b * std::floor(a / b); }},
      {"fmod", [](double a, double b) { return std::fmod(a, b); }},
      {"max", [](double a, double b) { return a > b || std::isnan(a) ? a : b; }},
      {"min", [](double a, double b) { return a < b || std::isnan(a) ? a : b; }},
      {"gt", [](double a, double b) { return double(a > b); }},
      {"lt", [](double a, double b) { return double(a < b); }},
      {"ge", [](double a, double b) { return double(a >= b); }},
      {"le", [](double a, double b) { return double(a <= b); }},
      {"eq", [](double a, double b) { return double(a == b); }},
      {"ne", [](double a, double b) { return double(a != b); }},
      {"or", [](double a, double b) { return double(a != 0 || b != 0); }},
      {"and", [](double a, double b) { return double(a != 0 && b != 0); }}};
  return operations;
}

// Throws unless each constant has one number per element of the shape.
void checkFolded(std::initializer_list<const ModelConstant*> constants, const Shape& shape) {
  for (const ModelConstant* constant : constants)
    if (!constant->isNumbers() || static_cast<Index>(constant->numbers().size()) != elements(shape))
      throw Error(TENON_ERR_INTERNAL,
                  fmt::format("{} numbers are computed with as [{}]", constant->numbers().size(),
                              fmt::join(shape, ",")));
}

} // namespace

ModelBuilder::Value
ModelBuilder::foldedUnary(const std::string& function, Value x,
                          const std::vector<std::pair<std::string, double>>& parameters) {
  ModelConstant source = fold(x);
  std::vector<double> numbers = source.numbers();
  // The only function with parameters.
  if (function == "clamp") {
    for (const auto& [name, bound] : parameters)
      for (double& number : numbers)
        number = name == "low" ? std::max(number, bound) : std::min(number, bound);
    return constant(ModelConstant::ofNumbers(x->shape, std::move(numbers), source.isInteger())
                        .fixed(source.isFixed()));
  }
  const auto found = foldedFunctions().find(function);
  if (found == foldedFunctions().end())
    return refuse(fmt::format("the function {} of a constant", function), "its values", x->shape);
  std::transform(numbers.begin(), numbers.end(), numbers.begin(), found->second);
  // Most functions of integers have real results.
  static const std::set<std::string, std::less<>> keepIntegers = {"abs", "ceil", "floor", "neg",
                                                                  "not", "relu", "round"};
  return constant(ModelConstant::ofNumbers(x->shape, std::move(numbers),
                                           source.isInteger() && keepIntegers.contains(function))
                      .fixed(source.isFixed()));
}

ModelBuilder::Value ModelBuilder::foldedBinary(const std::string& function, Value a, Value b) {
  const Shape shape = broadcast(a->shape, b->shape);
  const ModelConstant p = fold(expand(a, shape)), q = fold(expand(b, shape));
  checkFolded({&p, &q}, shape);
  const bool areIntegers = p.isInteger() && q.isInteger() && function != "truediv";
  const auto found =
      foldedOperations().find(areIntegers && function == "div" ? "floordiv" : function);
  check(found != foldedOperations().end(), "it is an operation that constants do not have");
  std::vector<double> numbers = p.numbers();
  std::transform(numbers.begin(), numbers.end(), q.numbers().begin(), numbers.begin(),
                 found->second);
  return constant(ModelConstant::ofNumbers(shape, std::move(numbers), areIntegers)
                      .fixed(p.isFixed() && q.isFixed()));
}

// Selects between two constants; all three have the same shape.
ModelBuilder::Value ModelBuilder::foldedWhere(Value condition, Value a, Value b) {
  const ModelConstant c = fold(condition), p = fold(a), q = fold(b);
  checkFolded({&c, &p, &q}, condition->shape);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < c.numbers().size(); ++i)
    numbers.push_back(c.numbers()[i] != 0 ? p.numbers()[i] : q.numbers()[i]);
  return constant(ModelConstant::ofNumbers(condition->shape, std::move(numbers), p.isInteger())
                      .fixed(c.isFixed() && p.isFixed() && q.isFixed()));
}

ModelBuilder::Value ModelBuilder::foldedReduction(const std::string& method, Value x,
                                                  const Shape& reducedShape, const Shape& shape) {
  spend(elements(x->shape));
  const ModelConstant source = fold(x);
  checkFolded({&source}, x->shape);
  const auto count = static_cast<double>(source.elements()) /
                     static_cast<double>(std::max(elements(reducedShape), Index(1)));
  const bool isExtreme = method == "max" || method == "min";
  // A maximum of no elements is undefined; a sum is 0.
  if (isExtreme && source.elements() == 0)
    return refuse(fmt::format("the {} of nothing", method), "at least one element", shape);
  const auto found = foldedOperations().find(isExtreme             ? method
                                             : method == "product" ? "mul"
                                                                   : "add");
  const double neutral = method == "product" ? 1
                         : method == "max"   ? -std::numeric_limits<double>::infinity()
                         : method == "min"   ? std::numeric_limits<double>::infinity()
                                             : 0;
  std::vector<double> numbers(static_cast<std::size_t>(elements(reducedShape)), neutral);
  forEachPlace(source.shape(), [&](const std::vector<Index>& index, Index place) {
    Index target = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      target = target * reducedShape[d] + (reducedShape[d] == 1 ? 0 : index[d]);
    double& partial = numbers[static_cast<std::size_t>(target)];
    partial = found->second(partial, source.numbers()[static_cast<std::size_t>(place)]);
  });
  if (method == "mean")
    for (double& number : numbers)
      number /= count;
  return constant(
      ModelConstant::ofNumbers(shape, std::move(numbers), source.isInteger() && method != "mean")
          .fixed(source.isFixed()));
}

ModelBuilder::Value ModelBuilder::foldedMatmul(Value a, Value b) {
  const Index rows = a->shape[0], inner = a->shape[1], columns = b->shape[1];
  for (const Index extent : {rows, inner, columns})
    spend(extent); // throws for a large extent, so the products below cannot overflow
  spend(rows * columns);
  spend(rows * columns * inner);
  const ModelConstant p = fold(a), q = fold(b);
  checkFolded({&p}, {rows, inner});
  checkFolded({&q}, {inner, columns});
  std::vector<double> numbers(static_cast<std::size_t>(rows * columns), 0);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < inner; ++k)
      for (Index j = 0; j < columns; ++j)
        numbers[static_cast<std::size_t>(i * columns + j)] +=
            p.numbers()[static_cast<std::size_t>(i * inner + k)] *
            q.numbers()[static_cast<std::size_t>(k * columns + j)];
  return constant(ModelConstant::ofNumbers({rows, columns}, std::move(numbers))
                      .fixed(p.isFixed() && q.isFixed()));
}

} // namespace tenon
