// SPDX-License-Identifier: BSD-2-Clause
// Class Operands: looks up the arguments of one operation of a model file by name or position. An
// argument is a number or text in the file, or the name of a value that an earlier operation has
// computed. value(), input() and values() return values of the canonical graph, in which a number
// becomes a constant. integer(), real(), text(), ... return plain numbers and texts; they also
// accept a value that is a constant of the graph, such as a size that the model computes from
// extents of the run. A malformed argument is an error of the file (builder_.fail(), which does not
// return).
#include "import/canonical/operands.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

// Searches the operation that has this value as a result; errors are rare, so a linear search
// suffices.
std::string notComputed(const ModelProgram& program, const std::string& value) {
  for (const ModelOperation& operation : program.operations)
    for (std::size_t i = 0; i < operation.results.size(); ++i)
      if (operation.results[i] == value)
        return fmt::format("result {} of operation '{}' ({}), which is '{}', is not computed by "
                           "Tenon; use a model that does without it",
                           i, operation.label, operation.type, value);
  return fmt::format("the value '{}' is not computed", value);
}

const ModelArgument* Operands::find(std::string_view name) const {
  if (!read_.contains(name))
    read_.emplace(name);
  for (const auto& [key, argument] : operation_.arguments)
    if (key == name)
      return argument.isNothing() ? nullptr : &argument;
  return nullptr;
}

bool Operands::has(std::string_view name) const {
  return find(name) != nullptr;
}

bool Operands::isInteger(std::string_view name) const {
  const ModelArgument* argument = find(name);
  return argument && (argument->isValue() ? builder_.program().integers.contains(argument->text)
                                          : argument->kind == ModelArgument::Kind::Integer);
}

std::vector<std::string> Operands::unread() const {
  std::vector<std::string> names;
  for (const auto& [name, argument] : operation_.arguments)
    if (!argument.isNothing() && !read_.contains(name))
      names.push_back(name);
  return names;
}

Operands::Value Operands::valueOf(const ModelArgument* argument) const {
  if (!argument)
    return nullptr;
  switch (argument->kind) {
  case ModelArgument::Kind::Value: {
    const auto found = names_.find(argument->text);
    if (found == names_.end())
      builder_.fail(fmt::format("it reads '{}', which is not known", argument->text));
    // A null entry is a result of a known operation that the import does not produce.
    if (!found->second)
      throw Error(TENON_ERR_SUPPORT, notComputed(builder_.program(), argument->text));
    return found->second;
  }
  case ModelArgument::Kind::Integer:
  case ModelArgument::Kind::Flag:
    return builder_.number(static_cast<double>(argument->integer), /*isInteger=*/true);
  case ModelArgument::Kind::Real:
    return builder_.number(argument->real);
  case ModelArgument::Kind::Complex:
    return builder_.complex(builder_.constant(
        ModelConstant::ofNumbers({2}, {argument->real, argument->list.front().real})));
  // Texts and lists are read by text(), integers() and values() instead.
  default:
    builder_.fail("an argument is neither a value nor a number");
  }
}

Operands::Value Operands::input(std::size_t place) const {
  if (place >= operation_.inputs.size() || operation_.inputs[place].isNothing())
    return nullptr;
  return valueOf(&operation_.inputs[place]);
}

Operands::Value Operands::needed(std::string_view name) const {
  const Value found = value(name);
  if (!found)
    builder_.fail(fmt::format("it has no argument '{}'", name));
  return found;
}

Operands::Value Operands::neededInput(std::size_t place) const {
  const Value found = input(place);
  if (!found)
    builder_.fail(fmt::format("it has no input {}", place));
  return found;
}

ModelValues Operands::values(std::string_view name) const {
  ModelValues result;
  const ModelArgument* argument = find(name);
  if (!argument || argument->kind != ModelArgument::Kind::List)
    builder_.fail(fmt::format("its argument '{}' is no list of values", name));
  for (const ModelArgument& item : argument->list)
    result.push_back(item.isNothing() ? nullptr : valueOf(&item));
  return result;
}

