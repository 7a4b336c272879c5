// SPDX-License-Identifier: BSD-2-Clause
// Finds the row of a PyTorch operator in all tables, including Python's operators on numbers, and
// calls the row's function. Names in a file and the rows that are found:
//   aten.add.Tensor        "add"              (without the overload)
//   aten.conv2d.default    "conv"             (without the number of dimensions)
//   aten.relu_.default     "relu"             (that it writes to its argument is handled by the
//                                             caller, see in_place.cpp)
//   _operator.add          "_operator.add"    arithmetic on extents
// An operator without a row is refused; the import continues, so one error lists all refusals. The
// functions are declared in pt2.hpp.
#include "import/pt2/pt2.hpp"

#include "import/pt2/operator_rows.hpp"
#include "import/unknown_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

namespace tenon {

namespace {

// Arithmetic on two numbers, such as extents, by Python's operators.
ModelValues scalar(ModelBuilder& b, const Operands& operands, const char* variant) {
  const auto& arguments = operands.operation().arguments;
  b.check(arguments.size() == 2, "it needs two numbers");
  return {
      b.binary(variant, operands.needed(arguments[0].first), operands.needed(arguments[1].first))};
}

constexpr Pt2Row kPythonRows[] = {
    {"_operator.add", scalar, "add"}, {"_operator.floordiv", scalar, "floordiv"},
    {"_operator.mod", scalar, "mod"}, {"_operator.mul", scalar, "mul"},
    {"_operator.sub", scalar, "sub"}, {"_operator.truediv", scalar, "truediv"},
    {"torch.sym_max", scalar, "max"}, {"torch.sym_min", scalar, "min"}};

const Pt2Row* rowOf(std::span<const Pt2Row> rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Pt2Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}
const Pt2Row* rowOf(std::string_view name) {
  for (const auto rows :
       {pt2Functions(), pt2Arithmetic(), pt2Special(), pt2Losses(), pt2Layers(), pt2Products(),
        pt2Reductions(), pt2Recurrent(), pt2Shapes(), pt2Parts(), pt2Joins(), pt2Differences(),
        pt2Places(), pt2Constants(), pt2Spectral(), pt2Sampling()})
    if (const Pt2Row* row = rowOf(rows, name))
      return row;
  return nullptr;
}

// Finds an operator by its name, or by that of its family.
const Pt2Row* familyOf(std::string_view name) {
  if (const Pt2Row* row = rowOf(name))
    return row;
  if (name.ends_with('_'))
    name.remove_suffix(1);
  if (name.size() > 2 && name.ends_with('d') &&
      std::isdigit(static_cast<unsigned char>(name[name.size() - 2])))
    name.remove_suffix(2);
  return rowOf(name);
}

// Python's operators and those of torch-harmonics have rows of their own; other names must be in
// aten.
const Pt2Row* rowOfType(std::string_view type) {
  const Pt2Row* row = rowOf(kPythonRows, type);
  if (!row)
    row = rowOf(pt2Filters(), type);
  return row || atenName(type).empty() ? row : familyOf(atenName(type));
}

// Arguments that change neither a result nor its derivative, or only what is refused for another
// reason, such as the dropout of a recurrent network in training.
constexpr std::string_view kWithoutEffect[] = {
    // The extents of the input, and what follows from the others.
    "C", "HxW", "N", "enable_gqa", "output_padding", "output_size",
    // Memory, and how it is computed.
    "copy", "cudnn_enable", "cudnn_enabled", "half_to_float", "implicit", "non_blocking", "path",
    "pin_memory",
    // Of training alone, and how a gradient is stored.
    "dropout", "momentum", "sparse", "sparse_grad"};
// A sum of real numbers in another real type is that of the network's own; one of integers must
// not round them.
bool keepsNumbers(const Operands& operands) {
  const Index type = operands.integer("dtype");
  const bool isOfIntegers = operands.isInteger("self") || operands.isFlag("self") ||
                            operands.isInteger("input") || operands.isFlag("input");
  return TorchType::isReal(type) || (TorchType::isInteger(type) && isOfIntegers);
}
// Refuses an operation of which the row has not read an argument.
void checkArguments(ModelBuilder& b, const Operands& operands, ModelValues& results) {
  for (const std::string& name : operands.unread()) {
    const bool isWithoutEffect =
        name == "dtype" ? keepsNumbers(operands)
                        : std::ranges::find(kWithoutEffect, name) != std::end(kWithoutEffect);
    if (!isWithoutEffect)
      results = ModelValues(
          std::max<std::size_t>(results.size(), 1),
          b.refuse(fmt::format("the argument {} of {}", name, operands.operation().type),
                   "the operator without this argument",
                   results.empty() ? Shape{1} : results[0]->shape));
  }
}

} // namespace

bool isKnownInPt2(const std::string& type) {
  return rowOfType(type) != nullptr;
}

std::optional<Index> typeOfNumbers(const ModelOperation& operation, const ModelProgram& program) {
  constexpr std::string_view kArithmetic[] = {
      "add",          "addcdiv",    "addcmul",    "div",        "divide",          "fmod",
      "floor_divide", "hardshrink", "lerp",       "mul",        "multiply",        "pow",
      "remainder",    "rsub",       "softshrink", "sub",        "special_xlog1py", "special_xlogy",
      "subtract",     "threshold",  "xlogy",      "true_divide"};
  // Their results are booleans or integers; the type is that of the tensor that is compared.
  constexpr std::string_view kComparisons[] = {
      "bucketize", "eq",   "ge", "greater", "greater_equal", "gt",         "isin",
      "le",        "less", "lt", "ne",      "not_equal",     "less_equal", "searchsorted"};
  constexpr std::string_view kCompared[] = {"boundaries", "elements", "self", "sorted_sequence"};
  std::string_view name = atenName(operation.type);
  if (name.ends_with('_')) // in place
    name.remove_suffix(1);
  const auto narrow = [&](const std::string& value) {
    const auto type = program.types.find(value);
    return type == program.types.end() ? std::nullopt : std::optional(type->second);
  };
  // Arithmetic in a narrower type is done in float32.
  if (std::ranges::find(kArithmetic, name) != std::end(kArithmetic))
    return !operation.results.empty() && narrow(operation.results[0])
               ? std::optional(TorchType::kFloat32)
               : std::nullopt;
  if (std::ranges::find(kComparisons, name) != std::end(kComparisons))
    for (const auto& [argument, value] : operation.arguments)
      if (value.isValue() && std::ranges::find(kCompared, argument) != std::end(kCompared))
        return narrow(value.text);
  return std::nullopt;
}

ModelValues buildPt2(ModelBuilder& b, const Operands& operands, bool isWritten) {
  const ModelOperation& operation = operands.operation();
  const std::string& type = operation.type;
  // Zeros that are written to must not be folded to a constant, of which parts cannot be replaced.
  static constexpr std::string_view kWritten[] = {"empty",     "empty_like", "new_empty",
                                                  "new_zeros", "zeros",      "zeros_like"};
  if (isWritten && std::ranges::find(kWritten, atenName(type)) != std::end(kWritten))
    return {b.zeros(atenName(type).ends_with("_like") ? self(operands)->shape
                                                      : operands.integers("size", {}))};
  if (const Pt2Row* row = rowOfType(type)) {
    const std::size_t refusals = b.graph().refusals.size();
    ModelValues results = row->build(b, operands, row->variant);
    if (b.graph().refusals.size() == refusals)
      checkArguments(b, operands, results);
    return results;
  }
  // Assertions about shapes have no results and are ignored.
  if (operation.results.empty() && !atenName(type).ends_with('_'))
    return {};
  Shape shape = {1};
  for (const char* name : {"self", "input"})
    if (operands.has(name))
      shape = operands.value(name)->shape;
  return ModelValues(std::max<std::size_t>(operation.results.size(), 1),
                     b.refuse(fmt::format("the operator {}", type), adviceFor(type), shape));
}

} // namespace tenon
