// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic of elements, and the functions that exporters spell out in several operators, which
// become one again: so that the layers of the network are those that its author wrote. A pattern
// that is not met exactly stays what it is.
#include "import/model_builder.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace tenon {

namespace {

// A constant that stands for a number like sqrt(2) may have been rounded to float32.
constexpr double kRounded = 1e-7;

using Function = double (*)(double);
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
      {"silu", [](double a) { return a / (1 + std::exp(-a)); }},
      {"softplus", [](double a) { return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a))); }},
      {"relu", [](double a) { return std::max(a, 0.0); }},
      {"sigmoid", [](double a) { return 1 / (1 + std::exp(-a)); }},
      {"tanh", [](double a) { return std::tanh(a); }}};
  return functions;
}

using Operation = double (*)(double, double);
const std::map<std::string, Operation>& foldedOperations() {
  static const std::map<std::string, Operation> operations = {
      {"add", [](double a, double b) { return a + b; }},
      {"sub", [](double a, double b) { return a - b; }},
      {"mul", [](double a, double b) { return a * b; }},
      {"div", [](double a, double b) { return a / b; }},
      {"truediv", [](double a, double b) { return a / b; }},
      {"floordiv", [](double a, double b) { return std::floor(a / b); }},
      {"pow", [](double a, double b) { return std::pow(a, b); }},
      {"mod", [](double a, double b) { return a - b * std::floor(a / b); }},
      {"max", [](double a, double b) { return std::max(a, b); }},
      {"min", [](double a, double b) { return std::min(a, b); }},
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

std::vector<double> each(std::vector<double> a, const std::vector<double>& b, Operation f) {
  const std::size_t count = std::max(a.size(), b.size());
  std::vector<double> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  return made;
}
std::vector<double> products(const std::vector<double>& a, const std::vector<double>& b) {
  return each(a, b, [](double p, double q) { return p * q; });
}
std::vector<double> sums(const std::vector<double>& a, const std::vector<double>& b) {
  return each(a, b, [](double p, double q) { return p + q; });
}
bool areAll(const std::vector<double>& numbers, double value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](double n) { return n == value; });
}

// x = scale value + shift by numbers: the value, scale and shift; (x, 1, 0) where it is none.
struct Stem {
  const ModelValue* value;
  double scale = 1, shift = 0;
};
Stem stemOf(const ModelValue* x) {
  if (x->op == ModelOp::Affine && x->dim < 0)
    return {x->inputs[0], x->scale[0], x->shift[0]};
  return {x};
}

bool isFunction(const ModelValue* x, const char* function) {
  return x->op == ModelOp::Unary && x->function == function;
}

} // namespace

bool ModelBuilder::isFilledWith(Value value, double number) const {
  return value->isConstant() && areAll(fold(value).numbers(), number);
}

ModelBuilder::Value ModelBuilder::unary(const std::string& function, Value x,
                                        std::vector<std::pair<std::string, double>> parameters) {
  if (function == "identity")
    return x;
  if (x->isConstant()) {
    ModelConstant source = fold(x);
    std::vector<double> numbers = source.numbers();
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
    // Of integers most functions are real.
    static const std::set<std::string, std::less<>> whole = {"abs", "ceil", "floor",
                                                             "neg", "not",  "relu"};
    return constant(ModelConstant::ofNumbers(x->shape, std::move(numbers),
                                             source.isInteger() && whole.contains(function))
                        .fixed(source.isFixed()));
  }
  if (function == "neg")
    return affine(x, {-1}, {0});
  if (function == "not") // of what a comparison gives
    return affine(x, {-1}, {1});
  ModelValue* made = make(ModelOp::Unary, {x}, x->shape);
  made->function = function;
  made->parameters = std::move(parameters);
  return made;
}

ModelBuilder::Value ModelBuilder::affine(Value x, std::vector<double> scale,
                                         std::vector<double> shift, int dim) {
  // What is trained stays a value.
  if (x->isConstant() && !x->constant->isTrained() && dim < 0) {
    std::vector<double> numbers = fold(x).numbers();
    for (double& number : numbers)
      number = scale[0] * number + shift[0];
    return constant(
        ModelConstant::ofNumbers(x->shape, std::move(numbers)).fixed(x->constant->isFixed()));
  }
  // A chain becomes one.
  if (x->op == ModelOp::Affine && (dim < 0 || x->dim < 0 || x->dim == dim)) {
    shift = sums(products(scale, x->shift), shift);
    scale = products(scale, x->scale);
    dim = dim < 0 ? x->dim : dim;
    x = x->inputs[0];
  }
  if (areAll(scale, 1) && areAll(shift, 0))
    return x;
  ModelValue* made = make(ModelOp::Affine, {x}, x->shape);
  made->scale = std::move(scale);
  made->shift = std::move(shift);
  made->dim = dim;
  return made;
}

