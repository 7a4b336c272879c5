// SPDX-License-Identifier: BSD-2-Clause
// What an operator of either format is given: its arguments, as the builder's values and plain
// numbers. The rows of the tables (onnx/rows.hpp, pt2/rows.hpp) read them and call the builder.
#pragma once

#include "import/canonical/model_builder.hpp"

#include <map>
#include <set>
#include <string_view>

namespace tenon {

class Operands {
public:
  using Value = ModelBuilder::Value;
  using Names = std::map<std::string, Value>;

  using Flags = std::set<std::string>;

  Operands(ModelBuilder& builder, const ModelOperation& operation, const Names& names,
           const Flags& flags)
      : builder_(builder), operation_(operation), names_(names), flags_(flags) {}

  // The operation's name without what follows the last dot of "aten.add.Tensor".
  const ModelOperation& operation() const noexcept { return operation_; }
  std::size_t inputCount() const noexcept { return operation_.inputs.size(); }

  // By name, or of an input by its place. Null where it is not given; a number is a constant.
  Value value(std::string_view name) const { return valueOf(find(name)); }
  Value input(std::size_t place) const;
  // The same where it must be given.
  Value needed(std::string_view name) const;
  Value neededInput(std::size_t place) const;
  ModelValues values(std::string_view name) const;

  // Whether it is true or false by its type in the file, and not a number.
  bool isFlag(std::string_view name) const { return isFlag(find(name)); }
  bool isFlagItem(std::string_view name, std::ptrdiff_t place) const {
    const ModelArgument* list = find(name);
    return list && isFlag(&list->list[static_cast<std::size_t>(place)]);
  }
  bool isFlagInput(std::size_t place) const {
    return place < operation_.inputs.size() && isFlag(&operation_.inputs[place]);
  }

  bool has(std::string_view name) const;
  Index integer(std::string_view name, std::optional<Index> otherwise = {}) const;
  double real(std::string_view name, std::optional<double> otherwise = {}) const;
  bool flag(std::string_view name, bool otherwise) const;
  std::string text(std::string_view name, std::string otherwise) const;
  // A list; one number stands for a list of one.
  std::vector<Index> integers(std::string_view name, std::vector<Index> otherwise) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const; // none where it is not given
  // The same for windows: one number stands for all dimensions.
  std::vector<Index> perDimension(std::string_view name, Index otherwise, int count) const;

private:
  const ModelArgument* find(std::string_view name) const;
  Value valueOf(const ModelArgument* argument) const;
  bool isFlag(const ModelArgument* argument) const {
    return argument && argument->isValue() && flags_.contains(argument->text);
  }
  Index integerOf(const ModelArgument& argument, std::string_view name) const;
  double realOf(const ModelArgument& argument, std::string_view name) const;

  ModelBuilder& builder_;
  const ModelOperation& operation_;
  const Names& names_;
  const Flags& flags_;
};

// Says of a value, as the mask of a Dropout, that its operation gives Tenon other results alone.
std::string notComputed(const ModelProgram& program, const std::string& value);

// The advice where an operator is not known.
inline constexpr const char* kKnownOperators = "the operators that doc/import.md lists";

} // namespace tenon
