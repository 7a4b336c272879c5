// SPDX-License-Identifier: BSD-2-Clause
// The operators of ONNX as rows of tables, for the operator sets 13 to 23. What newer sets have as
// inputs and older ones as attributes is read from either. A row says which attributes and how many
// inputs its function understands, and a node with any other is refused before the function is
// called.
#pragma once

#include "import/canonical/operands.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace tenon {

struct OnnxCall {
  ModelBuilder& b;
  const Operands& given;
  int opset;
  const char* of; // the row's: the function, operation or relation

  ModelBuilder::Value x() const { return given.neededInput(0); }
  ModelBuilder::Value at(std::size_t place) const { return given.input(place); }
  std::vector<Index> integersAt(std::size_t place, const char* what) const {
    return b.integersOf(given.neededInput(place), what);
  }
  double numberAt(std::size_t place, double otherwise) const {
    if (!at(place))
      return otherwise;
    const std::vector<double> numbers = b.numbersOf(at(place), "a number").numbers();
    b.check(numbers.size() == 1, "an input is not one number");
    return numbers[0];
  }
  // Whether it has integers by its type in the file; fields have real numbers instead.
  bool isInteger(std::size_t place) const {
    const std::vector<ModelArgument>& inputs = given.operation().inputs;
    return place < inputs.size() && inputs[place].isValue() &&
           b.program().integers.contains(inputs[place].text);
  }
  // Where ONNX rounds and fields do not.
  ModelValues refuseIntegers() const;
  int spatial() const { return std::max(x()->rank() - 2, 0); }
  // From an input, as newer operator sets have it, or an attribute.
  std::vector<Index> listAt(std::size_t place, const char* attribute) const {
    return at(place) ? integersAt(place, "a list of dimensions") : given.integers(attribute, {});
  }
};

inline constexpr std::size_t kAnyNumber = std::size_t(1) << 16; // of inputs

struct OnnxRow {
  std::string_view name;
  ModelValues (*build)(const OnnxCall&);
  const char* of = "";
  std::size_t inputs = 1; // at most
  // Words: `axis` is read by the function, `antialias=0` must have that value, and `seed=*` may
  // have any, as it changes nothing that is imported.
  std::string_view attributes = {};
};

// Of all tables; null where the operator is not known.
const OnnxRow* onnxRow(const std::string& type);
std::vector<const OnnxRow*> onnxRows();

// The rows of each source.
std::span<const OnnxRow> onnxFunctions();
std::span<const OnnxRow> onnxLayers();
std::span<const OnnxRow> onnxRecurrent();
std::span<const OnnxRow> onnxShapes();
std::span<const OnnxRow> onnxParts();

} // namespace tenon