ModelBuilder::Value ModelBuilder::foldedBinary(const std::string& function, Value a, Value b) {
  const Shape shape = broadcast(a->shape, b->shape);
  const ModelConstant p = fold(expand(a, shape)), q = fold(expand(b, shape));
  const bool areIntegers = p.isInteger() && q.isInteger() && function != "truediv";
  const auto found =
      foldedOperations().find(areIntegers && function == "div" ? "floordiv" : function);
  check(found != foldedOperations().end(), "it is an operation that constants do not have");
  return constant(
      ModelConstant::ofNumbers(shape, each(p.numbers(), q.numbers(), found->second), areIntegers)
          .fixed(p.isFixed() && q.isFixed()));
}

ModelBuilder::Value ModelBuilder::foldedReduction(const std::string& method, Value x,
                                                  const Shape& kept, const Shape& shape) {
  spend(elements(x->shape));
  const ModelConstant source = fold(x);
  const auto count = static_cast<double>(source.elements()) /
                     static_cast<double>(std::max(elements(kept), Index(1)));
  const bool isExtreme = method == "max" || method == "min";
  if (isExtreme && source.elements() == 0)
    return refuse(fmt::format("the {} of nothing", method), "at least one element", shape);
  const auto found = foldedOperations().find(isExtreme             ? method
                                             : method == "product" ? "mul"
                                                                   : "add");
  const double first = method == "product" ? 1
                       : method == "max"   ? -std::numeric_limits<double>::infinity()
                       : method == "min"   ? std::numeric_limits<double>::infinity()
                                           : 0;
  std::vector<double> numbers(static_cast<std::size_t>(elements(kept)), first);
  forEachPlace(source.shape(), [&](const std::vector<Index>& index, Index place) {
    Index to = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      to = to * kept[d] + (kept[d] == 1 ? 0 : index[d]);
    double& sum = numbers[static_cast<std::size_t>(to)];
    sum = found->second(sum, source.numbers()[static_cast<std::size_t>(place)]);
  });
  if (method == "mean")
    for (double& number : numbers)
      number /= count;
  return constant(
      ModelConstant::ofNumbers(shape, std::move(numbers), source.isInteger() && method != "mean")
          .fixed(source.isFixed()));
}

// The factors and the terms behind a norm without weights are its weights.
ModelBuilder::Value ModelBuilder::weightedNorm(const std::string& function, Value x, Value c) {
  const int dim = 1 - (x->rank() - c->rank());
  if (x->op != ModelOp::GroupNorm || dim < 0 || c->rank() <= dim ||
      c->shape[static_cast<std::size_t>(dim)] != x->shape[1] || elements(c->shape) != x->shape[1])
    return nullptr;
  const bool isPlain = x->inputs.size() == 1;
  const auto isFilled = [&](std::size_t i, double number) {
    return isPlain ||
           (x->inputs[i]->constant->name().empty() && isFilledWith(x->inputs[i], number));
  };
  const bool isFactor = function == "mul";
  if (!isFilled(2, 0) || (isFactor ? !isFilled(1, 1) : function != "add"))
    return nullptr;
  const auto filled = [&](double number) {
    return constant(ModelConstant::ofNumbers(
        {x->shape[1]}, std::vector<double>(static_cast<std::size_t>(x->shape[1]), number)));
  };
  const Value own = reshape(c, {x->shape[1]}), weight = isPlain ? filled(1) : x->inputs[1];
  ModelValue* made =
      make(ModelOp::GroupNorm, {x->inputs[0], isFactor ? own : weight, isFactor ? filled(0) : own},
           x->shape);
  made->groups = x->groups;
  made->epsilon = x->epsilon;
  return made;
}

