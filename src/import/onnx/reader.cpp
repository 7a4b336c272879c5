// SPDX-License-Identifier: BSD-2-Clause
// Reads an ONNX file as a ModelProgram; onnx.hpp describes the messages and the order of reading.
// All names and sizes are checked, because the file is not trusted: fail() throws TENON_ERR_FORMAT
// if it is damaged, refuse() throws TENON_ERR_SUPPORT if it cannot be imported.
#include "import/onnx/onnx.hpp"

#include "import/onnx/wire.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

namespace tenon {

namespace {

using namespace onnx;                           // numbers of fields
constexpr Index kMinOpset = 13, kMaxOpset = 25; // versions of the operator set that can be read
constexpr std::size_t kMaxListed = 1 << 16;     // numbers of an attribute
constexpr std::size_t kMaxLiteral = 1 << 20;    // elements that are not stored as raw bytes
constexpr std::size_t kMaxDomains = 8;          // operator sets listed in a message
constexpr std::size_t kMaxNames = std::size_t(1) << 22; // values of the graph

// Converts ONNX's number of an element type.
std::optional<ElementType> onnxType(Index code) {
  constexpr std::pair<Index, ElementType> kTypes[] = {
      {1, ElementType::F32},  {2, ElementType::U8},
      {3, ElementType::I8},   {4, ElementType::U16},
      {5, ElementType::I16},  {6, ElementType::I32},
      {7, ElementType::I64},  {kOnnxFlags, ElementType::Bool},
      {10, ElementType::F16}, {11, ElementType::F64},
      {12, ElementType::U32}, {13, ElementType::U64},
      {16, ElementType::BF16}};
  for (const auto& [number, type] : kTypes)
    if (number == code)
      return type;
  return std::nullopt;
}

// Attributes are float32, also in a float64 network: 0.1 is stored as 0.10000000149. The exporter
// meant the shortest decimal that rounds to this number.
double shortestDecimal(float number) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  double decimal = number;
  std::from_chars(text, end, decimal);
  return decimal;
}

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
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(TENON_ERR_SUPPORT, fmt::format("{}: {}", source_.name(), why));
  }

  // Reads a name that will be used in messages.
  std::string nameIn(const WireMessage& field) const {
    std::string name = field.text();
    if (plainLength(name, "") != name.size())
      field.fail("a name has control characters, or is no UTF-8");
    return name;
  }

  void readOpset(WireMessage opset, std::optional<Index>& version,
                 std::vector<std::string>& domains) const {
    std::string domain;
    Index number = 0;
    while (opset.next())
      if (opset.number() == kOpsetDomain)
        domain = nameIn(opset);
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
        noteRole(field.message());
      else if (field.number() == kGraphMetadata)
        if (const auto [key, text] = pairOf(field.message()); key.ends_with("graph_signature"))
          noteTargets(text);
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

  // PyTorch's newer exporter states which tensors are parameters of the model.
  void noteRole(WireMessage value) {
    std::string name, kind;
    while (value.next())
      if (value.number() == kValueName)
        name = value.text();
      else if (value.number() == kValueMetadata)
        if (const auto [key, text] = pairOf(value.message()); key.ends_with("InputSpec.kind"))
          kind = text;
    if (kind == "PARAMETER" || kind == "BUFFER")
      roles_[name] = kind == "BUFFER" ? ModelTensor::Role::Buffer : ModelTensor::Role::Parameter;
  }

  std::string valueName(WireMessage value) const {
    std::string name;
    while (value.next())
      if (value.number() == kValueName)
        name = nameIn(value);
    return name;
  }

  void readInput(const WireMessage& field) {
    ModelInput input;
    Index elements = 0;
    for (WireMessage value = field.message(); value.next();)
      if (value.number() == kValueName)
        input.name = nameIn(value);
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

  // Fields of a tensor message. Its elements are raw bytes, a list (literal), or in another file.
  struct Fields {
    std::string name;
    std::vector<Index> dims;
    Index type = 0, location = 0;
    std::optional<std::pair<Index, Index>> raw; // offset and size in bytes
    std::vector<double> literal;
    std::vector<std::pair<std::string, std::string>> external; // "location", "offset", "length"
  };

  Fields fieldsOf(WireMessage tensor) const {
    Fields fields;
    const auto addLiteral = [&](double number) {
      if (fields.literal.size() == kMaxLiteral)
        refuse("a tensor has too many numbers that are no raw bytes; export the model again");
      fields.literal.push_back(number);
    };
    while (tensor.next())
      switch (tensor.number()) {
      case kTensorDims:
        tensor.integers([&](Index extent) {
          if (fields.dims.size() == kMaxModelDimensions || extent < 0)
            tensor.fail("a tensor has an impossible shape");
          fields.dims.push_back(extent);
        });
        break;
      case kTensorType:
        fields.type = tensor.integer();
        break;
      case kTensorSegment:
        tensor.fail("a tensor is in segments");
      case kTensorFloats:
        tensor.reals32([&](float number) { addLiteral(static_cast<double>(number)); });
        break;
      case kTensorInts32:
      case kTensorInts64:
        tensor.integers([&](Index number) { addLiteral(static_cast<double>(number)); });
        break;
      case kTensorName:
        fields.name = nameIn(tensor);
        break;
      case kTensorRaw:
        tensor.message(); // throws if the field is of another kind
        fields.raw = {tensor.begin(), tensor.length()};
        break;
      case kTensorDoubles:
        addDoubles(tensor, addLiteral);
        break;
      case kTensorExternal:
        fields.external.push_back(pairOf(tensor.message()));
        break;
      case kTensorLocation:
        fields.location = tensor.integer();
        break;
      default:
        break;
      }
    return fields;
  }
  template <class Add>
  void addDoubles(const WireMessage& field, Add add) const {
    if (field.kind() == WireMessage::Kind::Fixed64)
      return add(field.real64());
    for (Index at = field.begin(), end = at + field.length(); at < end; at += 8) {
      const auto bytes = source_.readPart(at, std::min<Index>(8, end - at), "a number");
      if (bytes.size() < 8)
        field.fail("a list of numbers ends within a number");
      add(std::bit_cast<double>(littleEndian(bytes.data(), 8)));
    }
  }
  std::pair<std::string, std::string> pairOf(WireMessage pair) const {
    std::pair<std::string, std::string> result;
    while (pair.next())
      if (pair.number() == kPairKey)
        result.first = pair.text();
      else if (pair.number() == kPairValue)
        result.second = pair.text();
    return result;
  }

  // Adds a tensor and returns its name; `otherName` is used if the tensor has none.
  std::string addTensor(const WireMessage& field, const std::string& otherName) {
    const Fields fields = fieldsOf(field.message());
    std::string name = otherName.empty() ? fields.name : otherName;
    if (name.empty())
      field.fail("a tensor has no name");
    const std::optional<ElementType> type = onnxType(fields.type);
    if (!type)
      refuse(fmt::format("tensor '{}' has ONNX's type of elements {}, which cannot be read", name,
                         fields.type));
    ModelTensor tensor;
    tensor.name = otherName.empty() ? name : "";
    tensor.stored.name = name;
    tensor.stored.type = *type;
    tensor.stored.shape = fields.dims;
    tensor.axes.resize(fields.dims.size());
    std::iota(tensor.axes.begin(), tensor.axes.end(), 0);
    const std::optional<Index> length = bytesOf(fields.dims, *type);
    if (!length)
      source_.fail(name, "its number of elements is too large");
    tensor.stored.bytes = *length;
    if (fields.location == kLocationExternal)
      readExternal(field, fields, tensor);
    else if (fields.raw)
      readRaw(*fields.raw, tensor);
    else
      readLiteral(fields, tensor);
    if (const auto role = roles_.find(name); role != roles_.end())
      tensor.role = role->second;
    program_.tensors.push_back(std::move(tensor));
    return name;
  }

  void readRaw(const std::pair<Index, Index>& raw, ModelTensor& tensor) {
    if (raw.second != tensor.stored.bytes)
      source_.fail(tensor.stored.name, fmt::format("it has {} bytes, but its shape needs {}",
                                                   raw.second, tensor.stored.bytes));
    tensor.stored.begin = raw.first;
    // PyTorch's exporter stores a number of the source, such as the 0.1 of "0.1 * x", as a tensor
    // of this name, rounded to float32 even if the network is in float64.
    if (tensor.stored.name.starts_with("scalar_tensor_default") && raw.second == 8 &&
        tensor.stored.shape.empty() && tensor.stored.type == ElementType::F64) {
      std::byte bytes[8];
      source_.read(raw.first, bytes, 8);
      const auto number = std::bit_cast<double>(littleEndian(bytes, 8));
      const bool isInRange = std::abs(number) <= std::numeric_limits<float>::max();
      if (isInRange && double(static_cast<float>(number)) == number) {
        tensor.numbers = {shortestDecimal(static_cast<float>(number))};
        constexpr double kDigits = 1e6; // more digits: rounded from a constant such as 2 pi
        const double decimal = tensor.numbers->front(),
                     unit = std::pow(10, std::floor(std::log10(std::abs(decimal)))) / kDigits;
        if (decimal != 0 &&
            std::abs(std::round(decimal / unit) * unit - decimal) > 1e-9 * std::abs(decimal))
          program_.rounded.push_back(decimal);
      }
    }
  }

  void readLiteral(const Fields& fields, ModelTensor& tensor) const {
    const ElementType type = tensor.stored.type;
    if (static_cast<Index>(fields.literal.size()) != tensor.stored.bytes / elementSize(type))
      source_.fail(tensor.stored.name,
                   fmt::format("it has {} numbers, but its shape needs {}", fields.literal.size(),
                               tensor.stored.bytes / elementSize(type)));
    if (type == ElementType::F16 || type == ElementType::BF16)
      refuse(fmt::format("tensor '{}' has numbers of 16 bits that are no raw bytes",
                         tensor.stored.name));
    tensor.numbers = fields.literal;
  }

  void readExternal(const WireMessage& field, const Fields& fields, ModelTensor& tensor) {
    Index offset = 0;
    std::optional<Index> length;
    for (const auto& [key, value] : fields.external) {
      Index number = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
      const bool isNumber =
          parsed.ec == std::errc() && parsed.ptr == value.data() + value.size() && number >= 0;
      if (key == "location")
        tensor.file = value;
      else if ((key == "offset" || key == "length") && !isNumber)
        field.fail(fmt::format("the {} of tensor '{}' in another file is no number", key,
                               tensor.stored.name));
      else if (key == "offset")
        offset = number;
      else if (key == "length")
        length = number;
    }
    if (tensor.file.empty() || plainLength(tensor.file, "") != tensor.file.size())
      field.fail(
          fmt::format("tensor '{}' is in another file, which is not named", tensor.stored.name));
    if (length && *length != tensor.stored.bytes)
      source_.fail(tensor.stored.name, fmt::format("it has {} bytes, but its shape needs {}",
                                                   *length, tensor.stored.bytes));
    tensor.stored.begin = offset;
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
        operation.label = nameIn(node);
        break;
      case kNodeOperator:
        operation.type = nameIn(node);
        break;
      case kNodeAttribute:
        readAttribute(node, operation);
        break;
      case kNodeDomain:
        domain = nameIn(node);
        break;
      case kNodeMetadata:
        if (const auto [key, value] = pairOf(node.message()); key.ends_with("stack_trace"))
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
  // Collects names of parameters from "p_n_weight: PARAMETER target='n.weight'".
  void noteTargets(const std::string& signature) {
    constexpr std::string_view kKey = "target='";
    for (std::size_t at = signature.find(kKey); at != signature.npos;) {
      const std::size_t begin = at + kKey.size(), end = signature.find('\'', begin);
      targets_.insert(signature.substr(begin, end - begin));
      at = end == signature.npos ? end : signature.find(kKey, end);
    }
  }
  static std::optional<std::string> moduleIn(const std::string& scopes) {
    const std::vector<std::string> words = split(scopes, '\'');
    constexpr std::size_t kAfter = 4; // words after the module: "', '", the operator, and "']"
    return words.size() > kAfter ? std::optional(words[words.size() - kAfter]) : std::nullopt;
  }
  // Returns "module.weight" if the input `name` ends in "weight" and was stored once for that too.
  std::string parameterOf(const WireMessage& field, const std::string& name,
                          const std::string& module) {
    const std::string lastName = name.substr(name.rfind('.') + 1);
    std::string alias = module.empty() ? lastName : module + "." + lastName;
    const auto role = roles_.find(name);
    if (alias == name || role == roles_.end() || role->second != ModelTensor::Role::Parameter ||
        !isStored(name) || roles_.contains(alias) || !targets_.contains(alias))
      return name;
    if (!tensorOf_.contains(alias))
      addAlias(field, name, alias);
    return alias;
  }

  // Adds a tensor as a constant of the graph, under its name, or under `unnamed` if it has none.
  std::string addConstant(const WireMessage& field, const std::string& unnamed) {
    std::string name = addTensor(field, unnamed);
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
        name = nameIn(attribute);
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
  std::set<std::string> definedNames_;             // names of the values that have been read
  std::map<std::string, ModelTensor::Role> roles_; // of tensors, by name, if the file states them
  std::map<std::string, std::size_t> tensorOf_;    // index in program_.tensors, by name
  std::set<std::string> targets_;                  // names of all parameters of the model
  ModelProgram program_;
};

} // namespace

ModelProgram readOnnx(const ByteSource& source) {
  return OnnxReader(source).read();
}

} // namespace tenon
