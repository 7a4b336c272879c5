// SPDX-License-Identifier: BSD-2-Clause
// Reads an archive of torch.export.save() as a ModelProgram. pt2.hpp lists its members and has an
// example of the graph. The file is not trusted: all checksums are verified, and nodes may read
// only values that are defined before, so the program has no cycle. source_.fail() throws
// TENON_ERR_FORMAT if the file is damaged, refuse() throws TENON_ERR_SUPPORT if it cannot be
// imported.
#include "import/pt2/archive.hpp"
#include "import/pt2/pt2.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>

namespace tenon {

namespace {

constexpr int kSchema = 8;                               // major version of PyTorch's schema
constexpr Index kComplexFloat = 10, kComplexDouble = 11; // type numbers of complex elements
constexpr Index kMaxStride = Index(1) << 60;
constexpr std::ptrdiff_t kMaxRegions = 16; // each in the one before

// Converts the number of an element type in PyTorch's schema. Complex types are not in the table.
std::optional<ElementType> torchType(Index code) {
  constexpr std::pair<Index, ElementType> kTypes[] = {
      {1, ElementType::U8},    {2, ElementType::I8},   {3, ElementType::I16}, {4, ElementType::I32},
      {5, ElementType::I64},   {6, ElementType::F16},  {7, ElementType::F32}, {8, ElementType::F64},
      {12, ElementType::Bool}, {13, ElementType::BF16}};
  for (const auto& [number, type] : kTypes)
    if (number == code)
      return type;
  return std::nullopt;
}

// Returns the innermost module, for operations of PyTorch's own modules, which have no source line:
// "L__self__,,zoo.Net;L__self__1,1,torch.nn.modules.upsampling.Upsample".
std::string moduleLine(const std::string& stack) {
  const std::vector<std::string> modules = split(stack, ';');
  const std::vector<std::string> words =
      modules.empty() ? std::vector<std::string>() : split(modules.back(), ',');
  return words.size() < 3 || words[1].empty() ? std::string()
                                              : fmt::format("module {}: {}", words[1], words[2]);
}

class Pt2Reader {
public:
  explicit Pt2Reader(const ByteSource& source) : source_(source), archive_(source) {}

  ModelProgram read() {
    checkVersions();
    const std::string file = source_.name() + ": models/model.json";
    const JsonNode tree = parseJson(archive_.text("models/model.json"), file);
    const JsonView program(tree, file);
    const JsonView version = program.at("schema_version");
    if (version.at("major").integer(0) != kSchema)
      refuse(
          fmt::format("its graph has version {}.{} of PyTorch's schema, and this version of Tenon "
                      "reads {}; export the model with another version of PyTorch",
                      version.at("major").integer(0), version.at("minor").integer(0), kSchema));
    readTensors("data/weights/", "model_weights_config.json");
    readTensors("data/constants/", "model_constants_config.json");
    const JsonView module = program.at("graph_module"), graph = module.at("graph");
    noteTypes(graph.at("tensor_values"));
    readInputs(module.at("signature").at("input_specs"), graph.at("tensor_values"));
    readNodes(graph);
    readOutputs(module.at("signature").at("output_specs"));
    if (archive_.has("tenon/filters.json"))
      readStoredFilters(archive_, program_);
    if (archive_.has("tenon/test.json"))
      readStoredTest(archive_, program_);
    return std::move(program_);
  }

private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(TENON_ERR_SUPPORT, fmt::format("{}: {}", source_.name(), why));
  }

  void checkVersions() const {
    if (!archive_.has("archive_format") || archive_.text("archive_format") != "pt2")
      source_.fail("archive_format",
                   "it is no archive of torch.export.save() of PyTorch 2.9 or later");
    if (archive_.text("archive_version") != "0")
      refuse(
          fmt::format("it has version \"{}\" of PyTorch's archive; this version of Tenon reads 0",
                      archive_.text("archive_version").substr(0, 16)));
    if (archive_.text("byteorder") != "little")
      refuse("its numbers are not little-endian; export the model on another machine");
  }

