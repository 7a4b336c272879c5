// SPDX-License-Identifier: BSD-2-Clause
// Infers which values of an ONNX file are booleans or integers. Tenon's layers compute with real
// numbers only, so an operator whose result ONNX rounds for integers must be treated separately.
#include "import/onnx/onnx.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace tenon {

namespace {

bool isOnnxRelation(const std::string& type) {
  static const std::set<std::string, std::less<>> relations = {
      "And", "Equal", "Greater", "GreaterOrEqual", "IsNaN", "Less", "LessOrEqual", "Not", "Or"};
  return relations.contains(type);
}

// Returns the target type of a Cast.
Index castTo(const ModelOperation& operation) {
  for (const auto& [name, argument] : operation.arguments)
    if (name == "to")
      return argument.integer;
  return 0;
}

bool isAmong(const std::set<std::string>& values, const ModelArgument& argument) {
  return argument.isValue() && values.contains(argument.text);
}

} // namespace

// Operators that move elements return booleans if their first input is boolean.
bool givesOnnxFlags(const ModelProgram& program, const ModelOperation& operation) {
  static const std::set<std::string, std::less<>> moves = {
      "Concat",  "Constant", "ConstantOfShape", "Expand",  "Flatten",   "Gather", "Identity",
      "Reshape", "Slice",    "Split",           "Squeeze", "Transpose", "Trilu",  "Unsqueeze"};
  if (operation.type == "Cast")
    return castTo(operation) == kOnnxFlags;
  if (operation.type == "Where")
    return operation.inputs.size() > 1 && isAmong(program.flags, operation.inputs[1]);
  const bool ofValue = std::ranges::any_of(operation.arguments, [&](const auto& argument) {
    return argument.first == "value" && isAmong(program.flags, argument.second);
  });
  return isOnnxRelation(operation.type) ||
         (moves.contains(operation.type) &&
          (ofValue || (!operation.inputs.empty() && isAmong(program.flags, operation.inputs[0]))));
}

// Most operators return the type of their first input.
bool givesOnnxIntegers(const ModelProgram& program, const ModelOperation& operation) {
  const std::string& type = operation.type;
  if (type == "Shape" || type == "Size")
    return true;
  if (type == "Cast")
    return isOnnxInteger(castTo(operation));
  if (type == "Constant" || type == "ConstantOfShape")
    return std::ranges::any_of(operation.arguments, [&](const auto& argument) {
      return isAmong(program.integers, argument.second) || argument.first.starts_with("value_int");
    });
  const std::size_t place = type == "Where" ? 1 : 0;
  return !isOnnxRelation(type) && operation.inputs.size() > place &&
         isAmong(program.integers, operation.inputs[place]);
}

} // namespace tenon
