// SPDX-License-Identifier: BSD-2-Clause
// The operators of ONNX, operator sets 13 to 25, as rows of tables. A row has the operator's name,
// the function that builds its canonical graph, and the attributes and number of inputs that this
// function understands. A node with other attributes or more inputs is refused before the function
// is called. Some parameters are attributes in older operator sets and inputs in newer ones;
// functions read both.
#pragma once

#include "import/canonical/operands.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace tenon {

// The argument of a row's function: the node's operands, and where to build its result.
struct OnnxCall {
  ModelBuilder& b;
  const Operands& operands;
  int opset;
  const char* function; // the row's `function`

  ModelBuilder::Value x() const { return operands.neededInput(0); }
  ModelBuilder::Value at(std::size_t place) const { return operands.input(place); }
  std::vector<Index> integersAt(std::size_t place, const char* what) const {
    return b.integersOf(operands.neededInput(place), what);
  }
  double numberAt(std::size_t place, double otherwise) const {
    if (!at(place))
      return otherwise;
    const std::vector<double> numbers = b.numbersOf(at(place), "a number").numbers();
    b.check(numbers.size() == 1, "an input is not one number");
    return numbers[0];
  }
  // Whether the input has integers by its type in the file; fields have real numbers only.
  bool isInteger(std::size_t place) const {
    const std::vector<ModelArgument>& inputs = operands.operation().inputs;
    return place < inputs.size() && inputs[place].isValue() &&
           b.program().integers.contains(inputs[place].text);
  }
  // Refuses an operator whose result ONNX rounds if it is an integer.
  ModelValues refuseIntegers() const;
  int spatial() const { return std::max(x()->ndim() - 2, 0); }
  // Reads a list from an input (newer operator sets) or an attribute (older ones).
  std::vector<Index> listAt(std::size_t place, const char* attribute) const {
    return at(place) ? integersAt(place, "a list of dimensions") : operands.integers(attribute, {});
  }
};

inline constexpr std::size_t kAnyNumber = std::size_t(1) << 16; // number of inputs is not limited

// One operator.
struct OnnxRow {
  std::string_view name;
  ModelValues (*build)(const OnnxCall&);
  // Passed to `build`, for operators that share it: which function, operation or relation to use.
  const char* function = "";
  std::size_t inputs = 1; // maximal number
  // The allowed attributes, separated by spaces, in three forms: `axis` is read by the function;
  // `antialias=0` is allowed with this value only; `seed=*` is ignored, because it has no effect
  // on the import.
  std::string_view attributes = {};
};

// Finds the row of an operator in all tables; null if the operator is unknown.
const OnnxRow* onnxRow(const std::string& type);
std::vector<const OnnxRow*> onnxRows();

// The rows of each source file.
std::span<const OnnxRow> onnxAttentions();
std::span<const OnnxRow> onnxFunctions();
std::span<const OnnxRow> onnxLayers();
std::span<const OnnxRow> onnxReductions();
std::span<const OnnxRow> onnxResampling();
std::span<const OnnxRow> onnxRecurrent();
std::span<const OnnxRow> onnxSampling();
std::span<const OnnxRow> onnxShapes();
std::span<const OnnxRow> onnxParts();

} // namespace tenon
