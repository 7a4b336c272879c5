// SPDX-License-Identifier: BSD-2-Clause
// Walks the operations of a program in their order and keeps the values by name. Extents are those
// of the run, so that all computations of shapes are constants.
#include "import/model_operators.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

// Names of tensors of PyTorch that share memory. Operators such as relu_ and copy_ change the value that they
// are given, under its name: what it is a part of changes with it, and other views of that memory must not be
// read any more, since they have the values of before.
class InPlace {
public:
  // The name that the operation changes, or none.
  static const std::string* changed(const ModelOperation& operation) {
    const std::size_t dot = operation.type.rfind('.');
    const bool is = operation.type.starts_with("aten.") && dot != operation.type.npos && dot > 0 &&
                    operation.type[dot - 1] == '_' && operation.type != "aten.detach_.default";
    return is ? selfOf(operation) : nullptr;
  }
  void note(const ModelOperation& operation) {
    const std::string* self = changed(operation);
    if (!self && makesView(operation.type))
      self = selfOf(operation);
    if (!self)
      return;
    const std::string root = rootOf(*self);
    for (const std::string& result : operation.results) {
      views_[result] = {*self, root, &operation};
      members_[root].push_back(result);
    }
  }
  // The value whose memory it is.
  const std::string& rootOf(const std::string& name) const {
    const auto found = views_.find(name);
    return found == views_.end() ? name : found->second.root;
  }
  bool isStale(const std::string& name) const { return stale_.contains(name); }
  // Writes the value `made` under the name, and into what that is a view of.
  void write(ModelBuilder& builder, Operands::Names& names, std::string name,
             ModelBuilder::Value made) {
    const std::string root = rootOf(name);
    builder.spend(static_cast<Index>(members_[root].size()));
    stale_.insert(root);
    stale_.insert(members_[root].begin(), members_[root].end());
    while (made) {
      builder.spend(1);
      names[name] = made;
      stale_.erase(name);
      const auto view = views_.find(name);
      if (view == views_.end())
        return;
      name = view->second.of;
      made = whole(builder, *view->second.by, names, made);
    }
  }

private:
  struct View {
    std::string of, root;
    const ModelOperation* by;
  };

  // PyTorch's operators that may give another view of the same memory.
  static bool makesView(const std::string& type) {
    static const std::set<std::string, std::less<>> views = {"alias",
                                                             "alpha_dropout",
                                                             "chunk",
                                                             "contiguous",
                                                             "detach",
                                                             "diagonal",
                                                             "dropout",
                                                             "expand",
                                                             "expand_as",
                                                             "feature_alpha_dropout",
                                                             "flatten",
                                                             "mT",
                                                             "feature_dropout",
                                                             "moveaxis",
                                                             "movedim",
                                                             "narrow",
                                                             "permute",
                                                             "reshape",
                                                             "reshape_as",
                                                             "select",
                                                             "slice",
                                                             "split",
                                                             "squeeze",
                                                             "swapaxes",
                                                             "split_with_sizes",
                                                             "t",
                                                             "to",
                                                             "transpose",
                                                             "type_as",
                                                             "unbind",
                                                             "unflatten",
                                                             "unsqueeze",
                                                             "view",
                                                             "view_as",
                                                             "view_as_complex",
                                                             "view_as_real"};
    constexpr std::size_t kAten = 5;
    return type.starts_with("aten.") &&
           views.contains(type.substr(kAten, type.find('.', kAten) - kAten));
  }
  static const std::string* selfOf(const ModelOperation& operation) {
    for (const auto& [name, argument] : operation.arguments)
      if (name == "self" || name == "input")
        if (argument.isValue())
          return &argument.text;
    return nullptr;
  }
  // What a view is of, once the view has the value `part`; null where that is not known.
  static ModelBuilder::Value whole(ModelBuilder& b, const ModelOperation& by,
                                   const Operands::Names& names, ModelBuilder::Value part) {
    static const Operands::Flags none;
    const Operands given(b, by, names, none);
    const auto is = [&](const char* type) { return by.type.starts_with(type); };
    if (changed(by) || is("aten.alias.") || is("aten.detach."))
      return part;
    const ModelBuilder::Value x = names.at(*selfOf(by));
    if (is("aten.view.") || is("aten.unsqueeze.") || is("aten.squeeze."))
      return b.reshape(part, x->shape);
    if (!is("aten.slice.") && !is("aten.select."))
      return nullptr;
    const int d = b.dimension(given.integer("dim", 0), x->rank());
    const Index n = x->shape[static_cast<std::size_t>(d)];
    const auto bound = [&](Index at) { return std::clamp(at < 0 ? at + n : at, Index(0), n); };
    if (is("aten.slice.")) {
      const Index begin = bound(given.integer("start", 0)),
                  end = bound(given.integer("end", std::numeric_limits<Index>::max()));
      return given.integer("step", 1) == 1 ? b.replaced(x, d, begin, std::max(begin, end), part)
                                           : nullptr;
    }
    const Index at = bound(given.integer("index"));
    Shape shape = x->shape;
    shape[static_cast<std::size_t>(d)] = 1;
    return b.replaced(x, d, at, at + 1, b.reshape(part, shape));
  }