// f(x, c) as scale x + shift, where the constant is a number or has one for each index of a dimension.
ModelBuilder::Value ModelBuilder::asAffine(const std::string& function, Value x, Value c) {
  if (broadcast(x->shape, c->shape) != x->shape)
    return nullptr;
  int dim = -1;
  const int extra = x->rank() - c->rank();
  for (int d = 0; d < c->rank(); ++d) {
    if (c->shape[static_cast<std::size_t>(d)] == 1)
      continue;
    if (dim >= 0)
      return nullptr;
    dim = d + extra;
  }
  const std::vector<double> numbers = fold(c).numbers();
  // What is trained stays a value of its own.
  if (numbers.empty() || c->constant->isTrained())
    return nullptr;
  const auto changed = [&](Function f) {
    std::vector<double> made = numbers;
    std::transform(made.begin(), made.end(), made.begin(), f);
    return made;
  };
  if (function == "add")
    return affine(x, {1}, numbers, dim);
  if (function == "sub")
    return affine(x, {1}, changed([](double n) { return -n; }), dim);
  if (function == "mul")
    return affine(x, numbers, {0}, dim);
  return affine(x, changed([](double n) { return 1 / n; }), {0}, dim);
}

// What is enlarged for an operation that enlarges its inputs itself.
ModelBuilder::Value ModelBuilder::withoutExpansion(Value x) {
  return x->op == ModelOp::Expand ? x->inputs[0] : x;
}

ModelBuilder::Value ModelBuilder::binary(const std::string& function, Value a, Value b) {
  if (a->isConstant() && b->isConstant())
    return foldedBinary(function, a, b);
  if (function == "truediv")
    return binary("div", a, b);
  const Shape shape = broadcast(a->shape, b->shape);
  for (Value* value : {&a, &b}) {
    const Value small = withoutExpansion(*value), other = value == &a ? b : a;
    if (broadcast(small->shape, other->shape) == shape)
      *value = small;
  }
  const bool commutes = function == "add" || function == "mul";
  if (commutes && a->isConstant())
    std::swap(a, b);
  // A bias that follows a product.
  if (function == "add")
    for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)})
      if (p->op == ModelOp::Linear && p->inputs.size() == 2 && q->isConstant() &&
          q->shape == Shape{p->shape.back()})
        return linear(p->inputs[0], p->inputs[1], q);
  if (b->isConstant())
    if (const Value made = weightedNorm(function, a, b))
      return made;
  if (b->isConstant() && (commutes || function == "sub" || function == "div"))
    if (const Value made = asAffine(function, a, b))
      return made;
  if (a->isConstant() && function == "sub")
    return binary("add", affine(b, {-1}, {0}), a);
  if (a->isConstant() && function == "div")
    return binary("mul", unary("reciprocal", b), a);
  if (function == "mul") {
    for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)}) {
      if (const Value made = gelu(p, q))
        return made;
      if (isFunction(q, "sigmoid") && q->inputs[0] == p)
        return unary("silu", p);
    }
    return make(ModelOp::Multiply, {a, b}, shape);
  }
  if (function == "div") {
    if (const Value made = decomposedNorm(a, b))
      return made;
    if (const Value made = softsign(a, b))
      return made;
    return make(ModelOp::Divide, {a, b}, shape);
  }
  if (function == "add")
    return make(ModelOp::Add, {a, b}, shape);
  if (function == "sub")
    return make(ModelOp::Subtract, {a, b}, shape);
  if (function == "pow" && b->isConstant() && elements(b->shape) == 1) {
    const double power = fold(b).numbers()[0];
    const auto times = [&](Value p, Value q) { return make(ModelOp::Multiply, {p, q}, p->shape); };
    if (power == 1)
      return a;
    if (power == 2)
      return times(a, a);
    if (power == 3)
      return times(times(a, a), a);
    if (power == 0.5)
      return unary("sqrt", a);
    if (power == -1)
      return unary("reciprocal", a);
    return unary("power", a, {{"exponent", power}});
  }
  if (function == "pow" && a->isConstant() && elements(a->shape) == 1)
    if (const double base = fold(a).numbers()[0]; base > 0)
      return unary("exp", affine(b, {std::log(base)}, {0}));
  if (function == "max" || function == "min") {
    if (a->isConstant())
      std::swap(a, b);
    const bool isMaximum = function == "max";
    if (b->isConstant() && elements(b->shape) == 1 && broadcast(a->shape, b->shape) == a->shape)
      return unary("clamp", a, {{isMaximum ? "low" : "high", fold(b).numbers()[0]}});
    return where(compare(isMaximum ? "ge" : "le", a, b), a, b);
  }
  return refuse(fmt::format("the operation {} of two tensors", function),
                "sums, differences, products and quotients", shape);
}

