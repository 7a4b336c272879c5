// SPDX-License-Identifier: BSD-2-Clause
// The basis of ModelBuilder: creation of values of the canonical graph (make()), constants, errors
// and refusals, shapes. The file is not trusted, so each value has a shape of bounded size, and so
// does all arithmetic on constants. There are three kinds of failure:
//   fail()     the file contradicts itself
//   misfit()   the extents of this run may not fit the model
//   refuse()   Tenon has no layer for the operator; the import continues, to report all of them
#include "import/canonical/model_builder.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// A value with more elements than this is an error in the file: no machine could store it.
constexpr Index kMaxValueElements = Index(1) << 50;

} // namespace

void ModelBuilder::begin(const ModelOperation& operation, const ModelValues& reads) {
  label_ = operation.label;
  where_ = operation.where;
  reads_ = reads;
}

void ModelBuilder::fail(const std::string& why) const {
  throw Error(TENON_ERR_FORMAT, fmt::format("operation '{}': {}", label_, why));
}

// The message lists the input shapes of this run, because other extents may work.
void ModelBuilder::misfit(const std::string& why) const {
  bool isFree = false;
  for (const ModelInput& input : weights_.program().inputs)
    for (const auto& extent : input.shape)
      isFree = isFree || !extent;
  if (!isFree)
    fail(why);
  std::vector<std::string> shapes;
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
    shapes.push_back(
        fmt::format("{} of [{}]", graph_.inputNames[i], fmt::join(graph_.inputs[i]->shape, ",")));
  throw Error(TENON_ERR_SHAPE,
              fmt::format("operation '{}'{}: {}, with {}; the file leaves extents free that the "
                          "model's code may fix: give those with which it was exported",
                          label_, where_.empty() ? "" : " (" + where_ + ")", why, joined(shapes)));
}

int ModelBuilder::dimension(Index d, int rank) const {
  const Index counted = d < 0 ? d + rank : d;
  if (counted < 0 || counted >= rank)
    fail(fmt::format("there is no dimension {} among {}", d, rank));
  return static_cast<int>(counted);
}

void ModelBuilder::checkShape(const Shape& shape) const {
  if (shape.size() > kMaxModelDimensions)
    fail(fmt::format("a value has {} dimensions; at most {} are possible", shape.size(),
                     kMaxModelDimensions));
  Index count = 1;
  for (const Index extent : shape) {
    if (extent < 0)
      misfit(fmt::format("a value would have shape [{}]; the input is too small for this operation",
                         fmt::join(shape, ",")));
    // An extent of 0 must not hide an overflow of the others.
    if (__builtin_mul_overflow(count, std::max(extent, Index(1)), &count) ||
        count > kMaxValueElements)
      fail(fmt::format("a value of shape [{}] is too large", fmt::join(shape, ",")));
  }
}

// numpy's rule: aligned at the last dimension, extents are equal or one of them is 1.
Shape ModelBuilder::broadcast(const Shape& a, const Shape& b) const {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape shape(rank, 1);
  for (std::size_t d = 0; d < rank; ++d) {
    const Index p = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const Index q = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (p != q && p != 1 && q != 1)
      misfit(fmt::format("shapes [{}] and [{}] do not fit each other", fmt::join(a, ","),
                         fmt::join(b, ",")));
    shape[d] = p == 1 ? q : p;
  }
  return shape;
}

// Returns the parameters from which all of these values are computed; none if any is computed from
// something other than parameters and constants.
std::vector<std::string> ModelBuilder::parametersOf(const ModelValues& values) {
  constexpr std::size_t kMaxNamed = 4;
  std::vector<std::string> names;
  for (const Value value : values) {
    if (value->isKnown())
      continue;
    if (!value->isOfParameters())
      return {};
    for (const std::string& name : value->parametersRead)
      if (names.size() < kMaxNamed && std::ranges::find(names, name) == names.end())
        names.push_back(name);
  }
  return names;
}

ModelValue* ModelBuilder::make(ModelOp op, ModelValues inputs, Shape shape) {
  checkShape(shape);
  constexpr std::size_t kValuesPerOperation = 8; // on average
  if (graph_.values.size() >= kValuesPerOperation * kMaxOperations)
    fail("the network has too many operations");
  ModelValue& value = graph_.values.emplace_back();
  value.op = op;
  value.parametersRead = parametersOf(inputs);
  if (op == ModelOp::Fourier || op == ModelOp::Complex || op == ModelOp::Modes ||
      op == ModelOp::Contraction)
    value.complexDepth = 1;
  for (const Value input : inputs)
    if (input->isComplex() && op != ModelOp::Pairs)
      value.complexDepth = std::max(value.complexDepth, input->complexDepth + 1);
  constexpr int kMaxComplex = 512; // pairsOf() is recursive
  check(value.complexDepth <= kMaxComplex,
        "too many operations on complex numbers follow each other");
  value.inputs = std::move(inputs);
  value.shape = std::move(shape);
  value.label = label_;
  value.where = where_;
  return &value;
}

