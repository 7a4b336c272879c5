// SPDX-License-Identifier: BSD-2-Clause
// Reads fields of protocol buffers, the encoding of ONNX files. A field is a key, which is the
// varint (field number << 3) | kind, followed by a value: a varint (kind 0), 8 bytes (1), a length
// and bytes (2), or 4 bytes (5). A text, a list of numbers and a nested message are bytes. Every
// length is checked against the remaining bytes of the message before it is used.
#include "import/onnx/wire.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr Index kMaxText = Index(1) << 20; // bytes of a text

} // namespace

std::byte PagedBytes::at(Index offset) {
  if (first_ < 0 || offset < first_ || offset >= first_ + static_cast<Index>(page_.size())) {
    first_ = offset / kPage * kPage;
    page_.resize(static_cast<std::size_t>(std::min(kPage, source_.size() - first_)));
    source_.read(first_, page_.data(), static_cast<Index>(page_.size()));
  }
  return page_[static_cast<std::size_t>(offset - first_)];
}

void WireMessage::fail(const std::string& why) const {
  bytes_->source().fail(
      "", fmt::format("{}, at byte {}: the file is damaged, or no ONNX file", why, at_));
}

// Seven bits per byte, the lowest first; the high bit says that another byte follows.
std::uint64_t WireMessage::varint(Index& at, Index end) const {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at >= end)
      fail("a number is cut off");
    const auto byte = std::to_integer<std::uint64_t>(bytes_->at(at++));
    number |= (byte & 127) << shift;
    if (byte < 128)
      return number;
  }
  fail("a number does not end");
}

std::uint64_t WireMessage::fixed(Index at, int count) const {
  std::uint64_t number = 0;
  for (int i = 0; i < count; ++i)
    number |= std::to_integer<std::uint64_t>(bytes_->at(at + i)) << 8 * i;
  return number;
}

bool WireMessage::next() {
  if (at_ == end_)
    return false;
  // A key is (field number << 3) | kind.
  const std::uint64_t key = varint(at_, end_);
  constexpr std::uint64_t kMaxNumber = (1 << 29) - 1;
  if (key >> 3 == 0 || key >> 3 > kMaxNumber)
    fail("a field has an impossible number");
  number_ = static_cast<int>(key >> 3);
  kind_ = static_cast<Kind>(key & 7);
  switch (kind_) {
  case Kind::Varint:
    value_ = varint(at_, end_);
    return true;
  case Kind::Bytes: {
    const std::uint64_t length = varint(at_, end_);
    if (length > static_cast<std::uint64_t>(end_ - at_))
      fail("a field is longer than what contains it");
    valueBegin_ = at_;
    valueEnd_ = at_ += static_cast<Index>(length);
    return true;
  }
  case Kind::Fixed64:
  case Kind::Fixed32: {
    const int count = kind_ == Kind::Fixed64 ? 8 : 4;
    if (count > end_ - at_)
      fail("a number is cut off");
    value_ = fixed(at_, count);
    at_ += count;
    return true;
  }
  }
  fail("a field is of an unknown kind");
}

void WireMessage::expect(Kind kind) const {
  if (kind_ != kind)
    fail(fmt::format("field {} is of another kind", number_));
}

Index WireMessage::integer() const {
  expect(Kind::Varint);
  return static_cast<Index>(value_);
}
float WireMessage::real32() const {
  expect(Kind::Fixed32);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
}
double WireMessage::real64() const {
  expect(Kind::Fixed64);
  return std::bit_cast<double>(value_);
}

std::string WireMessage::text() const {
  expect(Kind::Bytes);
  if (length() > kMaxText)
    fail(fmt::format("a text has {} bytes; at most {} are read", length(), kMaxText));
  std::string text;
  for (Index at = valueBegin_; at < valueEnd_; ++at)
    text += static_cast<char>(bytes_->at(at));
  return text;
}

WireMessage WireMessage::message() const {
  expect(Kind::Bytes);
  return WireMessage(*bytes_, valueBegin_, valueEnd_);
}

} // namespace tenon
