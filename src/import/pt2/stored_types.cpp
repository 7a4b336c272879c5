// SPDX-License-Identifier: BSD-2-Clause
// Class StoredTypes (pt2.hpp): what PyTorch's booleans and integers keep of a result. All values of
// the graph are real numbers, so a sum of two booleans would be 2, where PyTorch's is true, and a
// number that is written into a tensor of integers would keep its fraction. Only operators that
// write convert to integers; what wraps around in PyTorch is not followed.
//   a + b, c.copy_(x)          for booleans: compared with 0, unless the numbers are 0 and 1 anyway
//   n.copy_(x), n.fill_(2.7)   for integers: rounded towards 0
#include "import/pt2/pt2.hpp"

#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <string_view>

namespace tenon {

namespace {

bool isTruth(double number) {
  return number == 0 || number == 1;
}

// Operators that only move or choose elements of their arguments.
constexpr ModelOp kMoves[] = {ModelOp::Concatenate, ModelOp::Expand, ModelOp::Reshape,
                              ModelOp::Slice, ModelOp::Transpose};

// Operators that write numbers of any type into a copy of their argument, or into itself.
constexpr std::string_view kWrites[] = {"copy",           "diagonal_scatter", "fill",
                                        "index_fill",     "masked_fill",      "scatter",
                                        "select_scatter", "slice_scatter"};

} // namespace

ModelBuilder::Value StoredTypes::stored(ModelBuilder& b, const Operands& operands,
                                        const std::string& name, Value x) {
  const ModelProgram& program = b.program();
  if (x->isComplex() || x->op == ModelOp::Refused)
    return x;
  if (program.integers.contains(name) && writesNumbers(operands))
    return b.truncated(x);
  if (!program.flags.contains(name) || areTruths(x, 0))
    return x;
  const Value truths = b.compare("ne", x, b.number(0));
  known_[truths] = true;
  return truths;
}

// Whether an operator writes to its first argument, and has another one of real numbers.
bool StoredTypes::writesNumbers(const Operands& operands) {
  std::string_view name = atenName(operands.operation().type);
  if (name.ends_with('_'))
    name.remove_suffix(1);
  const auto isReal = [&](const char* argument) {
    return operands.has(argument) && !operands.isInteger(argument) && !operands.isFlag(argument);
  };
  return std::ranges::find(kWrites, name) != std::end(kWrites) &&
         (isReal("src") || isReal("value"));
}

// Whether all numbers are 0 or 1: those of a comparison, and of what logical operators and moves
// make of such values.
bool StoredTypes::areTruths(Value x, int depth) {
  constexpr int kMaxDepth = 16;
  if (const auto known = known_.find(x); known != known_.end())
    return known->second;
  return depth <= kMaxDepth && (known_[x] = computesTruths(*x, depth + 1));
}

bool StoredTypes::computesTruths(const ModelValue& x, int depth) {
  const auto areFrom = [&](std::size_t first) {
    return std::all_of(x.inputs.begin() + static_cast<std::ptrdiff_t>(first), x.inputs.end(),
                       [&](Value input) { return areTruths(input, depth); });
  };
  if (x.isKnown())
    return x.asConstant().isNumbers() && std::ranges::all_of(x.asConstant().numbers(), isTruth);
  if (x.op == ModelOp::Affine) { // 1 - x
    const std::size_t count = std::max(x.scale.size(), x.shift.size());
    for (std::size_t i = 0; i < count; ++i) {
      const double low = x.shift[x.shift.size() == 1 ? 0 : i],
                   high = low + x.scale[x.scale.size() == 1 ? 0 : i];
      if (!isTruth(low) || !isTruth(high))
        return false;
    }
    return areFrom(0);
  }
  if (x.op == ModelOp::Reduce)
    return (x.function == "max" || x.function == "min") && areFrom(0);
  if (x.op == ModelOp::Where)
    return areFrom(1);
  const bool keepsTruths = x.op == ModelOp::Multiply ||
                           (x.op == ModelOp::Unary && x.function == "stopgradient") ||
                           std::ranges::find(kMoves, x.op) != std::end(kMoves);
  return x.op == ModelOp::Compare || x.op == ModelOp::Zeros || (keepsTruths && areFrom(0));
}

} // namespace tenon
