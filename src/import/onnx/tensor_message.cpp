// SPDX-License-Identifier: BSD-2-Clause
// Reads the tensors of an ONNX file (tensor_message.hpp). Their bytes stay in the file: of a weight
// of a gigabyte, only the shape, the type and the place are read. All sizes are checked, because
// the file is not trusted.
#include "import/onnx/tensor_message.hpp"

#include "import/onnx/onnx.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace tenon {

using namespace onnx; // numbers of fields

void refuseOnnx(const ByteSource& source, const std::string& why) {
  throw Error(TENON_ERR_SUPPORT, fmt::format("{}: {}", source.name(), why));
}

std::string onnxName(const WireMessage& field) {
  std::string name = field.text();
  if (plainLength(name, "") != name.size())
    field.fail("a name has control characters, or is no UTF-8");
  return name;
}

std::pair<std::string, std::string> onnxPair(WireMessage pair) {
  std::pair<std::string, std::string> result;
  while (pair.next())
    if (pair.number() == kPairKey)
      result.first = pair.text();
    else if (pair.number() == kPairValue)
      result.second = pair.text();
  return result;
}

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

double shortestDecimal(float number) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  double decimal = number;
  std::from_chars(text, end, decimal);
  return decimal;
}

namespace {

constexpr std::size_t kMaxLiteral = 1 << 20; // elements that are not stored as raw bytes

// A tensor is stored in one of three ways: as raw bytes in the file, of which only the place is
// noted; as a list of numbers, which is read; or in another file.
class TensorMessage {
public:
  TensorMessage(const ByteSource& source, const WireMessage& field)
      : source_(source), field_(field) {}

  ModelTensor read(const std::string& otherName, std::vector<double>& rounded) const {
    const Fields fields = fieldsOf(field_.message());
    std::string name = otherName.empty() ? fields.name : otherName;
    if (name.empty())
      field_.fail("a tensor has no name");
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
      readExternal(fields, tensor);
    else if (fields.raw)
      readRaw(*fields.raw, tensor, rounded);
    else
      readLiteral(fields, tensor);
    return tensor;
  }

private:
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
        fields.name = onnxName(tensor);
        break;
      case kTensorRaw:
        tensor.message(); // throws if the field is of another kind
        fields.raw = {tensor.begin(), tensor.length()};
        break;
      case kTensorDoubles:
        addDoubles(tensor, addLiteral);
        break;
      case kTensorExternal:
        fields.external.push_back(onnxPair(tensor.message()));
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
  [[noreturn]] void refuse(const std::string& why) const { refuseOnnx(source_, why); }

  void readRaw(const std::pair<Index, Index>& raw, ModelTensor& tensor,
               std::vector<double>& rounded) const {
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
          rounded.push_back(decimal);
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

  void readExternal(const Fields& fields, ModelTensor& tensor) const {
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
        field_.fail(fmt::format("the {} of tensor '{}' in another file is no number", key,
                                tensor.stored.name));
      else if (key == "offset")
        offset = number;
      else if (key == "length")
        length = number;
    }
    if (tensor.file.empty() || plainLength(tensor.file, "") != tensor.file.size())
      field_.fail(
          fmt::format("tensor '{}' is in another file, which is not named", tensor.stored.name));
    if (length && *length != tensor.stored.bytes)
      source_.fail(tensor.stored.name, fmt::format("it has {} bytes, but its shape needs {}",
                                                   *length, tensor.stored.bytes));
    tensor.stored.begin = offset;
  }

  const ByteSource& source_;
  const WireMessage& field_;
};

} // namespace

ModelTensor readOnnxTensor(const ByteSource& source, const WireMessage& field,
                           const std::string& otherName, std::vector<double>& rounded) {
  return TensorMessage(source, field).read(otherName, rounded);
}

} // namespace tenon
