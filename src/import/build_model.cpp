// SPDX-License-Identifier: BSD-2-Clause
// Builds the canonical graph of a program (the operations of a model file). Class ModelWalk handles
// each operation in order: it looks up the inputs in a table of values by name, calls the
// operator's function of the format's table (pt2/, onnx/), which calls ModelBuilder, and stores the
// results under their names. The extents of the inputs are those of the run, so computations with
// shapes become constants. buildModel() is declared in canonical/model_builder.hpp.
//
// Operators of PyTorch that change a tensor in place are converted by class InPlace
// (pt2/in_place.cpp): the changed tensor becomes a new value, which replaces the old one under its
// name and in all views.
//
// An operator that Tenon cannot import does not end the walk: it is added to the graph's refusals,
// and the error at the end lists all of them.
#include "import/model_file.hpp"

#include "import/canonical/merged_sums.hpp"
#include "import/onnx/onnx.hpp"
#include "import/pt2/pt2.hpp"
#include "import/unknown_operators.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tenon {

namespace {

// Extents that the file fixes must match; free ones can have any value.
void checkInputs(const ModelProgram& program, const std::vector<Shape>& inputs,
                 const std::string& file) {
  if (inputs.size() != program.inputs.size())
    throw Error(TENON_ERR_ARG, fmt::format("{} has {} inputs, but is given {}", file,
                                           program.inputs.size(), inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput& expected = program.inputs[i];
    // A number is a tensor [1].
    bool matches = expected.shape.size() == inputs[i].size() ||
                   (expected.shape.empty() && inputs[i] == Shape{1});
    std::vector<std::string> words;
    for (std::size_t d = 0; d < expected.shape.size(); ++d) {
      const auto& extent = expected.shape[d];
      words.push_back(extent ? std::to_string(*extent) : d == 0 ? "batch" : "any");
      matches = matches && (!extent || *extent == inputs[i][d]);
    }
    if (!matches)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("input '{}' of {} has shape [{}], but is given [{}]; export the model "
                      "with free extents if they should be the run's",
                      expected.name, file, fmt::join(words, ","), fmt::join(inputs[i], ",")));
  }
}

// Calls visit(name) for each value that an operation reads.
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

// The walk over a program. Each operation is dispatched to the table of its format, which calls the
// builder.
class ModelWalk {
public:
  ModelWalk(const ModelWeights& weights, ModelMode mode, ModelTables tables)
      : program_(weights.program()), builder_(weights, mode, tables),
        written_(InPlace::writtenNames(weights.program())) {}

  ModelGraph& graph() noexcept { return builder_.graph(); }
  ModelGraph take() { return builder_.take(); }

  void run(const std::vector<Shape>& inputs) {
    const std::set<std::string> read = namesOfNumbers();
    for (const auto& [name, tensor] : program_.constants) {
      ModelConstant constant = ModelConstant::ofTensor(program_, tensor);
      names_[name] = read.contains(name) ? builder_.constant(std::move(constant))
                                         : builder_.storedConstant(std::move(constant));
      if (program_.tensors[tensor].isComplex)
        names_[name] = builder_.complex(names_[name]);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const ModelBuilder::Value input = builder_.input(program_.inputs[i].name, inputs[i]);
      if (program_.flags.contains(program_.inputs[i].name))
        storedTypes_.noteTruths(input);
      names_[program_.inputs[i].name] =
          builder_.reshape(input, program_.inputs[i].shape.empty() ? Shape() : inputs[i]);
    }
    for (const ModelOperation& operation : program_.operations)
      add(operation);
    for (const std::string& name : program_.outputs)
      addOutput(name);
    builder_.computePairs();
    separateMergedSums(builder_);
  }

private:
  // The names of values that are outputs or that operations read, but not the lists of filters on
  // the sphere, which may be longer than other integers and are compared at once.
  std::set<std::string> namesOfNumbers() const {
    std::set<std::string> names(program_.outputs.begin(), program_.outputs.end());
    for (const ModelOperation& operation : program_.operations)
      if (!readsFilterLists(operation.type))
        forEachRead(operation, [&](const std::string& name) { names.insert(name); });
    return names;
  }

  // Adds the values of one operation to the graph.
  void add(const ModelOperation& operation) {
    builder_.begin(operation, valuesRead(operation));
    forEachRead(operation, [&](const std::string& name) {
      if (inPlace_.isStale(name))
        builder_.refuse("a tensor whose memory was changed through a view of it, or by detach()",
                        "operators that make new values, such as detach().clone()", {1});
    });
    ModelValues values = results(withNarrowNumbers(operation));
    for (std::size_t i = 0; i < std::min(operation.results.size(), values.size()); ++i)
      if (values[i])
        values[i] = stored(operation, operation.results[i], values[i]);
    if (InPlace::changed(operation) && !values.empty())
      inPlace_.write(builder_, names_, operation, values[0]);
    inPlace_.note(operation);
    for (std::size_t i = 0; i < operation.results.size(); ++i)
      names_[operation.results[i]] = i < values.size() ? values[i] : nullptr;
  }

