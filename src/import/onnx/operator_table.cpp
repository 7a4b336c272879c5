// SPDX-License-Identifier: BSD-2-Clause
// Finds the row of an operator of ONNX, of all tables, and holds a node to what the row
// understands. What has no row, or an attribute or input beyond it, is refused, and the walk goes
// on, so that one error lists all of it.
#include "import/onnx/onnx.hpp"

#include "import/onnx/operator_rows.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// As the accepted values of a row are written.
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

// Why an attribute cannot be imported: what would work; "" where it can.
std::string whatWorks(const OnnxRow& row, const std::string& name, const std::string& text) {
  for (const std::string& word : split(std::string(row.attributes), ' ')) {
    const std::size_t equals = word.find('=');
    if (word.substr(0, equals) != name)
      continue;
    const bool fits =
        equals == word.npos || word[equals + 1] == '*' || word.substr(equals + 1) == text;
    return fits ? "" : fmt::format("{} = {}", name, word.substr(equals + 1));
  }
  return fmt::format("{} without this attribute", row.name);
}

// Notes what the node has that is not understood, and gives what stands for its results; null if it
// is all understood.
ModelBuilder::Value refused(ModelBuilder& b, const OnnxRow& row, const ModelOperation& operation,
                            const Shape& shape) {
  ModelBuilder::Value made = nullptr;
  for (const auto& [name, argument] : operation.arguments) {
    const std::string text = attributeText(argument), advice = whatWorks(row, name, text);
    if (advice.empty())
      continue;
    made =
        b.refuse(fmt::format("the attribute {} = {} of {}", name, text, row.name), advice, shape);
  }
  for (std::size_t i = row.inputs; i < operation.inputs.size(); ++i)
    if (const ModelArgument& input = operation.inputs[i]; !input.isNothing()) {
      made = b.refuse(
          fmt::format("input {} of {}, '{}'", i, row.name, printable(input.text)),
          fmt::format("{} of {}", row.name, counted(static_cast<Index>(row.inputs), "input")),
          shape);
    }
  return made;
}

} // namespace

std::vector<const OnnxRow*> onnxRows() {
  std::vector<const OnnxRow*> all;
  for (const auto rows :
       {onnxFunctions(), onnxLayers(), onnxRecurrent(), onnxShapes(), onnxParts()})
    for (const OnnxRow& row : rows)
      all.push_back(&row);
  return all;
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
  const std::string& type = given.operation().type;
  return {b.refuse(fmt::format("{} of integers, whose result ONNX rounds", type),
                   fmt::format("{} of real numbers (a Cast to float before it)", type),
                   x()->shape)};
}

ModelValues buildOnnx(ModelBuilder& b, const Operands& given, int opset) {
  const ModelOperation& operation = given.operation();
  const ModelBuilder::Value x = given.input(0);
  const Shape shape = x ? x->shape : Shape{1};
  const OnnxRow* row = onnxRow(operation.type);
  const ModelBuilder::Value beyond =
      row ? refused(b, *row, operation, shape)
          : b.refuse(fmt::format("the operator {} of ONNX", operation.type), kKnownOperators,
                     shape);
  return beyond ? ModelValues(operation.results.size(), beyond)
                : row->build({b, given, opset, row->of});
}

} // namespace tenon
