// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes headers of safetensors files. A file consists of
//   8 bytes  length of the JSON text
//   JSON     {"__metadata__": {"KEY": "VALUE"},
//             "conv1.weight": {"dtype": "F32", "shape": [8, 3, 5, 5], "data_offsets": [0, 2400]},
//             ...}
//   data     the elements of all tensors; offsets count from its beginning
// Each byte of the data must belong to exactly one tensor: a file with overlaps or holes is
// ambiguous, and is rejected. JSON does not preserve the order of tensors; the metadata with the
// key kOrderKey have it, if the file was written by Tenon or its scripts.
#include "weights/safetensors.hpp"

#include "sys/files/json_tree.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tenon {

namespace {

constexpr const char* kMetadata = "__metadata__";
constexpr Index kLengthBytes = 8; // of the number before the JSON text

// Returns the JSON text, with spaces in place of the length, so byte positions in messages are
// those of the file.
std::string headerText(const ByteSource& source) {
  const std::vector<std::byte> length = source.readPart(0, kLengthBytes, "the header's length");
  const std::uint64_t bytes = littleEndian(length.data(), kLengthBytes);
  if (bytes > static_cast<std::uint64_t>(kMaxDirectoryBytes))
    source.fail("", fmt::format("its header would have {} bytes, and at most {} are read: this is "
                                "no safetensors file, or a damaged one",
                                bytes, kMaxDirectoryBytes));
  const std::vector<std::byte> json =
      source.readPart(kLengthBytes, static_cast<Index>(bytes), "the header");
  if (json.empty() || json.front() != std::byte('{'))
    source.fail("", "its header does not begin with '{': this is no safetensors file");
  std::string text(kLengthBytes, ' ');
  text.append(reinterpret_cast<const char*>(json.data()), json.size());
  return text;
}

// Parses the entry of one tensor. The size of its data must agree with shape and type, and the data
// must be inside the file; dataBegin is the offset of all data in the file.
StoredTensor parseTensor(const ByteSource& source, const std::string& name, const JsonView& entry,
                         Index dataBegin) {
  entry.allow({"dtype", "shape", "data_offsets"});
  const auto type = elementTypeNamed(entry.at("dtype").text());
  if (!type)
    entry.at("dtype").fail(
        fmt::format("'{}' is no type of elements that Tenon knows", entry.at("dtype").text()));
  StoredTensor tensor{.name = name, .type = *type};
  tensor.shape = entry.at("shape").integers(0);
  if (tensor.shape.size() > kMaxDimensions)
    entry.at("shape").fail(fmt::format("has {} dimensions; at most {} are possible",
                                       tensor.shape.size(), kMaxDimensions));
  const std::vector<JsonView> offsets = entry.at("data_offsets").list();
  if (offsets.size() != 2)
    entry.at("data_offsets").fail("must have two numbers, begin and end");
  const Index begin = offsets[0].integer(0), end = offsets[1].integer(begin);
  if (end > source.size() - dataBegin)
    offsets[1].fail(fmt::format("is {}, but only {} bytes follow the header: the file is truncated "
                                "or damaged",
                                end, source.size() - dataBegin));
  tensor.begin = dataBegin + begin;
  tensor.bytes = end - begin;
  if (bytesOf(tensor.shape, *type) != tensor.bytes)
    source.fail(name,
                fmt::format("{} elements of type {} do not have the {} bytes that its "
                            "offsets give",
                            fmt::join(tensor.shape, " x "), elementTypeName(*type), tensor.bytes));
  return tensor;
}

// Checks that each byte after the header, which ends at byte `end`, belongs to exactly one tensor.
void checkNoOverlap(const ByteSource& source, const std::vector<StoredTensor>& tensors, Index end) {
  std::vector<const StoredTensor*> byPlace;
  for (const StoredTensor& tensor : tensors)
    byPlace.push_back(&tensor);
  std::sort(byPlace.begin(), byPlace.end(), [](const auto* a, const auto* b) {
    // Tensors without elements are before the tensor that begins at the same byte.
    return std::pair(a->begin, a->bytes) < std::pair(b->begin, b->bytes);
  });
  for (const StoredTensor* tensor : byPlace) {
    if (tensor->begin != end)
      source.fail(tensor->name,
                  fmt::format("it begins at byte {}, but {} end at {}: the tensors {}",
                              tensor->begin, "those before it", end,
                              tensor->begin < end ? "overlap" : "leave a hole"));
    end += tensor->bytes;
  }
  if (end != source.size())
    source.fail("",
                fmt::format("{} bytes after the last tensor belong to none", source.size() - end));
}

// Sorts the tensors in the order of the names, which must be the names of all tensors.
void sortByNames(const ByteSource& source, std::vector<StoredTensor>& tensors,
                 const std::vector<std::string>& names) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i)
    places.emplace(names[i], i);
  const auto isNamed = [&](const StoredTensor& t) { return places.count(t.name) == 1; };
  if (names.size() != tensors.size() || places.size() != names.size() ||
      !std::all_of(tensors.begin(), tensors.end(), isNamed))
    source.fail(
        "", fmt::format("the names in its metadata '{}' are not those of its tensors", kOrderKey));
  std::sort(tensors.begin(), tensors.end(), [&](const StoredTensor& a, const StoredTensor& b) {
    return places.at(a.name) < places.at(b.name);
  });
}

// Escapes a string for JSON. Names have no control characters (checkName()), and newlines separate
// them in the metadata, so these three characters are all.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + '"';
}

} // namespace

WeightsDirectory readSafetensors(const ByteSource& source) {
  const std::string text = headerText(source);
  const JsonNode tree = parseJson(text, source.name());
  WeightsDirectory directory;
  std::optional<std::string> order;
  for (const auto& [name, entry] : JsonView(tree, source.name()).members()) {
    if (name == kMetadata) {
      for (const auto& [key, value] : entry.members())
        if (const std::string& content = value.text(); key == kOrderKey)
          order = content;
      continue;
    }
    checkName(source, name);
    directory.tensors.push_back(parseTensor(source, name, entry, static_cast<Index>(text.size())));
  }
  checkNoOverlap(source, directory.tensors, static_cast<Index>(text.size()));
  if (order)
    sortByNames(source, directory.tensors, split(*order, '\n'));
  directory.isOrdered = order.has_value();
  return directory;
}

std::string safetensorsHeader(const std::vector<StoredTensor>& tensors) {
  std::string json, order;
  Index end = 0;
  for (const StoredTensor& tensor : tensors) {
    json += fmt::format(",{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        quoted(tensor.name), elementTypeName(tensor.type),
                        fmt::join(tensor.shape, ","), end, end + tensor.bytes);
    end += tensor.bytes;
    order += (order.empty() ? "" : "\n") + tensor.name;
  }
  json = fmt::format("{{\"{}\":{{\"{}\":{}}}{}}}", kMetadata, kOrderKey, quoted(order), json);
  // Align the data to 8 bytes, as the safetensors library does.
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string text;
  for (std::size_t i = 0, length = json.size(); i < 8; ++i, length >>= 8)
    text += static_cast<char>(length & 255);
  return text + json;
}

} // namespace tenon