  std::map<std::string, View> views_;
  std::map<std::string, std::vector<std::string>> members_; // of the memory of a name
  std::set<std::string> stale_;
};

// Names of values into which, or into parts of which, something is written.
std::set<std::string> writtenNames(const ModelProgram& program) {
  InPlace inPlace;
  std::set<std::string> written;
  for (const ModelOperation& operation : program.operations) {
    if (const std::string* changed = InPlace::changed(operation))
      written.insert(inPlace.rootOf(*changed));
    inPlace.note(operation);
  }
  return written;
}

// visit(name) for the values that an operation reads.
template <class Visit>
void forEachRead(const ModelOperation& operation, const Visit& visit) {
  const auto walk = [&](const ModelArgument& argument, const auto& walkItem) -> void {
    for (const ModelArgument& item : argument.list)
      walkItem(item, walkItem);
    if (argument.isValue())
      visit(argument.text);
  };
  for (const ModelArgument& input : operation.inputs)
    walk(input, walk);
  for (const auto& [name, argument] : operation.arguments)
    walk(argument, walk);
}

// The shapes of what an operation reads, but for numbers.
std::vector<Shape> shapesRead(const ModelOperation& operation, const Operands::Names& names) {
  std::vector<Shape> shapes;
  forEachRead(operation, [&](const std::string& name) {
    if (const auto found = names.find(name);
        found != names.end() && found->second && found->second->rank() > 0)
      shapes.push_back(found->second->shape);
  });
  return shapes;
}

ModelValues buildOperation(ModelBuilder& builder, const Operands& given, bool isWritten) {
  const ModelOperation& operation = given.operation();
  const ModelProgram& program = builder.program();
  const bool isPt2 = program.format == ModelProgram::Format::Pt2;
  try {
    return isPt2 ? buildPt2(builder, given, isWritten) : buildOnnx(builder, given, program.version);
  } catch (const Error&) {
    // What follows something that is refused may have no shape, but is refused itself where it cannot be known.
    if (builder.graph().refusals.empty())
      throw;
    const bool isKnown = isPt2 ? isKnownInPt2(operation.type) : isKnownInOnnx(operation.type);
    if (!isKnown && !operation.results.empty())
      builder.refuse(fmt::format("the operator {}", operation.type), kKnownOperators, {1});
    return {};
  }
}

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
      builder.begin(operation, shapesRead(operation, names));
      const Operands given(builder, operation, names, program.flags);
      const bool isWritten = !operation.results.empty() && written.contains(operation.results[0]);
      forEachRead(operation, [&](const std::string& name) {
        if (inPlace.isStale(name))
          builder.refuse("a view of memory that was changed through another view",
                         "operators that make new values", {1});
      });
      const ModelValues made = buildOperation(builder, given, isWritten);
      if (const std::string* changed = InPlace::changed(operation); changed && !made.empty())
        inPlace.write(builder, names, *changed, made[0]);
      inPlace.note(operation);
      for (std::size_t i = 0; i < operation.results.size(); ++i)
        names[operation.results[i]] = i < made.size() ? made[i] : nullptr;
    }
    for (const std::string& name : program.outputs) {
      const auto found = names.find(name);
      if (found == names.end() || !found->second || inPlace.isStale(name))
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