ModelBuilder::Value ModelBuilder::compare(const std::string& function, Value a, Value b) {
  if (a->isConstant() && b->isConstant())
    return foldedBinary(function, a, b);
  // Of 0 and 1.
  if (function == "and")
    return binary("mul", a, b);
  if (function == "or")
    return unary("not", binary("mul", unary("not", a), unary("not", b)));
  static const std::map<std::string, std::string> relations = {
      {"gt", "greater"},    {"ge", "greater_equal"}, {"lt", "less"},
      {"le", "less_equal"}, {"eq", "equal"},         {"ne", "not_equal"}};
  const auto found = relations.find(function);
  check(found != relations.end(), "its relation is not known");
  ModelValue* made = make(ModelOp::Compare, {a, b}, broadcast(a->shape, b->shape));
  made->function = found->second;
  return made;
}

ModelBuilder::Value ModelBuilder::sign(Value x) {
  return binary("sub", compare("gt", x, number(0)), compare("lt", x, number(0)));
}

ModelBuilder::Value ModelBuilder::where(Value condition, Value a, Value b) {
  const Shape shape = broadcast(condition->shape, broadcast(a->shape, b->shape));
  if (condition->isConstant() && a->isConstant() && b->isConstant()) {
    const ModelConstant c = fold(expand(condition, shape)), p = fold(expand(a, shape)),
                        q = fold(expand(b, shape));
    std::vector<double> numbers;
    for (std::size_t i = 0; i < c.numbers().size(); ++i)
      numbers.push_back(c.numbers()[i] != 0 ? p.numbers()[i] : q.numbers()[i]);
    return constant(ModelConstant::ofNumbers(shape, std::move(numbers), p.isInteger())
                        .fixed(c.isFixed() && p.isFixed() && q.isFixed()));
  }
  // Softplus with its threshold.
  for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)})
    if (isFunction(q, "softplus") && q->inputs[0] == p)
      return q;
  return make(ModelOp::Where, {condition, a, b}, shape);
}

ModelBuilder::Value ModelBuilder::prelu(Value x, Value slope) {
  check(x->rank() >= 2, "a prelu needs an input [batch, channels, ...]");
  check(slope->isConstant() &&
            (elements(slope->shape) == 1 || elements(slope->shape) == x->shape[1]),
        "a prelu needs one slope, or one for each channel");
  return make(ModelOp::PRelu, {x, slope}, x->shape);
}

// p = a x and q = s erf(x / sqrt 2) + s.
ModelBuilder::Value ModelBuilder::gelu(Value p, Value q) {
  const Stem e = stemOf(q);
  if (!isFunction(e.value, "erf") || e.scale != e.shift)
    return nullptr;
  const Stem argument = stemOf(e.value->inputs[0]), factor = stemOf(p);
  if (factor.value != argument.value || argument.shift != 0 || factor.shift != 0 ||
      std::abs(argument.scale - std::sqrt(0.5)) > kRounded)
    return nullptr;
  return affine(unary("gelu", argument.value), {2 * e.scale * factor.scale}, {0});
}

// x / (1 + |x|).
ModelBuilder::Value ModelBuilder::softsign(Value x, Value divisor) {
  const Stem stem = stemOf(divisor);
  return isFunction(stem.value, "abs") && stem.scale == 1 && stem.shift == 1 &&
                 stem.value->inputs[0] == x
             ? unary("softsign", x)
             : nullptr;
}

// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) over one dimension.
ModelBuilder::Value ModelBuilder::decomposedNorm(Value difference, Value deviation) {
  if (difference->op != ModelOp::Subtract || !isFunction(deviation, "sqrt"))
    return nullptr;
  const Value x = difference->inputs[0], mean = difference->inputs[1];
  const Stem variance = stemOf(deviation->inputs[0]);
  const auto isMean = [](Value value) {
    return value->op == ModelOp::Reduce && value->function == "mean";
  };
  if (!isMean(mean) || mean->inputs[0] != x || mean->dims.size() != 1 || !isMean(variance.value) ||
      variance.value->dims != mean->dims || variance.scale != 1)
    return nullptr;
  const Value square = variance.value->inputs[0];
  if (square->op != ModelOp::Multiply || square->inputs[0] != square->inputs[1])
    return nullptr;
  const Value d = square->inputs[0];
  if (d->op != ModelOp::Subtract || d->inputs != difference->inputs)
    return nullptr;
  ModelValue* made = make(ModelOp::DimensionNorm, {x}, x->shape);
  made->dim = mean->dims[0];
  made->epsilon = variance.shift;
  return made;
}