  // PyTorch converts each result to its type. Constants were computed in float64 at import, so
  // they are rounded in the same way.
  ModelBuilder::Value stored(const ModelOperation& operation, const std::string& name,
                             ModelBuilder::Value value) {
    if (const auto type = program_.types.find(name); type != program_.types.end())
      return builder_.rounded(value, type->second);
    if (program_.format != ModelProgram::Format::Pt2) // ONNX's operators convert no types
      return value;
    return storedTypes_.stored(builder_, Operands(builder_, operation, names_, program_.flags),
                               name, value);
  }

  // Returns an operation of constants with the numbers that PyTorch computes with, which are
  // rounded, as 0.1 in x * 0.1 for x in float32.
  ModelOperation withNarrowNumbers(ModelOperation operation) const {
    const std::optional<Index> type =
        program_.roundsNumbers ? typeOfNumbers(operation, program_) : std::nullopt;
    const ModelValues values = valuesRead(operation);
    if (type && !values.empty() && std::ranges::all_of(values, &ModelValue::isKnown))
      for (auto& [name, argument] : operation.arguments)
        if (argument.kind == ModelArgument::Kind::Real)
          argument.real = ModelConstant::ofNumbers({}, {argument.real}).rounded(*type).numbers()[0];
    return operation;
  }

  ModelValues valuesRead(const ModelOperation& operation) const {
    ModelValues values;
    forEachRead(operation, [&](const std::string& name) {
      if (const auto found = names_.find(name); found != names_.end() && found->second)
        values.push_back(found->second);
    });
    return values;
  }

  // Calls the operator's function; returns its results, or none after an error that only follows
  // from a refused operator.
  ModelValues results(const ModelOperation& operation) {
    const Operands operands(builder_, operation, names_, program_.flags);
    const bool isPt2 = program_.format != ModelProgram::Format::Onnx;
    try {
      if (!isPt2)
        return buildOnnx(builder_, operands, program_.version);
      const bool isWritten = !operation.results.empty() && written_.contains(operation.results[0]);
      return buildPt2(builder_, operands, isWritten);
    } catch (const Error&) {
      // After a refused operator, shapes can be wrong, so a later error may only be a consequence.
      // It is ignored, but an unknown operator is still added to the list of refusals.
      if (builder_.graph().refusals.empty())
        throw;
      const bool isKnown = isPt2 ? isKnownInPt2(operation.type) : isKnownInOnnx(operation.type);
      if (!isKnown && !operation.results.empty())
        builder_.refuse(fmt::format("the operator {}", operation.type), adviceFor(operation.type),
                        {1});
      return {};
    }
  }

  void addOutput(const std::string& name) {
    const auto found = names_.find(name);
    if (found != names_.end() && !found->second)
      throw Error(TENON_ERR_SUPPORT, notComputed(program_, name));
    if (inPlace_.isStale(name))
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("the output '{}' shares memory that was changed in place through a "
                              "view of it; use operators that make new values",
                              name));
    if (found == names_.end())
      throw Error(TENON_ERR_FORMAT, fmt::format("the output '{}' is not computed", name));
    ModelGraph& graph = builder_.graph();
    const std::size_t place = graph.outputs.size();
    graph.outputs.push_back(found->second);
    graph.outputNames.push_back(program_.outputNames.empty() ? name : program_.outputNames[place]);
  }

  const ModelProgram& program_;
  ModelBuilder builder_;
  const std::set<std::string> written_; // values that operations change in place
  Operands::Names names_;               // value of the graph by name; null: not computed by Tenon
  InPlace inPlace_;
  StoredTypes storedTypes_;
};

} // namespace

ModelGraph buildModel(const ModelWeights& weights, const std::vector<Shape>& inputs, ModelMode mode,
                      ModelTables tables) {
  const std::string& file = weights.file().name();
  checkInputs(weights.program(), inputs, file);
  ModelWalk walk(weights, mode, tables);
  try {
    walk.run(inputs);
  } catch (const Error& error) {
    // An error after a refused operator may only be its consequence, so the list of refusals is
    // reported.
    checkRefusals(walk.graph(), file, weights.program().operations.size());
    // Errors from operators do not name the file; add it.
    if (error.text().find(file) != std::string::npos)
      throw;
    throw Error(error.code(), fmt::format("{}: {}", file, error.text()));
  }
  return walk.take();
}

} // namespace tenon
