// SPDX-License-Identifier: BSD-2-Clause
// The operators of ONNX as rows of tables, for the operator sets 13 to 23. What newer sets have as inputs
// and older ones as attributes is read from either.
#pragma once

#include "import/graph/operands.hpp"

#include <algorithm>
#include <span>
#include <string_view>

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
  int spatial() const { return std::max(x()->rank() - 2, 0); }
  // From an input, as newer operator sets have it, or an attribute.
  std::vector<Index> listAt(std::size_t place, const char* attribute) const {
    return at(place) ? integersAt(place, "a list of dimensions") : given.integers(attribute, {});
  }
};

struct OnnxRow {
  std::string_view name;
  ModelValues (*build)(const OnnxCall&);
  const char* of = "";
};

// The rows of each source.
std::span<const OnnxRow> onnxFunctions();
std::span<const OnnxRow> onnxLayers();
std::span<const OnnxRow> onnxRecurrent();
std::span<const OnnxRow> onnxShapes();
std::span<const OnnxRow> onnxParts();

} // namespace tenon