// Zeros before and behind one value.
ModelBuilder::Value ModelBuilder::paddedByZeros(const ModelValues& values, int dim) {
  const auto d = static_cast<std::size_t>(dim);
  const auto isOther = [](Value value) { return value->op != ModelOp::Zeros; };
  const auto one = std::find_if(values.begin(), values.end(), isOther);
  const auto all = [&](auto first, auto last) {
    return std::accumulate(first, last, Index(0),
                           [&](Index sum, Value value) { return sum + value->shape[d]; });
  };
  if (one == values.end()) {
    Shape shape = values[0]->shape;
    shape[d] = all(values.begin(), values.end());
    return zeros(shape);
  }
  if (std::count_if(values.begin(), values.end(), isOther) != 1)
    return nullptr;
  return pad(*one, dim, all(values.begin(), one), all(one + 1, values.end()), "values");
}

// Periodic padding as a concatenation: [end of x, x, begin of x].
ModelBuilder::Value ModelBuilder::foldedPadding(const ModelValues& values, int dim) {
  if (values.size() > 3)
    return nullptr;
  const auto d = static_cast<std::size_t>(dim);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value base = values[i];
    const Index n = base->shape[d];
    const auto isPart = [&](std::size_t at, bool isEnd) {
      const Value part = values[at];
      const Index m = part->shape[d];
      return part->op == ModelOp::Slice && part->inputs[0] == base && part->dim == dim &&
             part->step == 1 && part->begin == (isEnd ? n - m : 0) && part->end == part->begin + m;
    };
    if (i > 1 || values.size() - i > 2)
      continue;
    if ((i == 1 && !isPart(0, true)) || (i + 1 < values.size() && !isPart(i + 1, false)))
      continue;
    return pad(base, dim, i == 1 ? values[0]->shape[d] : 0,
               i + 1 < values.size() ? values[i + 1]->shape[d] : 0, "periodic");
  }
  return nullptr;
}

// Two slices that change places.
ModelBuilder::Value ModelBuilder::foldedRoll(const ModelValues& values, int dim) {
  if (values.size() != 2)
    return nullptr;
  const Value end = values[0], begin = values[1];
  for (const Value part : {end, begin})
    if (part->op != ModelOp::Slice || part->dim != dim || part->step != 1 ||
        part->inputs[0] != end->inputs[0])
      return nullptr;
  const Value base = end->inputs[0];
  const Index n = base->shape[static_cast<std::size_t>(dim)];
  return begin->begin == 0 && begin->end == end->begin && end->end == n
             ? roll(base, dim, n - end->begin)
             : nullptr;
}

ModelBuilder::Value ModelBuilder::fourier(Value x, std::size_t dims, const std::string& norm) {
  check(dims >= 1 && dims <= 3 && static_cast<std::size_t>(x->rank()) == dims + 2,
        "a Fourier transform needs an input [batch, channels, space...] and all of its space");
  Shape shape = x->shape;
  shape.back() = shape.back() / 2 + 1;
  ModelValue* made = make(ModelOp::Fourier, {x}, shape);
  made->function = norm;
  return made;
}

ModelBuilder::Value ModelBuilder::complex(Value pairs) {
  check(pairs->rank() >= 1 && pairs->shape.back() == 2, "a complex tensor needs pairs of numbers");
  return make(ModelOp::Complex, {pairs}, {pairs->shape.begin(), pairs->shape.end() - 1});
}

ModelBuilder::Value ModelBuilder::modes(Value coefficients, Value weight) {
  check(coefficients->rank() >= 3 && weight->rank() == coefficients->rank() &&
            weight->shape[0] == coefficients->shape[1],
        "a product of modes needs coefficients [n, i, k...] and a weight [i, o, k...]");
  Shape shape = coefficients->shape;
  shape[1] = weight->shape[1];
  return make(ModelOp::Modes, {coefficients, weight}, shape);
}

namespace {

// Where a chain of slices begins and ends in each dimension of what it slices; none with a step.
std::optional<Box> blockOf(const ModelValue* part) {
  if (part->op != ModelOp::Slice) {
    Box box;
    for (const Index extent : part->shape)
      box.push_back({0, extent});
    return box;
  }
  auto box = blockOf(part->inputs[0]);
  if (!box || part->step != 1)
    return std::nullopt;
  Interval& side = (*box)[static_cast<std::size_t>(part->dim)];
  side = {side.begin + part->begin, side.begin + part->end};
  return box;
}

const ModelValue* baseOf(const ModelValue* part) {
  return part->op == ModelOp::Slice ? baseOf(part->inputs[0]) : part;
}

} // namespace

