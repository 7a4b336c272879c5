// SPDX-License-Identifier: BSD-2-Clause
// Finds the row of an ONNX operator, and checks a node against it. An operator without a row, or a
// node with attributes or inputs that the row does not list, is refused; the import continues, so
// one error lists all refusals. A row is described in operator_rows.hpp; example: the row of Resize
// has "antialias=0", so a node with antialias = 1 is refused with the advice "antialias = 0".
#include "import/onnx/onnx.hpp"

#include "import/onnx/operator_rows.hpp"
#include "import/unknown_operators.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Formats an attribute in the notation of a row's accepted values.
std::string attributeText(const ModelArgument& argument) {
  switch (argument.kind) {
  case ModelArgument::Kind::Flag:
  case ModelArgument::Kind::Integer:
    return std::to_string(argument.integer);
  case ModelArgument::Kind::Real:
    return fmt::format("{}", argument.real);
  case ModelArgument::Kind::Text:
    return printable(argument.text);
  case ModelArgument::Kind::Value:
    return "a tensor";
  default:
    break;
  }
  constexpr std::size_t kMaxShown = 8;
  std::vector<std::string> items;
  for (const ModelArgument& item : argument.list)
    if (items.size() < kMaxShown)
      items.push_back(attributeText(item));
  return fmt::format("[{}{}]", joined(items, ","), argument.list.size() > kMaxShown ? ",..." : "");
}

// Returns the advice for an attribute that cannot be imported; "" if it can.
std::string whatWorks(const OnnxRow& row, const std::string& name, const std::string& text) {
  for (const std::string& word : split(std::string(row.attributes), ' ')) {
    const std::size_t equals = word.find('=');
    if (word.substr(0, equals) != name)
      continue;
    const bool isAccepted =
        equals == word.npos || word[equals + 1] == '*' || word.substr(equals + 1) == text;
    return isAccepted ? "" : fmt::format("{} = {}", name, word.substr(equals + 1));
  }
  return fmt::format("{} without this attribute", row.name);
}

// Refuses each attribute and input of a node that its row does not list. Returns the placeholder
// for its results, or null if everything is understood.
ModelBuilder::Value refused(ModelBuilder& b, const OnnxRow& row, const ModelOperation& operation,
                            const Shape& shape) {
  ModelBuilder::Value placeholder = nullptr;
  for (const auto& [name, argument] : operation.arguments) {
    const std::string text = attributeText(argument), advice = whatWorks(row, name, text);
    if (advice.empty())
      continue;
    placeholder =
        b.refuse(fmt::format("the attribute {} = {} of {}", name, text, row.name), advice, shape);
  }
  for (std::size_t i = row.inputs; i < operation.inputs.size(); ++i)
    if (const ModelArgument& input = operation.inputs[i]; !input.isNothing()) {
      placeholder = b.refuse(
          fmt::format("input {} of {}, '{}'", i, row.name, printable(input.text)),
          fmt::format("{} of {}", row.name, counted(static_cast<Index>(row.inputs), "input")),
          shape);
    }
  return placeholder;
}

} // namespace

std::vector<const OnnxRow*> onnxRows() {
  std::vector<const OnnxRow*> rows;
  for (const auto table :
       {onnxFunctions(), onnxLayers(), onnxReductions(), onnxResampling(), onnxRecurrent(),
        onnxSampling(), onnxAttentions(), onnxShapes(), onnxParts()})
    for (const OnnxRow& row : table)
      rows.push_back(&row);
  return rows;
}

const OnnxRow* onnxRow(const std::string& type) {
  for (const OnnxRow* row : onnxRows())
    if (row->name == type)
      return row;
  return nullptr;
}

bool isKnownInOnnx(const std::string& type) {
  return onnxRow(type) != nullptr;
}

ModelValues OnnxCall::refuseIntegers() const {
  const std::string& type = operands.operation().type;
  return {b.refuse(fmt::format("{} of integers, whose result ONNX rounds", type),
                   fmt::format("{} of real numbers (a Cast to float before it)", type),
                   x()->shape)};
}

// If anything is refused, all results are the placeholder.
ModelValues buildOnnx(ModelBuilder& b, const Operands& operands, int opset) {
  const ModelOperation& operation = operands.operation();
  const ModelBuilder::Value x = operands.input(0);
  const Shape shape = x ? x->shape : Shape{1};
  const OnnxRow* row = onnxRow(operation.type);
  const ModelBuilder::Value placeholder =
      row ? refused(b, *row, operation, shape)
          : b.refuse(fmt::format("the operator {} of ONNX", operation.type),
                     adviceFor(operation.type), shape);
  return placeholder ? ModelValues(operation.results.size(), placeholder)
                     : row->build({b, operands, opset, row->function});
}

} // namespace tenon
