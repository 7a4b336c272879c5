// SPDX-License-Identifier: BSD-2-Clause
// Walks the operations of a program in their order and keeps the values by name. Extents are those
// of the run, so that all computations of shapes are constants.
#include "import/model_operators.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tenon {

const ModelArgument* Operands::find(std::string_view name) const {
  for (const auto& [key, argument] : operation_.arguments)
    if (key == name)
      return argument.isNothing() ? nullptr : &argument;
  return nullptr;
}

bool Operands::has(std::string_view name) const {
  return find(name) != nullptr;
}

Operands::Value Operands::valueOf(const ModelArgument* argument) const {
  if (!argument)
    return nullptr;
  switch (argument->kind) {
  case ModelArgument::Kind::Value: {
    const auto found = names_.find(argument->text);
    if (found == names_.end() || !found->second)
      builder_.fail(fmt::format("it reads '{}', which is not known", argument->text));
    return found->second;
  }
  case ModelArgument::Kind::Integer:
  case ModelArgument::Kind::Flag:
    return builder_.number(static_cast<double>(argument->integer), true);
  case ModelArgument::Kind::Real:
    return builder_.number(argument->real);
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
  ModelValues made;
  const ModelArgument* argument = find(name);
  if (!argument || argument->kind != ModelArgument::Kind::List)
    builder_.fail(fmt::format("its argument '{}' is no list of values", name));
  for (const ModelArgument& item : argument->list)
    made.push_back(item.isNothing() ? nullptr : valueOf(&item));
  return made;
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
  return argument ? integerOf(*argument, name) : *otherwise;
}

double Operands::real(std::string_view name, std::optional<double> otherwise) const {
  const ModelArgument* argument = find(name);
  if (!argument && !otherwise)
    builder_.fail(fmt::format("it has no argument '{}'", name));
  return argument ? realOf(*argument, name) : *otherwise;
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

std::vector<Index> Operands::integers(std::string_view name, std::vector<Index> otherwise) const {
  const ModelArgument* argument = find(name);
  if (!argument)
    return otherwise;
  if (argument->kind != ModelArgument::Kind::List)
    return {integerOf(*argument, name)};
  std::vector<Index> made;
  for (const ModelArgument& item : argument->list)
    made.push_back(integerOf(item, name));
  return made;
}

std::vector<double> Operands::reals(std::string_view name) const {
  std::vector<double> made;
  const ModelArgument* argument = find(name);
  if (!argument || argument->kind != ModelArgument::Kind::List)
    builder_.fail(fmt::format("its argument '{}' is no list of numbers", name));
  for (const ModelArgument& item : argument->list)
    made.push_back(realOf(item, name));
  return made;
}

std::vector<Index> Operands::perDimension(std::string_view name, Index otherwise, int count) const {
  std::vector<Index> made = integers(name, {otherwise});
  if (made.empty())
    made = {otherwise};
  if (made.size() == 1)
    made.resize(static_cast<std::size_t>(std::max(count, 1)), made[0]);
  return made;
}

namespace {

void checkInputs(const ModelProgram& program, const std::vector<Shape>& inputs,
                 const std::string& file) {
  if (inputs.size() != program.inputs.size())
    throw Error(TENON_ERR_ARG, fmt::format("{} has {} inputs, but is given {}", file,
                                           program.inputs.size(), inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput& wanted = program.inputs[i];
    bool fits = wanted.shape.size() == inputs[i].size();
    std::vector<std::string> words;
    for (std::size_t d = 0; d < wanted.shape.size(); ++d) {
      const auto& extent = wanted.shape[d];
      words.push_back(extent ? std::to_string(*extent) : d == 0 ? "batch" : "any");
      fits = fits && (!extent || *extent == inputs[i][d]);
    }
    if (!fits)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("input '{}' of {} has shape [{}], but is given [{}]; export the model "
                      "with free extents if they should be the run's",
                      wanted.name, file, fmt::join(words, ","), fmt::join(inputs[i], ",")));
  }
}

// Names of zeros into parts of which something is written.
std::set<std::string> writtenNames(const ModelProgram& program) {
  std::map<std::string, std::string> sliced;
  std::set<std::string> written;
  const auto self = [](const ModelOperation& operation) {
    for (const auto& [name, argument] : operation.arguments)
      if (name == "self")
        if (argument.isValue())
          return argument.text;
    return std::string();
  };
  for (const ModelOperation& operation : program.operations) {
    if (operation.type == "aten.slice.Tensor" && operation.results.size() == 1)
      sliced[operation.results[0]] = self(operation);
    if (operation.type != "aten.copy_.default")
      continue;
    std::string name = self(operation);
    for (auto found = sliced.find(name); found != sliced.end(); found = sliced.find(name))
      name = found->second;
    written.insert(name);
  }
  return written;
}

// PyTorch's operators that may give another view of the same memory.
bool makesView(const std::string& type) {
  static const std::set<std::string, std::less<>> views = {
      "alias",   "chunk",     "contiguous", "detach", "dropout",   "expand",  "flatten",
      "permute", "reshape",   "select",     "slice",  "split",     "squeeze", "split_with_sizes",
      "t",       "transpose", "to",         "unbind", "unsqueeze", "view"};
  constexpr std::size_t kAten = 5;
  return type.starts_with("aten.") &&
         views.contains(type.substr(kAten, type.find('.', kAten) - kAten));
}

// Operators such as relu_ change the value that they are given, under its name. What else has a view
// of its memory would change with it.
class InPlace {
public:
  void note(const ModelOperation& operation) {
    if (const std::string* self = selfOf(operation); self && makesView(operation.type)) {
      viewed_.insert(*self);
      viewed_.insert(operation.results.begin(), operation.results.end());
    }
  }
  // The name that the operation changes, or none.
  const std::string* changed(const ModelOperation& operation) const {
    const std::size_t dot = operation.type.rfind('.');
    const bool is = operation.type.starts_with("aten.") && dot != operation.type.npos && dot > 0 &&
                    operation.type[dot - 1] == '_' && operation.type != "aten.copy_.default" &&
                    operation.type != "aten.detach_.default";
    return is ? selfOf(operation) : nullptr;
  }
  bool isViewed(const std::string& name) const { return viewed_.contains(name); }

private:
  static const std::string* selfOf(const ModelOperation& operation) {
    for (const auto& [name, argument] : operation.arguments)
      if (name == "self" || name == "input")
        if (argument.isValue())
          return &argument.text;
    return nullptr;
  }
  std::set<std::string> viewed_;
};

} // namespace

ModelGraph buildModel(const ModelWeights& weights, const std::vector<Shape>& inputs) {
  const ModelProgram& program = weights.program();
  checkInputs(program, inputs, weights.file().name());
  ModelBuilder builder(weights);
  Operands::Names names;
  try {
    for (const auto& [name, tensor] : program.constants) {
      names[name] = builder.constant(ModelConstant::ofTensor(program, tensor));
      if (program.tensors[tensor].isComplex)
        names[name] = builder.complex(names[name]);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      names[program.inputs[i].name] = builder.input(program.inputs[i].name, inputs[i]);
    const std::set<std::string> written = writtenNames(program);
    InPlace inPlace;
    for (const ModelOperation& operation : program.operations) {
      builder.begin(operation);
      const Operands given(builder, operation, names, program.flags);
      const bool isWritten = !operation.results.empty() && written.contains(operation.results[0]);
      const ModelValues made = program.format == ModelProgram::Format::Pt2
                                   ? buildPt2(builder, given, isWritten)
                                   : buildOnnx(builder, given, program.version);
      if (const std::string* changed = inPlace.changed(operation); changed && !made.empty()) {
        if (inPlace.isViewed(*changed))
          builder.refuse("a change in place of a value that has other views",
                         "the operator that makes a new value", made[0]->shape);
        names[*changed] = made[0];
      }
      inPlace.note(operation);
      for (std::size_t i = 0; i < operation.results.size(); ++i)
        names[operation.results[i]] = i < made.size() ? made[i] : nullptr;
    }
    for (const std::string& name : program.outputs) {
      const auto found = names.find(name);
      if (found == names.end() || !found->second)
        throw Error(TENON_ERR_FORMAT, fmt::format("the output '{}' is not computed", name));
      builder.graph().outputs.push_back(found->second);
      builder.graph().outputNames.push_back(
          program.outputNames.empty() ? name
                                      : program.outputNames[builder.graph().outputNames.size()]);
    }
  } catch (const Error& error) {
    // What follows something that is refused has no shape.
    checkRefusals(builder.graph(), weights.file().name(), program.operations.size());
    // The operators do not know the file.
    if (error.text().find(weights.file().name()) != std::string::npos)
      throw;
    throw Error(error.code(), fmt::format("{}: {}", weights.file().name(), error.text()));
  }
  return builder.take();
}

} // namespace tenon
