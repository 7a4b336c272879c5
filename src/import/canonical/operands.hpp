// SPDX-License-Identifier: BSD-2-Clause
// The arguments of an operation of a model file (ONNX or PyTorch), converted to values of the
// canonical graph and to plain numbers. Each operator has a function in a table
// (onnx/operator_rows.hpp, pt2/operator_rows.hpp), which reads its arguments here and passes them
// to ModelBuilder.
#pragma once

#include "import/canonical/model_builder.hpp"

#include <functional>
#include <map>
#include <set>
#include <string_view>

namespace tenon {

// The arguments of one operation, looked up by name or position.
class Operands {
public:
  using Value = ModelBuilder::Value;
  using Names = std::map<std::string, Value>;

  // Names of boolean values.
  using Flags = std::set<std::string>;

  Operands(ModelBuilder& builder, const ModelOperation& operation, const Names& names,
           const Flags& flags)
      : builder_(builder), operation_(operation), names_(names), flags_(flags) {}

  // The operation. Its `type` has PyTorch's overload: "aten.add.Tensor".
  const ModelOperation& operation() const noexcept { return operation_; }
  std::size_t inputCount() const noexcept { return operation_.inputs.size(); }

  // Returns an argument by name, or an input by position; null if it is absent. A number becomes a
  // constant.
  Value value(std::string_view name) const { return valueOf(find(name)); }
  Value input(std::size_t place) const;
  // value() and input() for required arguments: throw if the argument is absent.
  Value needed(std::string_view name) const;
  Value neededInput(std::size_t place) const;
  ModelValues values(std::string_view name) const;

  // Whether the argument is a boolean, or an integer, by its type in the file.
  bool isFlag(std::string_view name) const { return isFlag(find(name)); }
  bool isInteger(std::string_view name) const;
  bool isFlagItem(std::string_view name, std::ptrdiff_t place) const {
    const ModelArgument* list = find(name);
    return list && isFlag(&list->list[static_cast<std::size_t>(place)]);
  }
  bool isFlagInput(std::size_t place) const {
    return place < operation_.inputs.size() && isFlag(&operation_.inputs[place]);
  }

  // Plain numbers and texts. `otherwise` is the default; an absent argument without default is an
  // error.
  bool has(std::string_view name) const;
  Index integer(std::string_view name, std::optional<Index> otherwise = {}) const;
  double real(std::string_view name, std::optional<double> otherwise = {}) const;
  bool flag(std::string_view name, bool otherwise) const;
  std::string text(std::string_view name, std::string otherwise) const;
  // Lists of numbers. A single number is accepted as a list of one.
  std::vector<Index> integers(std::string_view name, std::vector<Index> otherwise) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const; // empty if absent
  // Sizes of windows: a single number is repeated for all dimensions.
  std::vector<Index> perDimension(std::string_view name, Index otherwise, int count) const;

  // Returns the names of the arguments that none of these functions has looked up.
  std::vector<std::string> unread() const;

private:
  const ModelArgument* find(std::string_view name) const;
  Value valueOf(const ModelArgument* argument) const;
  bool isFlag(const ModelArgument* argument) const {
    return argument && (argument->isValue() ? flags_.contains(argument->text)
                                            : argument->kind == ModelArgument::Kind::Flag);
  }
  Index integerOf(const ModelArgument& argument, std::string_view name) const;
  double realOf(const ModelArgument& argument, std::string_view name) const;

  ModelBuilder& builder_;
  const ModelOperation& operation_;
  const Names& names_;
  const Flags& flags_;
  mutable std::set<std::string, std::less<>> read_; // names that were looked up
};

// The error text for a result that Tenon does not compute, such as the mask of a Dropout.
std::string notComputed(const ModelProgram& program, const std::string& value);

} // namespace tenon
