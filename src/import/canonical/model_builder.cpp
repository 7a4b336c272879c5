// SPDX-License-Identifier: BSD-2-Clause
// Values of the canonical graph and their checks, for the file is not trusted. Every value has a
// shape of bounded size, and what is computed of constants here has a bound too.
#include "import/canonical/model_builder.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// A value of which a layer computes more elements than this is a mistake in the file: no array of
// any process has as many.
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
  Index all = 1;
  for (const Index extent : shape) {
    if (extent < 0)
      misfit(fmt::format("a value would have shape [{}]; the input is too small for this operation",
                         fmt::join(shape, ",")));
    if (__builtin_mul_overflow(all, std::max(extent, Index(1)), &all) || all > kMaxValueElements)
      fail(fmt::format("a value of shape [{}] is too large", fmt::join(shape, ",")));
  }
}

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

// The parameters of which all of these are computed; none where one is computed of anything else
// but constants.
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
  if (graph_.values.size() >= 8 * kMaxOperations)
    fail("the network has too many operations");
  ModelValue& value = graph_.values.emplace_back();
  value.op = op;
  value.parametersRead = parametersOf(inputs);
  value.inputs = std::move(inputs);
  value.shape = std::move(shape);
  value.label = label_;
  value.where = where_;
  return &value;
}

ModelBuilder::Value ModelBuilder::refuse(const std::string& what, const std::string& advice,
                                         Shape shape) {
  std::vector<Shape> shapes;
  for (const Value read : reads_)
    if (read->rank() > 0)
      shapes.push_back(read->shape);
  graph_.refusals.push_back(
      {label_, where_, what, advice, std::move(shapes), parametersOf(reads_)});
  return make(ModelOp::Refused, {}, std::move(shape));
}

ModelBuilder::Value ModelBuilder::input(const std::string& name, const Shape& shape) {
  ModelValue* made = make(ModelOp::Input, {}, shape);
  made->label = name;
  graph_.inputs.push_back(made);
  graph_.inputNames.push_back(name);
  return made;
}

ModelBuilder::Value ModelBuilder::constant(ModelConstant constant) {
  ModelValue* made = make(ModelOp::Constant, {}, constant.shape());
  if (constant.isNumbers() && (numbers_ += constant.elements()) > kMaxModelNumbers)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("operation '{}': constants that the model computes have more than {} "
                            "numbers together",
                            label_, kMaxModelNumbers));
  // Integers are sizes and indices, never weights.
  ModelConstant its = constant.isInteger() ? weights_.folded(constant) : std::move(constant);
  for (const ModelConstant::Piece& piece : its.pieces())
    if (const ModelTensor& tensor = program().tensors[piece.tensor];
        tensor.role == ModelTensor::Role::Parameter &&
        std::ranges::find(made->parametersRead, tensor.name) == made->parametersRead.end())
      made->parametersRead.push_back(tensor.name);
  made->constant = its.isNumbers() ? its.identified(++identities_) : std::move(its);
  return made;
}

ModelBuilder::Value ModelBuilder::rounded(Value x, Index type) {
  if (!x->isKnown())
    return x;
  const ModelConstant& before = x->asConstant();
  if (!before.isNumbers() || before.isInteger())
    return x;
  ModelConstant made = before.rounded(type);
  return made.numbers() == before.numbers() ? x : constant(std::move(made));
}

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
                                           {values.begin(), values.end()}, true));
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
  std::vector<Index> made;
  const ModelConstant numbers = numbersOf(value, what);
  for (const double number : numbers.numbers()) {
    check(number == number, "a size is no number");
    // The largest integers stand for "to the end".
    made.push_back(static_cast<Index>(std::clamp(number, -4e18, 4e18)));
  }
  return made;
}

bool ModelBuilder::isFilledWith(Value value, double number) const {
  if (!value->isKnown())
    return false;
  const ModelConstant filled = fold(value);
  return std::ranges::all_of(filled.numbers(), [&](double n) { return n == number; });
}

} // namespace tenon