// The placeholder has the shape that the result would have, so later operations can still be
// checked.
ModelBuilder::Value ModelBuilder::refuse(const std::string& what, const std::string& advice,
                                         Shape shape) {
  std::vector<Shape> shapes;
  for (const Value read : reads_)
    if (read->ndim() > 0)
      shapes.push_back(read->shape);
  graph_.refusals.push_back(
      {label_, where_, what, advice, std::move(shapes), parametersOf(reads_)});
  return make(ModelOp::Refused, {}, std::move(shape));
}

ModelBuilder::Value ModelBuilder::input(const std::string& name, const Shape& shape) {
  ModelValue* result = make(ModelOp::Input, {}, shape);
  result->label = name;
  graph_.inputs.push_back(result);
  graph_.inputNames.push_back(name);
  return result;
}

ModelBuilder::Value ModelBuilder::constant(ModelConstant constant) {
  if (constant.isNumbers() && (numbers_ += constant.elements()) > kMaxModelNumbers)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("operation '{}': constants that the model computes have more than {} "
                            "numbers together",
                            label_, kMaxModelNumbers));
  // Integers are sizes and indices, never weights, so they are read now.
  return storedConstant(constant.isInteger() ? weights_.folded(constant) : std::move(constant));
}

ModelBuilder::Value ModelBuilder::storedConstant(ModelConstant stored) {
  ModelValue* result = make(ModelOp::Constant, {}, stored.shape());
  for (const ModelConstant::Piece& piece : stored.pieces())
    if (const ModelTensor& tensor = program().tensors[piece.tensor];
        tensor.role == ModelTensor::Role::Parameter &&
        std::ranges::find(result->parametersRead, tensor.name) == result->parametersRead.end())
      result->parametersRead.push_back(tensor.name);
  result->constant = stored.isNumbers() ? stored.identified(++identities_) : std::move(stored);
  return result;
}

ModelBuilder::Value ModelBuilder::rounded(Value x, Index type) {
  if (x->op == ModelOp::Complex) {
    const Value pairs = rounded(x->inputs[0], type);
    return pairs == x->inputs[0] ? x : complex(pairs);
  }
  if (!x->isKnown())
    return x;
  const ModelConstant& before = x->asConstant();
  if (!before.isNumbers() || before.isInteger())
    return x;
  ModelConstant result = before.rounded(type);
  return result.numbers() == before.numbers() ? x : constant(std::move(result));
}

// Guards against files that make the import itself slow: every operation on constants counts its
// elements.
void ModelBuilder::spend(Index operations) {
  constexpr Index kMaxSpent = Index(1) << 28;
  if (operations > kMaxSpent - spent_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("operation '{}': the model computes too much with constants", label_));
  spent_ += operations;
}

ModelBuilder::Value ModelBuilder::number(double value, bool isInteger) {
  return constant(ModelConstant::ofNumbers({}, {value}, isInteger));
}

ModelBuilder::Value ModelBuilder::integers(const std::vector<Index>& values) {
  return constant(ModelConstant::ofNumbers({static_cast<Index>(values.size())},
                                           {values.begin(), values.end()}, /*isInteger=*/true));
}

ModelConstant ModelBuilder::numbersOf(Value value, const char* what) const {
  if (!value || !value->isKnown())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("operation '{}'{}: {} is computed from {}, and must be a constant",
                            label_, where_.empty() ? "" : " (" + where_ + ")", what,
                            value && value->isOfParameters()
                                ? "parameter '" + joined(value->parametersRead, "' and '") + "'"
                                : "an input of the network"));
  return fold(value);
}

std::vector<Index> ModelBuilder::integersOf(Value value, const char* what) const {
  std::vector<Index> result;
  const ModelConstant numbers = numbersOf(value, what);
  for (const double number : numbers.numbers()) {
    // Only NaN differs from itself.
    check(number == number, "a size is no number");
    // The largest integers of the format mean "to the end".
    result.push_back(static_cast<Index>(std::clamp(number, -4e18, 4e18)));
  }
  return result;
}

bool ModelBuilder::isFilledWith(Value value, double number) const {
  if (!value->isKnown())
    return false;
  const ModelConstant filled = fold(value);
  return std::ranges::all_of(filled.numbers(), [&](double n) { return n == number; });
}

} // namespace tenon