Index Operands::integerOf(const ModelArgument& argument, std::string_view name) const {
  if (argument.kind == ModelArgument::Kind::Integer || argument.kind == ModelArgument::Kind::Flag)
    return argument.integer;
  if (argument.isValue()) {
    const std::vector<Index> numbers = builder_.integersOf(valueOf(&argument), "a size");
    if (numbers.size() == 1)
      return numbers[0];
  }
  builder_.fail(fmt::format("its argument '{}' is no integer", name));
}

double Operands::realOf(const ModelArgument& argument, std::string_view name) const {
  if (argument.kind == ModelArgument::Kind::Real || argument.kind == ModelArgument::Kind::Integer)
    return argument.real;
  if (argument.kind == ModelArgument::Kind::Flag)
    return static_cast<double>(argument.integer);
  if (argument.isValue()) {
    const std::vector<double> numbers =
        builder_.numbersOf(valueOf(&argument), "a number").numbers();
    if (numbers.size() == 1)
      return numbers[0];
  }
  builder_.fail(fmt::format("its argument '{}' is no number", name));
}

Index Operands::integer(std::string_view name, std::optional<Index> otherwise) const {
  const ModelArgument* argument = find(name);
  if (!argument && !otherwise)
    builder_.fail(fmt::format("it has no argument '{}'", name));
  return argument ? integerOf(*argument, name) : otherwise.value_or(0);
}

double Operands::real(std::string_view name, std::optional<double> otherwise) const {
  const ModelArgument* argument = find(name);
  if (!argument && !otherwise)
    builder_.fail(fmt::format("it has no argument '{}'", name));
  return argument ? realOf(*argument, name) : otherwise.value_or(0);
}

bool Operands::flag(std::string_view name, bool otherwise) const {
  const ModelArgument* argument = find(name);
  if (!argument)
    return otherwise;
  if (argument->kind == ModelArgument::Kind::Flag)
    return argument->integer != 0;
  return integerOf(*argument, name) != 0;
}

std::string Operands::text(std::string_view name, std::string otherwise) const {
  const ModelArgument* argument = find(name);
  if (!argument)
    return otherwise;
  if (argument->kind == ModelArgument::Kind::Text)
    return argument->text;
  builder_.fail(fmt::format("its argument '{}' is no text", name));
}

// A missing list is the default; a single number is a list of one.
std::vector<Index> Operands::integers(std::string_view name, std::vector<Index> otherwise) const {
  const ModelArgument* argument = find(name);
  if (!argument)
    return otherwise;
  if (argument->kind != ModelArgument::Kind::List)
    return {integerOf(*argument, name)};
  std::vector<Index> result;
  for (const ModelArgument& item : argument->list)
    result.push_back(integerOf(item, name));
  return result;
}

std::vector<double> Operands::reals(std::string_view name) const {
  std::vector<double> result;
  const ModelArgument* argument = find(name);
  if (!argument || argument->kind != ModelArgument::Kind::List)
    builder_.fail(fmt::format("its argument '{}' is no list of numbers", name));
  for (const ModelArgument& item : argument->list)
    result.push_back(realOf(item, name));
  return result;
}

std::vector<std::string> Operands::texts(std::string_view name) const {
  std::vector<std::string> result;
  const ModelArgument* argument = find(name);
  if (argument && argument->kind != ModelArgument::Kind::List)
    builder_.fail(fmt::format("its argument '{}' is no list of texts", name));
  for (std::size_t i = 0; argument && i < argument->list.size(); ++i)
    result.push_back(argument->list[i].text);
  return result;
}

std::vector<Index> Operands::perDimension(std::string_view name, Index otherwise, int count) const {
  std::vector<Index> result = integers(name, {otherwise});
  if (result.empty())
    result = {otherwise};
  if (result.size() == 1)
    result.resize(static_cast<std::size_t>(std::max(count, 1)), result[0]);
  return result;
}

} // namespace tenon
