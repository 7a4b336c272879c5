// SPDX-License-Identifier: BSD-2-Clause
// The wire format of protocol buffers, which ONNX files use: a message is a sequence of fields,
// each with a number and a value of one of four kinds. The file is read in place, and fields that
// the caller does not read are skipped, so weights are not read with the graph.
//
//   for (WireMessage fields = file; fields.next();)
//     if (fields.number() == onnx::kModelGraph)
//       readGraph(fields.message());
#pragma once

#include "weights/byte_source.hpp"

#include <bit>
#include <cstdint>

namespace tenon {

namespace onnx {

// Numbers of fields in onnx.proto, by message:
//   Model              the file: graph, and versions of the operator sets
//     Graph            nodes, constant tensors (initializers), inputs, outputs
//       Node           operator, names of inputs and results, attributes
//         Attribute    name, and a number, text, tensor or list
//       Tensor         shape, type and values
//       Value, Type    name, type and shape of an input
// A Pair (StringStringEntryProto) has a key and a value, for metadata.
inline constexpr int kModelGraph = 7, kModelOpset = 8, kModelFunctions = 25;
inline constexpr int kOpsetDomain = 1, kOpsetVersion = 2;
inline constexpr int kGraphNode = 1, kGraphInitializer = 5, kGraphInput = 11, kGraphOutput = 12,
                     kGraphValueInfo = 13, kGraphSparse = 15, kGraphMetadata = 16;
inline constexpr int kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOperator = 4,
                     kNodeAttribute = 5, kNodeDomain = 7, kNodeMetadata = 9;
inline constexpr int kAttributeName = 1, kAttributeFloat = 2, kAttributeInt = 3,
                     kAttributeString = 4, kAttributeTensor = 5, kAttributeGraph = 6,
                     kAttributeFloats = 7, kAttributeInts = 8, kAttributeStrings = 9,
                     kAttributeTensors = 10, kAttributeGraphs = 11, kAttributeType = 14,
                     kAttributeTypes = 15, kAttributeReference = 21, kAttributeSparse = 22,
                     kAttributeSparseTensors = 23;
inline constexpr int kValueName = 1, kValueType = 2, kValueMetadata = 4;
inline constexpr int kTypeTensor = 1, kTypeSequence = 4, kTypeMap = 5, kTypeSparse = 8,
                     kTypeOptional = 9;
inline constexpr int kTensorTypeElements = 1, kTensorTypeShape = 2, kShapeDim = 1, kDimExtent = 1;
inline constexpr int kTensorDims = 1, kTensorType = 2, kTensorSegment = 3, kTensorFloats = 4,
                     kTensorInts32 = 5, kTensorInts64 = 7, kTensorName = 8, kTensorRaw = 9,
                     kTensorDoubles = 10, kTensorExternal = 13, kTensorLocation = 14;
inline constexpr int kPairKey = 1, kPairValue = 2;
inline constexpr Index kLocationExternal = 1; // of kTensorLocation: bytes are in another file

} // namespace onnx

// Bytes of a file, read through a buffer of one page.
class PagedBytes {
public:
  explicit PagedBytes(const ByteSource& source) : source_(source) {}
  const ByteSource& source() const noexcept { return source_; }
  std::byte at(Index offset);

private:
  static constexpr Index kPage = 4096;
  const ByteSource& source_;
  std::vector<std::byte> page_;
  Index first_ = -1;
};

// An iterator over the fields of a message.
class WireMessage {
public:
  enum class Kind { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  // The whole file as a message.
  explicit WireMessage(PagedBytes& bytes) : WireMessage(bytes, 0, bytes.source().size()) {}
  WireMessage(PagedBytes& bytes, Index begin, Index end) : bytes_(&bytes), at_(begin), end_(end) {}

  // Advances to the next field; returns false at the end. Throws TENON_ERR_FORMAT if the bytes are
  // not a message.
  bool next();
  int number() const noexcept { return number_; }
  Kind kind() const noexcept { return kind_; }

  // Value of the field. All throw TENON_ERR_FORMAT if the field is of another kind.
  Index integer() const;
  float real32() const;
  double real64() const;
  std::string text() const;
  WireMessage message() const;
  // Position of the field's bytes in the file.
  Index begin() const noexcept { return valueBegin_; }
  Index length() const noexcept { return valueEnd_ - valueBegin_; }
  // Calls visit(number) for each number of a repeated field. One field holds one number, or many if
  // it is packed.
  template <class Visit>
  void integers(Visit visit) const;
  template <class Visit>
  void reals32(Visit visit) const;

  [[noreturn]] void fail(const std::string& why) const;

private:
  std::uint64_t varint(Index& at, Index end) const;
  std::uint64_t fixed(Index at, int count) const;
  void expect(Kind kind) const;

  PagedBytes* bytes_;
  Index at_, end_; // the bytes that have not been read
  int number_ = 0;
  Kind kind_ = Kind::Varint;
  std::uint64_t value_ = 0;
  Index valueBegin_ = 0, valueEnd_ = 0;
};

template <class Visit>
void WireMessage::integers(Visit visit) const {
  if (kind_ == Kind::Varint)
    return visit(integer());
  expect(Kind::Bytes);
  for (Index at = valueBegin_; at < valueEnd_;)
    visit(static_cast<Index>(varint(at, valueEnd_)));
}

template <class Visit>
void WireMessage::reals32(Visit visit) const {
  if (kind_ == Kind::Fixed32)
    return visit(real32());
  expect(Kind::Bytes);
  constexpr int kSize = 4;
  if (length() % kSize != 0)
    fail("a list of numbers ends within a number");
  for (Index at = valueBegin_; at < valueEnd_; at += kSize)
    visit(std::bit_cast<float>(static_cast<std::uint32_t>(fixed(at, kSize))));
}

} // namespace tenon
