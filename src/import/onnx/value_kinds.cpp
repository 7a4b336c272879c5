// SPDX-License-Identifier: BSD-2-Clause
// Infers which values of an ONNX file are booleans or integers. The file states this for inputs and
// constants only; here it follows for results of operators. Tenon's layers compute with real
// numbers only, so an operator whose result ONNX rounds for integers must be treated separately.
// The reader calls these functions for each node in order, and collects the names in
// ModelProgram::flags and ModelProgram::integers. An operator that is not listed returns the type
// of its first input. The functions are declared in onnx.hpp.
#include "import/onnx/onnx.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace tenon {

namespace {

// Whether an operator returns booleans.
bool isOnnxRelation(const std::string& type) {
  static const std::set<std::string, std::less<>> relations = {
      "And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual",
      "Not", "Or",    "Xor"};
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
  if (operation.type == "Where" || operation.type == "CastLike")
    return operation.inputs.size() > 1 && isAmong(program.flags, operation.inputs[1]);
  // The constant of Constant and ConstantOfShape is the attribute "value".
  const bool hasFlagValue = std::ranges::any_of(operation.arguments, [&](const auto& argument) {
    return argument.first == "value" && isAmong(program.flags, argument.second);
  });
  return isOnnxRelation(operation.type) ||
         (moves.contains(operation.type) &&
          (hasFlagValue ||
           (!operation.inputs.empty() && isAmong(program.flags, operation.inputs[0]))));
}

// Most operators return the type of their first input.
bool givesOnnxIntegers(const ModelProgram& program, const ModelOperation& operation) {
  const std::string& type = operation.type;
  if (type == "ArgMax" || type == "ArgMin" || type == "Shape" || type == "Size")
    return true;
  if (type == "Cast")
    return isOnnxInteger(castTo(operation));
  if (type == "Constant" || type == "ConstantOfShape")
    return std::ranges::any_of(operation.arguments, [&](const auto& argument) {
      return isAmong(program.integers, argument.second) || argument.first.starts_with("value_int");
    });
  // Input 0 of Where is the condition, and input 1 of CastLike has the type of the result.
  const std::size_t place = type == "Where" || type == "CastLike" ? 1 : 0;
  return !isOnnxRelation(type) && operation.inputs.size() > place &&
         isAmong(program.integers, operation.inputs[place]);
}

} // namespace tenon
