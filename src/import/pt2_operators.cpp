// SPDX-License-Identifier: BSD-2-Clause
// Finds the row of an operator of PyTorch, of all tables and of Python's own numbers. relu_ and conv2d are in the
// rows of their families; that relu_ changes its argument is known to who walks the operations.
#include "import/pt2_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tenon {

namespace {

// Computations of extents.
ModelValues scalar(ModelBuilder& b, const Operands& given, const char* of) {
  const auto& arguments = given.operation().arguments;
  b.check(arguments.size() == 2, "it needs two numbers");
  return {b.binary(of, given.needed(arguments[0].first), given.needed(arguments[1].first))};
}

constexpr Pt2Row kPythonRows[] = {
    {"_operator.add", scalar, "add"}, {"_operator.floordiv", scalar, "floordiv"},
    {"_operator.mod", scalar, "mod"}, {"_operator.mul", scalar, "mul"},
    {"_operator.sub", scalar, "sub"}, {"_operator.truediv", scalar, "truediv"}};

const Pt2Row* rowOf(std::span<const Pt2Row> rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Pt2Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}
const Pt2Row* rowOf(std::string_view name) {
  for (const auto rows : {pt2Functions(), pt2Layers(), pt2Structure()})
    if (const Pt2Row* row = rowOf(rows, name))
      return row;
  return nullptr;
}

// By its name, or by that of its family.
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

} // namespace

ModelValues buildPt2(ModelBuilder& b, const Operands& given, bool isWritten) {
  const ModelOperation& operation = given.operation();
  const std::string& type = operation.type;
  if (const Pt2Row* row = rowOf(kPythonRows, type))
    return row->build(b, given, row->of);
  constexpr std::string_view kAten = "aten.";
  if (type.starts_with(kAten)) {
    const std::string name = type.substr(kAten.size(), type.find('.', kAten.size()) - kAten.size());
    if (isWritten && name == "zeros")
      return {b.zerosToWrite(given.integers("size", {}))};
    if (const Pt2Row* row = familyOf(name))
      return row->build(b, given, row->of);
  }
  // Checks of shapes, which have no results.
  if (operation.results.empty())
    return {};
  Shape shape = {1};
  for (const char* name : {"self", "input"})
    if (given.has(name))
      shape = given.value(name)->shape;
  return ModelValues(operation.results.size(),
                     b.refuse(fmt::format("the operator {}", type),
                              "the operators that doc/import.md lists", shape));
}

} // namespace tenon