  // Reads the list of tensors in `folder` + `config`, with the position of their bytes in the
  // archive.
  void readTensors(const std::string& folder, const std::string& config) {
    const std::string file = source_.name() + ": " + folder + config;
    const JsonNode tree = parseJson(archive_.text(folder + config), file);
    for (const auto& [name, view] : JsonView(tree, file).at("config").members()) {
      if (view.at("use_pickle").flag()) {
        pickled_.insert(name);
        continue;
      }
      if (!tensors_.emplace(name, program_.tensors.size()).second)
        view.fail("is given twice");
      program_.tensors.push_back(readTensor(
          name, archive_.member(folder + view.at("path_name").text()), view.at("tensor_meta")));
    }
  }

  static std::vector<Index> extents(const JsonView& list) {
    std::vector<Index> numbers;
    for (const JsonView& item : list.list()) {
      if (numbers.size() == kMaxModelDimensions)
        list.fail(fmt::format("has more than {} dimensions", kMaxModelDimensions));
      numbers.push_back(item.at("as_int").integer(0));
    }
    return numbers;
  }

  // PyTorch stores the bytes of a tensor in its order in memory, such as a transposed matrix column
  // by column. The dimensions are therefore sorted by decreasing stride: stored.shape has the
  // extents in this order, and axes[d] is the position of dimension d in it.
  ModelTensor readTensor(const std::string& name, const ZipMember& bytes, const JsonView& meta) {
    std::vector<Index> sizes = extents(meta.at("sizes")), strides = extents(meta.at("strides"));
    const Index code = meta.at("dtype").integer(0);
    const bool isComplex = code == kComplexFloat || code == kComplexDouble;
    const std::optional<ElementType> type =
        isComplex ? (code == kComplexFloat ? ElementType::F32 : ElementType::F64) : torchType(code);
    if (!type)
      refuse(fmt::format("tensor '{}' has PyTorch's type of elements {}, which cannot be read",
                         name, meta.at("dtype").integer(0)));
    if (strides.size() != sizes.size())
      meta.at("strides").fail("has another number of dimensions than the sizes");
    if (isComplex) {
      if (sizes.size() == kMaxModelDimensions)
        refuse(fmt::format("the complex tensor '{}' has too many dimensions", name));
      for (Index& stride : strides)
        stride = 2 * std::min(stride, kMaxStride);
      sizes.push_back(2); // real and imaginary part
      strides.push_back(1);
    }
    ModelTensor tensor{.name = name, .stored = {.name = name, .type = *type}, .axes = {}};
    tensor.isComplex = isComplex;
    checkName(source_, name);
    std::vector<int> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    // Dimensions of extent 1 can have any stride; sort them to the end.
    const auto key = [&](int d) {
      const auto i = static_cast<std::size_t>(d);
      return std::pair(sizes[i] <= 1, -strides[i]);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    tensor.axes.resize(sizes.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
      tensor.axes[static_cast<std::size_t>(order[place])] = static_cast<int>(place);
      tensor.stored.shape.push_back(sizes[static_cast<std::size_t>(order[place])]);
    }
    const std::optional<Index> length = bytesOf(tensor.stored.shape, *type);
    const Index size = elementSize(*type) * (isComplex ? 2 : 1), // unit of offsets
        offset = meta.at("storage_offset").at("as_int").integer(0);
    Index inner = 1; // stride of the next dimension in a contiguous tensor
    for (std::size_t place = order.size(); length && *length > 0 && place-- > 0;) {
      const auto d = static_cast<std::size_t>(order[place]);
      if (sizes[d] > 1 && strides[d] != inner)
        refuse(fmt::format("tensor '{}' does not lie in one piece; call contiguous() on it before "
                           "the export",
                           name));
      inner *= sizes[d];
    }
    if (!length || offset > bytes.bytes / size || *length > bytes.bytes - offset * size)
      source_.fail(name,
                   fmt::format("its elements do not fit into the {} bytes that the archive has",
                               bytes.bytes));
    tensor.stored.begin = offset * size;
    tensor.stored.bytes = *length;
    tensor.stored.member = bytes;
    return tensor;
  }

  // The shape of a value. Extents that each run chooses are nullopt.
  std::vector<std::optional<Index>> shapeOf(const JsonView& value) const {
    std::vector<std::optional<Index>> shape;
    for (const JsonView& size : value.at("sizes").list()) {
      if (shape.size() == kMaxModelDimensions)
        refuse(fmt::format("a tensor has more than {} dimensions", kMaxModelDimensions));
      shape.push_back(size.has("as_int") ? std::optional(size.at("as_int").integer(0))
                                         : std::nullopt);
    }
    return shape;
  }
  // Returns the shape of an input at export, which the file stores for the free extents too.
  static std::vector<std::optional<Index>> exampleOf(const JsonView& value) {
    std::vector<std::optional<Index>> shape;
    for (const JsonView& size : value.at("sizes").list()) {
      shape.emplace_back();
      if (size.has("as_expr") && size.at("as_expr").has("hint"))
        if (const JsonView hint = size.at("as_expr").at("hint"); hint.has("as_int"))
          shape.back() = hint.at("as_int").integer(0);
    }
    return shape;
  }
  // Records which values are booleans or integers, and which have less precision than float64.
  void noteTypes(const JsonView& values) {
    constexpr Index kFirstInteger = 1, kLastInteger = 5, kBool = 12; // numbers as in torchType()
    constexpr Index kNarrow[] = {6, 7, 9, 10, 13}; // float16, float32, complex of each, bfloat16
    for (const auto& [name, value] : values.members()) {
      const Index type = value.has("dtype") ? value.at("dtype").integer(0) : 0;
      if (type == kBool)
        program_.flags.insert(prefix_ + name);
      if (type >= kFirstInteger && type <= kLastInteger)
        program_.integers.insert(prefix_ + name);
      if (std::ranges::find(kNarrow, type) != std::end(kNarrow))
        program_.types.emplace(prefix_ + name, type);
    }
  }

  // Inputs of the graph are the model's inputs ("user_input"), and its parameters, buffers and
  // other stored tensors, which become constants of the program.
  void readInputs(const JsonView& specs, const JsonView& values) {
    for (const JsonView& spec : specs.list()) {
      if (spec.has("user_input")) {
        const JsonView arg = spec.at("user_input").at("arg");
        if (!arg.has("as_tensor"))
          refuse("an input of the model is no tensor; give such values to the model's constructor");
        const std::string name = arg.at("as_tensor").at("name").name();
        program_.inputs.push_back({name, shapeOf(values.at(name)), exampleOf(values.at(name))});
        define(spec, name);
        continue;
      }
      // Adds the input as a constant if it is of this kind; returns whether it is.
      const auto stored = [&](const char* kind, const char* key) {
        if (!spec.has(kind))
          return false;
        const JsonView entry = spec.at(kind);
        constant(entry, entry.at("arg").at("name").text(), entry.at(key).text(), values);
        program_.tensors[program_.constants.back().second].role =
            std::string_view(kind) == "parameter" ? ModelTensor::Role::Parameter
                                                  : ModelTensor::Role::Buffer;
        return true;
      };
      if (!stored("parameter", "parameter_name") && !stored("buffer", "buffer_name") &&
          !stored("tensor_constant", "tensor_constant_name"))
        refuse("the model has an input that is neither a tensor nor a parameter");
    }
    if (program_.inputs.empty())
      refuse("the model has no inputs");
  }

  // Defines the value named `value` as the stored tensor named `name`.
  void constant(const JsonView& view, const std::string& value, const std::string& name,
                const JsonView& values) {
    define(view, value);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      if (pickled_.contains(name))
        refuse(
            fmt::format("tensor '{}' is stored as a Python object, which is not read; export the "
                        "model with PyTorch 2.9 or later",
                        name));
      source_.fail(name, "the archive has no such tensor");
    }
    std::vector<Index> shape = program_.tensors[found->second].shape();
    if (program_.tensors[found->second].isComplex)
      shape.pop_back();
    const auto declared = shapeOf(values.at(value));
    if (!std::equal(declared.begin(), declared.end(), shape.begin(), shape.end()))
      source_.fail(name, "its shape in the graph differs from that of the stored tensor");
    program_.constants.emplace_back(value, found->second);
  }

