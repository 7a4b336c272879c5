// SPDX-License-Identifier: BSD-2-Clause
// Reads the graph of an ONNX file as a ModelProgram; onnx.hpp has the messages and the order of
// reading. All names and sizes are checked, because the file is not trusted: fail() throws
// TENON_ERR_FORMAT if it is damaged, refuse() throws TENON_ERR_SUPPORT if it cannot be imported.
#include "import/onnx/onnx.hpp"

#include "import/onnx/parameter_names.hpp"
#include "import/onnx/tensor_message.hpp"
#include "import/onnx/wire.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

namespace tenon {

namespace {

using namespace onnx;                           // numbers of fields
constexpr Index kMinOpset = 13, kMaxOpset = 25; // versions of the operator set that can be read
constexpr std::size_t kMaxListed = 1 << 16;     // numbers of an attribute
constexpr std::size_t kMaxDomains = 8;          // operator sets listed in a message
constexpr std::size_t kMaxNames = std::size_t(1) << 22; // values of the graph

class OnnxReader {
public:
  explicit OnnxReader(const ByteSource& source) : source_(source), bytes_(source) {
    program_.format = ModelProgram::Format::Onnx;
  }

  ModelProgram read() {
    std::optional<WireMessage> graph;
    std::optional<Index> opset;
    std::vector<std::string> domains; // domains of other operator sets
    for (WireMessage model(bytes_); model.next();)
      switch (model.number()) {
      case kModelGraph:
        if (graph)
          model.fail("there are two graphs");
        graph = model.message();
        break;
      case kModelOpset:
        readOpset(model.message(), opset, domains);
        break;
      case kModelFunctions:
        refuse("it has functions of its own; export the model without them");
      default:
        break;
      }
    if (graph && !opset && !domains.empty())
      refuse(fmt::format("its operators are those of {}; the operators of ONNX itself (domain "
                         "\"ai.onnx\") can be read, and it has none",
                         joined(domains)));
    if (!graph || !opset)
      source_.fail("", "it has no graph with a version of its operators: it is no ONNX file");
    if (*opset < kMinOpset || *opset > kMaxOpset)
      refuse(fmt::format("its operators have version {} (opset); {} to {} can be read", *opset,
                         kMinOpset, kMaxOpset));
    program_.version = static_cast<int>(*opset);
    readGraph(*graph);
    return std::move(program_);
  }

private:
  [[noreturn]] void refuse(const std::string& why) const { refuseOnnx(source_, why); }

  void readOpset(WireMessage opset, std::optional<Index>& version,
                 std::vector<std::string>& domains) const {
    std::string domain;
    Index number = 0;
    while (opset.next())
      if (opset.number() == kOpsetDomain)
        domain = onnxName(opset);
      else if (opset.number() == kOpsetVersion)
        number = opset.integer();
    if (domain.empty() || domain == "ai.onnx")
      version = number;
    else if (domains.size() < kMaxDomains)
      domains.push_back(domain);
  }

  void define(const WireMessage& at, const std::string& name) {
    if (!definedNames_.insert(name).second)
      at.fail(fmt::format("the value '{}' is defined twice", name));
    if (definedNames_.size() > kMaxNames)
      refuse("it has too many values");
  }
  ModelArgument reference(const WireMessage& at, const std::string& name) const {
    if (name.empty())
      return {};
    if (!definedNames_.contains(name))
      at.fail(fmt::format("the value '{}' is read, and nothing before it defines it", name));
    return ModelArgument::ofValue(name);
  }

  // One pass over the fields per kind: constants and inputs are defined before the nodes use them.
  void readGraph(const WireMessage& graph) {
    for (WireMessage field = graph; field.next();)
      if (field.number() == kGraphValueInfo)
        parameterNames_.noteRole(field.message());
      else if (field.number() == kGraphMetadata)
        if (const auto [key, text] = onnxPair(field.message()); key.ends_with("graph_signature"))
          parameterNames_.noteTargets(text);
    for (WireMessage field = graph; field.next();) {
      if (field.number() == kGraphSparse)
        refuse("it has sparse tensors");
      if (field.number() == kGraphInitializer)
        addConstant(field, /*unnamed=*/"");
    }
    for (WireMessage field = graph; field.next();)
      if (field.number() == kGraphInput)
        readInput(field);
    if (program_.inputs.empty())
      refuse("the model has no inputs");
    for (WireMessage field = graph; field.next();)
      if (field.number() == kGraphNode)
        readNode(field);
    for (WireMessage field = graph; field.next();)
      if (field.number() == kGraphOutput) {
        const std::string name = valueName(field.message());
        if (name.empty() || !definedNames_.contains(name))
          field.fail(fmt::format("the output '{}' is not computed", name));
        program_.outputs.push_back(name);
      }
    if (program_.outputs.empty())
      refuse("the model has no outputs");
  }