bool ModelBuilder::findProducts(Value z, std::vector<Index> begin,
                                std::vector<Placed>& found) const {
  constexpr std::size_t kMostProducts = 8;
  if (z->op == ModelOp::Zeros || (z->isConstant() && isFilledWith(z, 0)))
    return true;
  if (z->op == ModelOp::Modes && found.size() < kMostProducts) {
    Box box;
    for (std::size_t d = 0; d < begin.size(); ++d)
      box.push_back({begin[d], begin[d] + z->shape[d]});
    found.push_back({box, z});
    return true;
  }
  const auto d = static_cast<std::size_t>(z->dim);
  if (z->op == ModelOp::Pad && z->modes[0] == "values" && *z->padValue == 0) {
    begin[d] += z->low[0];
    return findProducts(z->inputs[0], begin, found);
  }
  if (z->op != ModelOp::Concatenate)
    return false;
  for (const Value piece : z->inputs) {
    if (!findProducts(piece, begin, found))
      return false;
    begin[d] += piece->shape[d];
  }
  return true;
}

// The inverse transform of products of the lowest modes, of both signs in all dimensions but the last, and zeros.
ModelBuilder::Value ModelBuilder::inverseFourier(Value z, const std::vector<Index>& size,
                                                 const std::string& norm) {
  check(!size.empty() && static_cast<std::size_t>(z->rank()) == size.size() + 2,
        "an inverse Fourier transform needs a size for each dimension of space");
  Shape shape = {z->shape[0], z->shape[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  const std::size_t signs = size.size() - 1;
  const auto refused = [&] {
    return refuse(
        "an inverse Fourier transform that is not that of a spectral convolution",
        "the products of the lowest modes of both signs, as in the Fourier neural operator", shape);
  };
  std::vector<Placed> products;
  if (!findProducts(z, std::vector<Index>(z->shape.size(), 0), products) ||
      products.size() != std::size_t(1) << signs)
    return refused();
  const ModelValue* source = nullptr;
  ModelValues weights(products.size(),
                      nullptr); // bit s of the place: the negative modes of dimension s
  std::vector<Index> counts;
  for (const auto& [to, product] : products) {
    if (product->inputs[1]->op != ModelOp::Complex || !product->inputs[1]->inputs[0]->isConstant())
      return refused();
    const Value read = product->inputs[0], spectrum = baseOf(read);
    const auto from = blockOf(read);
    if (spectrum->op != ModelOp::Fourier || spectrum->function != norm ||
        spectrum->rank() != z->rank() || !from || (source && source != spectrum->inputs[0]))
      return refused();
    source = spectrum->inputs[0];
    const Value weight = product->inputs[1]->inputs[0];
    const std::vector<Index> modes(weight->shape.begin() + 2, weight->shape.end() - 1);
    if (!counts.empty() && counts != modes)
      return refused();
    counts = modes;
    Box expected = {to[0], {0, z->shape[1]}};
    std::size_t place = 0;
    for (std::size_t s = 0; s <= signs; ++s) {
      const bool isHigh = s < signs && to[s + 2].begin != 0;
      const Index n = spectrum->shape[s + 2];
      expected.push_back(isHigh ? Interval{n - modes[s], n} : Interval{0, modes[s]});
      place |= isHigh ? std::size_t(1) << s : 0;
    }
    if (to != expected || weights[place])
      return refused();
    expected[1] = {0, spectrum->shape[1]};
    if (*from != expected)
      return refused();
    weights[place] = weight;
  }
  // The transform itself takes what lacks at the end of the last dimension as 0.
  for (std::size_t s = 0; s <= signs; ++s) {
    const Index n = source->shape[s + 2], have = z->shape[s + 2];
    if (shape[s + 2] != n || (s < signs ? have != n || 2 * counts[s] > n : have > n / 2 + 1))
      return refused();
  }
  ModelValue* made = make(ModelOp::Spectral, {source}, shape);
  made->inputs.insert(made->inputs.end(), weights.begin(), weights.end());
  made->modeCount = counts;
  return made;
}

} // namespace tenon