  // `at` is the position in the file, for the error.
  void define(const JsonView& at, const std::string& name) {
    if (!definedNames_.insert(prefix_ + name).second)
      at.fail(fmt::format("defines the value '{}' a second time", name));
  }
  ModelArgument reference(const JsonView& at, const std::string& name) const {
    const auto argument = arguments_.find(name);
    const std::string full = argument == arguments_.end() ? prefix_ + name : argument->second;
    if (!definedNames_.contains(full))
      at.fail(fmt::format("reads the value '{}', which nothing before it defines", name));
    return ModelArgument::ofValue(full);
  }

  // JSON has no infinities; PyTorch writes their names.
  static double realOf(const JsonView& value) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::pair<std::string_view, double> kNames[] = {
        {"Infinity", kInfinity},
        {"-Infinity", -kInfinity},
        {"NaN", std::numeric_limits<double>::quiet_NaN()}};
    if (value.isText())
      for (const auto& [name, number] : kNames)
        if (value.text() == name)
          return number;
    return value.real();
  }

  // Converts an argument of a node, an object with one key, which is its kind: {"as_int": 3}.
  ModelArgument argument(const JsonView& view) const {
    const auto members = view.members();
    if (members.size() != 1)
      view.fail("is not one value");
    const auto& [kind, value] = members.front();
    if (kind == "as_tensor")
      return reference(value, value.at("name").text());
    if (kind == "as_name")
      return reference(value, value.text());
    if (kind == "as_int" || kind == "as_scalar_type")
      return ModelArgument::ofInteger(value.integer(std::numeric_limits<Index>::min()));
    if (kind == "as_float")
      return ModelArgument::ofReal(realOf(value));
    if (kind == "as_complex")
      return ModelArgument::ofComplex(realOf(value.at("real")), realOf(value.at("imag")));
    if (kind == "as_bool")
      return ModelArgument::ofFlag(value.flag());
    if (kind == "as_string")
      return ModelArgument::ofText(value.text());
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool")
      return argument(value);
    if (kind == "as_tensors" || kind == "as_ints" || kind == "as_floats" || kind == "as_bools" ||
        kind == "as_strings" || kind == "as_sym_ints" || kind == "as_optional_tensors")
      return ModelArgument::ofList(list(kind, value));
    return {}; // as_none, and arguments without effect on results: devices, memory formats
  }
  ModelArgument::List list(const std::string& kind, const JsonView& view) const {
    ModelArgument::List items;
    for (const JsonView& item : view.list()) {
      if (kind == "as_tensors")
        items.push_back(reference(item, item.at("name").text()));
      else if (kind == "as_ints")
        items.push_back(ModelArgument::ofInteger(item.integer(std::numeric_limits<Index>::min())));
      else if (kind == "as_floats")
        items.push_back(ModelArgument::ofReal(realOf(item)));
      else if (kind == "as_bools")
        items.push_back(ModelArgument::ofFlag(item.flag()));
      else if (kind == "as_strings")
        items.push_back(ModelArgument::ofText(item.text()));
      else
        items.push_back(argument(item));
    }
    return items;
  }

