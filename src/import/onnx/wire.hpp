// SPDX-License-Identifier: BSD-2-Clause
// The wire format of protocol buffers, which ONNX files use: a message is a sequence of fields,
// each with a number and a value of one of four kinds. The file is read in place, and fields that
// the caller does not read are skipped, so weights are not read with the graph.
//
//   for (WireMessage fields = file; fields.next();)
//     if (fields.number() == 7)
//       readGraph(fields.message());
#pragma once

#include "weights/byte_source.hpp"

#include <bit>
#include <cstdint>

namespace tenon {

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
