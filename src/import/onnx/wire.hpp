// SPDX-License-Identifier: BSD-2-Clause
// The wire format of protocol buffers, in which ONNX files are: a message is a row of fields, each
// a number and one of four kinds of values. Reads a file in place, and passes over what nobody asks
// for, so that weights are not read with the graph.
//
//   for (WireMessage fields = file; fields.next();)
//     if (fields.number() == 7)
//       readGraph(fields.message());
#pragma once

#include "weights/byte_source.hpp"

#include <bit>
#include <cstdint>

namespace tenon {

// A file through one page of memory.
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

class WireMessage {
public:
  enum class Kind { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  // The whole file.
  explicit WireMessage(PagedBytes& bytes) : WireMessage(bytes, 0, bytes.source().size()) {}
  WireMessage(PagedBytes& bytes, Index begin, Index end) : bytes_(&bytes), at_(begin), end_(end) {}

  // Goes to the next field; false at the end. Throws TENON_ERR_FORMAT for what is no message.
  bool next();
  int number() const noexcept { return number_; }
  Kind kind() const noexcept { return kind_; }

  // The field's value; all throw TENON_ERR_FORMAT for a field of another kind.
  Index integer() const;
  float real32() const;
  double real64() const;
  std::string text() const;
  WireMessage message() const;
  // Where the bytes lie in the file.
  Index begin() const noexcept { return valueBegin_; }
  Index length() const noexcept { return valueEnd_ - valueBegin_; }
  // The numbers of a repeated field, which may be packed: one, or many. visit(number) for each.
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
  Index at_, end_; // what is left
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