  void readNodes(const JsonView& graph) {
    for (const JsonView& node : graph.at("nodes").list())
      if (!readRegion(node))
        readNode(node);
  }

  // A region in which autocast or gradients are disabled is a graph among the arguments of a node:
  // an argument before it says so, those after it are the values that the region reads. Its
  // operators are those of the graph around it, with names of their own. Returns false for others.
  bool readRegion(const JsonView& node) {
    constexpr std::string_view kRegion = "torch.ops.higher_order.wrap_with_";
    const std::string target = node.at("target").name();
    const bool stopsGradients = target == std::string(kRegion) + "set_grad_enabled";
    if (!stopsGradients && target != std::string(kRegion) + "autocast")
      return false;
    const std::size_t enabledAt = stopsGradients ? 0 : 2, graphAt = stopsGradients ? 1 : 4;
    const std::vector<JsonView> inputs = node.at("inputs").list();
    if (inputs.size() <= graphAt || !inputs[graphAt].at("arg").has("as_graph") ||
        !inputs[enabledAt].at("arg").has("as_bool") ||
        inputs[enabledAt].at("arg").at("as_bool").flag())
      return false;
    const JsonView region = inputs[graphAt].at("arg").at("as_graph"), graph = region.at("graph");
    const std::vector<JsonView> values = graph.at("inputs").list();
    if (values.size() != inputs.size() - graphAt - 1)
      region.fail("has another number of inputs than arguments");
    if (std::ranges::count(prefix_, '.') >= kMaxRegions)
      region.fail("is in too many other regions");
    std::map<std::string, std::string> arguments;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ModelArgument outer = argument(inputs[graphAt + 1 + i].at("arg"));
      if (!outer.isValue())
        region.fail("has an argument other than values");
      arguments.emplace(nameOf(values[i]), outer.text);
    }
    arguments_.swap(arguments);
    const std::string prefix = std::exchange(prefix_, prefix_ + region.at("name").name() + ".");
    const std::size_t first = program_.operations.size();
    noteTypes(graph.at("tensor_values"));
    readNodes(graph);
    if (stopsGradients)
      InPlace::checkRegion(std::span(program_.operations).subspan(first), prefix_, source_.name());
    std::vector<ModelArgument> results;
    for (const JsonView& output : graph.at("outputs").list())
      results.push_back(reference(output, nameOf(output)));
    arguments_.swap(arguments);
    prefix_ = prefix;
    nameResults(node, stopsGradients ? "aten.detach.default" : "aten.alias.default", results);
    return true;
  }
  static std::string nameOf(const JsonView& value) {
    if (value.has("as_tensor"))
      return value.at("as_tensor").at("name").text();
    for (const char* kind : {"as_sym_int", "as_sym_float", "as_sym_bool"})
      if (value.has(kind))
        return value.at(kind).at("as_name").text();
    value.fail("is not a value");
  }
  // The results of a region have names in the graph around it.
  void nameResults(const JsonView& node, const char* type, std::vector<ModelArgument>& results) {
    ModelOperation names;
    for (const JsonView& output : node.at("outputs").list())
      readResult(output, names);
    if (names.results.size() != results.size())
      node.fail("has another number of results than its region");
    for (std::size_t i = 0; i < results.size(); ++i) {
      ModelOperation same;
      same.type = type;
      same.label = names.results[i];
      same.arguments.emplace_back("self", std::move(results[i]));
      same.results = {names.results[i]};
      program_.operations.push_back(std::move(same));
    }
  }

  void readNode(const JsonView& node) {
    ModelOperation op;
    const std::string target = node.at("target").name();
    constexpr std::string_view kAten = "torch.ops.aten.";
    op.type = target.starts_with(kAten) ? "aten." + target.substr(kAten.size()) : target;
    op.label = node.has("name") && node.at("name").isText() ? node.at("name").name() : op.type;
    const JsonView metadata = node.at("metadata");
    if (metadata.has("stack_trace"))
      op.where = sourceLine(metadata.at("stack_trace").text());
    if (op.where.empty() && metadata.has("nn_module_stack"))
      op.where = moduleLine(metadata.at("nn_module_stack").text());
    for (const JsonView& input : node.at("inputs").list())
      op.arguments.emplace_back(input.at("name").text(), argument(input.at("arg")));
    for (const JsonView& output : node.at("outputs").list())
      readResult(output, op);
    program_.operations.push_back(std::move(op));
  }

  void readResult(const JsonView& output, ModelOperation& operation) {
    const auto add = [&](const JsonView& at, const std::string& name) {
      define(at, name);
      operation.results.push_back(prefix_ + name);
    };
    if (output.has("as_tensor"))
      add(output, output.at("as_tensor").at("name").text());
    else if (output.has("as_tensors"))
      for (const JsonView& item : output.at("as_tensors").list())
        add(item, item.at("name").text());
    else
      for (const char* kind : {"as_sym_int", "as_sym_float", "as_sym_bool"})
        if (output.has(kind))
          add(output, output.at(kind).at("as_name").text());
  }

  void readOutputs(const JsonView& specs) {
    for (const JsonView& spec : specs.list()) {
      if (!spec.has("user_output"))
        refuse("the model changes its own buffers, as batch normalisation in training does; call "
               "eval() before the export");
      const JsonView arg = spec.at("user_output").at("arg");
      if (!arg.has("as_tensor"))
        refuse("an output of the model is no tensor");
      const std::string name = arg.at("as_tensor").at("name").text();
      reference(arg, name);
      program_.outputs.push_back(name);
    }
    if (program_.outputs.empty())
      refuse("the model has no outputs");
  }

  const ByteSource& source_;
  Pt2Archive archive_;
  std::map<std::string, std::size_t> tensors_;   // index in program_.tensors, by name
  std::set<std::string> pickled_, definedNames_; // members that are pickles; names of values
  // Inside regions of disabled autocast or gradients: what precedes the names of their values, and
  // the values of the graph around that they read, by their names inside.
  std::string prefix_;
  std::map<std::string, std::string> arguments_;
  ModelProgram program_;
};

} // namespace

ModelProgram readPt2(const ByteSource& source) {
  return Pt2Reader(source).read();
}

} // namespace tenon