  std::string valueName(WireMessage value) const {
    std::string name;
    while (value.next())
      if (value.number() == kValueName)
        name = onnxName(value);
    return name;
  }

  void readInput(const WireMessage& field) {
    ModelInput input;
    Index elements = 0;
    for (WireMessage value = field.message(); value.next();)
      if (value.number() == kValueName)
        input.name = onnxName(value);
      else if (value.number() == kValueType)
        for (WireMessage type = value.message(); type.next();) {
          if (type.number() == kTypeTensor)
            elements = readTensorType(type.message(), input);
          else if (type.number() == kTypeSequence || type.number() == kTypeMap ||
                   type.number() == kTypeSparse || type.number() == kTypeOptional)
            refuse(fmt::format("input '{}' is no tensor, but a sequence, a map, or optional or "
                               "sparse; export the model with tensors",
                               input.name));
        }
    if (definedNames_.contains(input.name)) // older files list tensors as inputs too
      return;
    define(field, input.name);
    if (elements != 0 && !onnxType(elements))
      refuse(fmt::format("input '{}' has ONNX's type of elements {}, which cannot be read",
                         input.name, elements));
    if (elements == kOnnxFlags)
      program_.flags.insert(input.name);
    if (isOnnxInteger(elements))
      program_.integers.insert(input.name);
    program_.inputs.push_back(std::move(input));
  }

  // Reads the shape of an input; returns its element type.
  Index readTensorType(WireMessage type, ModelInput& input) const {
    Index elements = 0;
    while (type.next())
      if (type.number() == kTensorTypeElements)
        elements = type.integer();
      else if (type.number() == kTensorTypeShape)
        for (WireMessage shape = type.message(); shape.next();)
          if (shape.number() == kShapeDim) {
            std::optional<Index> extent; // none: free, set by each run
            for (WireMessage dim = shape.message(); dim.next();)
              if (dim.number() == kDimExtent)
                extent = dim.integer();
            if (input.shape.size() == kMaxModelDimensions || (extent && *extent < 0))
              shape.fail("an input has an impossible shape");
            input.shape.push_back(extent);
          }
    return elements;
  }

  void readNode(const WireMessage& field) {
    if (program_.operations.size() == kMaxOperations)
      refuse(fmt::format("it has more than {} operations", kMaxOperations));
    ModelOperation operation;
    std::string domain, module; // "": not in the file
    for (WireMessage node = field.message(); node.next();)
      switch (node.number()) {
      case kNodeInput:
        operation.inputs.push_back(reference(node, node.text()));
        break;
      case kNodeOutput:
        operation.results.push_back(node.text());
        break;
      case kNodeName:
        operation.label = onnxName(node);
        break;
      case kNodeOperator:
        operation.type = onnxName(node);
        break;
      case kNodeAttribute:
        readAttribute(node, operation);
        break;
      case kNodeDomain:
        domain = onnxName(node);
        break;
      case kNodeMetadata:
        if (const auto [key, value] = onnxPair(node.message()); key.ends_with("stack_trace"))
          operation.where = sourceLine(value);
        else if (key.ends_with("name_scopes"))
          module = moduleIn(value).value_or("");
        break;
      }
    if (operation.type.empty())
      field.fail("a node has no operator");
    if (!domain.empty() && domain != "ai.onnx")
      operation.type = domain + "." + operation.type;
    addOperation(field, std::move(operation), module);
  }

  void addOperation(const WireMessage& field, ModelOperation operation, const std::string& module) {
    std::set<std::string_view> names;
    for (const auto& [name, argument] : operation.arguments)
      if (!names.insert(name).second)
        field.fail(fmt::format("a node has its attribute '{}' twice", name));
    if (operation.label.empty())
      operation.label = fmt::format("{}_{}", operation.type, program_.operations.size());
    if (operation.type == "Identity" && operation.inputs.size() == 1 &&
        operation.results.size() == 1 && isStored(operation.inputs[0].text))
      return addAlias(field, operation.inputs[0].text, operation.results[0]);
    for (ModelArgument& input : operation.inputs)
      if (!module.empty() && input.isValue())
        input.text = parameterOf(field, input.text, module);
    const bool areFlags = givesOnnxFlags(program_, operation),
               areIntegers = givesOnnxIntegers(program_, operation);
    for (const std::string& result : operation.results)
      if (!result.empty()) {
        define(field, result);
        if (areFlags)
          program_.flags.insert(result);
        if (areIntegers)
          program_.integers.insert(result);
      }
    program_.operations.push_back(std::move(operation));
  }

