// SPDX-License-Identifier: BSD-2-Clause
// Builds the bytes of small ONNX files for tests. An ONNX file is a message of protocol buffers: a
// sequence of fields, each with its number in onnx.proto, a wire type and a value. Parts are
// strings that are concatenated:
//
//   file(input("x", {2, 3}) + node("Relu", {"x"}, "y") + output("y"))
//
// is the model y = Relu(x) with x of shape [2, 3] and type float64. The integers in the calls of
// field() below are field numbers of the messages ModelProto (file), GraphProto, NodeProto,
// TensorProto and AttributeProto.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test::onnx {

// Seven bits per byte, the lowest first; the highest bit of a byte says that another byte follows.
inline std::string varint(std::uint64_t number) {
  std::string text;
  for (; number >= 128; number >>= 7)
    text += static_cast<char>(number | 128);
  return text + static_cast<char>(number);
}
// A field with a text, bytes or a message (wire type 2), and one with an integer (wire type 0).
inline std::string field(int number, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}
inline std::string field(int number, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(number) << 3) + varint(value);
}
inline constexpr std::uint64_t kFree = 0; // an extent without a value in the file

// Parts of a graph: an input, a node (`more` has its attributes), and an output. `type` is a value
// of TensorProto.DataType: 11 is float64.
inline std::string input(const std::string& name, const std::vector<std::uint64_t>& shape,
                         std::uint64_t type = 11) {
  std::string dims;
  for (const std::uint64_t extent : shape)
    dims += field(1, extent == kFree ? field(2, std::string("n")) : field(1, extent));
  return field(11, field(1, name) + field(2, field(1, field(1, type) + field(2, dims))));
}
inline std::string node(const std::string& type, const std::vector<std::string>& reads,
                        const std::string& result, const std::string& more = "") {
  std::string inputs;
  for (const std::string& name : reads)
    inputs += field(1, name);
  return field(1, inputs + field(2, result) + field(4, type) + more);
}
inline std::string output(const std::string& name) {
  return field(12, field(1, name));
}
// A complete file with this graph, for an operator set.
inline std::string file(const std::string& graph, std::uint64_t opset = 17) {
  return field(7, graph) + field(8, field(2, opset));
}

// A constant tensor of a graph (initializer); `more` has the field with its values.
inline std::string tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                          const std::string& more, std::uint64_t type = 11) {
  std::string dims;
  for (const std::uint64_t extent : shape)
    dims += field(1, extent);
  return field(5, dims + field(2, type) + field(8, name) + more);
}

// Attributes of a node with a value of type INT, FLOAT, STRING and INTS.
inline std::string attribute(const std::string& name, std::int64_t number) {
  return field(5, field(1, name) + field(3, static_cast<std::uint64_t>(number)));
}
inline std::string attribute(const std::string& name, float number) {
  std::string bytes = varint(2 << 3 | 5);
  for (int i = 0; i < 4; ++i)
    bytes += static_cast<char>(std::bit_cast<std::uint32_t>(number) >> 8 * i);
  return field(5, field(1, name) + bytes);
}
inline std::string attribute(const std::string& name, const char* text) {
  return field(5, field(1, name) + field(4, std::string(text)));
}
inline std::string attribute(const std::string& name, const std::vector<std::int64_t>& numbers) {
  std::string list;
  for (const std::int64_t number : numbers)
    list += field(8, static_cast<std::uint64_t>(number));
  return field(5, field(1, name) + list);
}

} // namespace tenon::test::onnx
