// SPDX-License-Identifier: BSD-2-Clause
// Finds the row of an operator of ONNX, of all tables. What has none is refused, and the walk goes on, so that one
// error lists all of it.
#include "import/onnx/onnx.hpp"

#include "import/onnx/rows.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

const OnnxRow* rowOf(const std::string& type) {
  for (const auto rows :
       {onnxFunctions(), onnxLayers(), onnxRecurrent(), onnxShapes(), onnxParts()})
    for (const OnnxRow& row : rows)
      if (row.name == type)
        return &row;
  return nullptr;
}

} // namespace

bool isKnownInOnnx(const std::string& type) {
  return rowOf(type) != nullptr;
}

ModelValues buildOnnx(ModelBuilder& b, const Operands& given, int opset) {
  const ModelOperation& operation = given.operation();
  if (const OnnxRow* row = rowOf(operation.type))
    return row->build({b, given, opset, row->of});
  const ModelBuilder::Value x = given.input(0);
  return ModelValues(operation.results.size(),
                     b.refuse(fmt::format("the operator {} of ONNX", operation.type),
                              kKnownOperators, x ? x->shape : Shape{1}));
}

} // namespace tenon