  // Exporters store equal tensors once, under the first one's name. An alias adds an omitted tensor
  // again as a parameter. PyTorch's older exporter writes an Identity node for it; the newer has a
  // node's module ("['', 'blocks.0', 'blocks.0.norm', 'layer_norm']") and all parameter names.
  void addAlias(const WireMessage& field, const std::string& name, const std::string& alias) {
    define(field, alias);
    if (plainLength(alias, "") != alias.size())
      field.fail("a name has control characters, or is no UTF-8");
    ModelTensor tensor = program_.tensors[tensorOf_.at(name)];
    tensor.name = tensor.stored.name = alias;
    tensorOf_[alias] = program_.tensors.size();
    program_.constants.emplace_back(alias, program_.tensors.size());
    if (program_.flags.contains(name))
      program_.flags.insert(alias);
    if (program_.integers.contains(name))
      program_.integers.insert(alias);
    program_.tensors.push_back(std::move(tensor));
  }
  // Whether a constant's bytes are in a file: its aliases then need no memory for numbers.
  bool isStored(const std::string& name) const {
    const auto found = tensorOf_.find(name);
    return found != tensorOf_.end() && !program_.tensors[found->second].numbers;
  }
  // The parameter that a node of this module reads as the input `name`.
  std::string parameterOf(const WireMessage& field, const std::string& name,
                          const std::string& module) {
    const std::optional<std::string> alias =
        isStored(name) ? parameterNames_.aliasIn(module, name) : std::nullopt;
    if (!alias)
      return name;
    if (!tensorOf_.contains(*alias))
      addAlias(field, name, *alias);
    return *alias;
  }

  // Adds a tensor as a constant of the graph, under its name, or under `unnamed` if it has none.
  std::string addConstant(const WireMessage& field, const std::string& unnamed) {
    ModelTensor tensor = readOnnxTensor(source_, field, unnamed, program_.rounded);
    std::string name = tensor.stored.name;
    tensor.role = parameterNames_.roleOf(name).value_or(tensor.role);
    program_.tensors.push_back(std::move(tensor));
    define(field, name);
    program_.constants.emplace_back(name, program_.tensors.size() - 1);
    tensorOf_[name] = program_.tensors.size() - 1;
    if (program_.tensors.back().stored.type == ElementType::Bool)
      program_.flags.insert(name);
    if (const ElementType type = program_.tensors.back().stored.type;
        !isReal(type) && type != ElementType::Bool)
      program_.integers.insert(name);
    return name;
  }

  void readAttribute(const WireMessage& field, ModelOperation& operation) {
    const std::string tensorName =
        fmt::format("node {} attribute {}", program_.operations.size(), operation.arguments.size());
    std::string name;
    ModelArgument value;
    ModelArgument::List list;
    const auto add = [&](ModelArgument item) {
      if (list.size() == kMaxListed)
        refuse("an attribute has too many numbers");
      list.push_back(std::move(item));
    };
    for (WireMessage attribute = field.message(); attribute.next();)
      switch (attribute.number()) {
      case kAttributeName:
        name = onnxName(attribute);
        break;
      case kAttributeFloat:
        value = ModelArgument::ofReal(shortestDecimal(attribute.real32()));
        break;
      case kAttributeInt:
        value = ModelArgument::ofInteger(attribute.integer());
        break;
      case kAttributeString:
        value = ModelArgument::ofText(attribute.text());
        break;
      case kAttributeTensor:
        value = ModelArgument::ofValue(addConstant(attribute, tensorName));
        break;
      case kAttributeFloats:
        attribute.reals32(
            [&](float number) { add(ModelArgument::ofReal(shortestDecimal(number))); });
        break;
      case kAttributeInts:
        attribute.integers([&](Index number) { add(ModelArgument::ofInteger(number)); });
        break;
      case kAttributeStrings:
        add(ModelArgument::ofText(attribute.text()));
        break;
      case kAttributeGraph:
      case kAttributeTensors:
      case kAttributeGraphs:
      case kAttributeType:
      case kAttributeTypes:
      case kAttributeSparse:
      case kAttributeSparseTensors:
        value = ModelArgument::ofText("a graph, a type, or several or sparse tensors");
        break;
      case kAttributeReference:
        refuse("an attribute refers to that of a function; export the model without functions");
      default:
        break;
      }
    operation.arguments.emplace_back(
        name, value.isNothing() ? ModelArgument::ofList(std::move(list)) : value);
  }

  const ByteSource& source_;
  PagedBytes bytes_;
  std::set<std::string> definedNames_;          // names of the values that have been read
  std::map<std::string, std::size_t> tensorOf_; // index in program_.tensors, by name
  OnnxParameterNames parameterNames_;
  ModelProgram program_;
};

} // namespace

ModelProgram readOnnx(const ByteSource& source) {
  return OnnxReader(source).read();
}

} // namespace tenon
