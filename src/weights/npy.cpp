// SPDX-License-Identifier: BSD-2-Clause
// Reads the arrays of npz files, which are zip archives with a member NAME.npy for each array, and
// writes the headers of npy files. A member consists of
//   6 bytes  "\x93NUMPY"
//   2 bytes  version of the format
//   2 or 4   length of the text that follows (2 in version 1, otherwise 4)
//   text     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//   data     the elements
// The text is a Python literal with three keys: type, order and shape. The parser accepts exactly
// these; anything else that Python could evaluate is an error.
#include "weights/npy.hpp"

#include "weights/byte_stream.hpp"
#include "weights/stored_tensor.hpp"
#include "weights/zip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <utility>

namespace tenon {

StoredTensor readNpyMember(const ByteSource& source, const ZipMember& member) {
  constexpr std::string_view kEnding = ".npy";
  if (!member.name.ends_with(kEnding) || member.name.size() == kEnding.size())
    source.fail(member.name, "it is no array: its name does not end with .npy");
  std::array<std::byte, kNpyStart> start{};
  const auto stream = streamMember(source, member);
  stream->read(start.data(), kNpyStart);
  const NpyStart npy = parseNpyStart(source, member.name, start.data());
  // The text begins inside the bytes that have been read.
  std::string text(reinterpret_cast<const char*>(start.data()) + npy.textBegin,
                   static_cast<std::size_t>(kNpyStart - npy.textBegin));
  // In version 1 the text begins two bytes earlier, so those bytes have been read.
  if (npy.textBytes < static_cast<Index>(text.size()))
    source.fail(member.name, "its header is damaged");
  const std::size_t prefixBytes = text.size();
  text.resize(static_cast<std::size_t>(npy.textBytes));
  stream->read(reinterpret_cast<std::byte*>(text.data() + prefixBytes),
               npy.textBytes - static_cast<Index>(prefixBytes));
  const NpyHeader header = parseNpyText(source, member.name, text);
  StoredTensor tensor{.name = member.name.substr(0, member.name.size() - kEnding.size()),
                      .type = header.type,
                      .shape = header.shape,
                      .isFortranOrder = header.isFortranOrder,
                      .begin = npy.textBegin + npy.textBytes,
                      .member = member};
  tensor.bytes = member.bytes - tensor.begin;
  if (bytesOf(tensor.shape, tensor.type) != tensor.bytes)
    source.fail(tensor.name, fmt::format("{} elements of type {} do not have the {} bytes that "
                                         "follow its header",
                                         fmt::join(tensor.shape, " x "),
                                         elementTypeName(tensor.type), tensor.bytes));
  return tensor;
}

WeightsDirectory readNpz(const ByteSource& source) {
  WeightsDirectory directory{.isOrdered = true};
  for (const ZipMember& member : readZip(source))
    directory.tensors.push_back(readNpyMember(source, member));
  return directory;
}

namespace {

// The first bytes of every npy file.
constexpr std::string_view kMagic = "\x93NUMPY";

// numpy's type names, after the character for the byte order.
constexpr std::array<std::pair<std::string_view, ElementType>, 12> kNpyTypes = {{
    {"b1", ElementType::Bool},
    {"u1", ElementType::U8},
    {"i1", ElementType::I8},
    {"i2", ElementType::I16},
    {"u2", ElementType::U16},
    {"f2", ElementType::F16},
    {"i4", ElementType::I32},
    {"u4", ElementType::U32},
    {"f4", ElementType::F32},
    {"i8", ElementType::I64},
    {"u8", ElementType::U64},
    {"f8", ElementType::F64},
}};

// Returns the type of "<f8", "|u1", ...; none if it cannot be read.
std::optional<ElementType> typeOf(std::string_view text) {
  // One-byte types have '|' instead of a byte order; all others must be little-endian.
  const bool isSingle = text.ends_with('1');
  if (!text.empty() && text.front() == (isSingle ? '|' : '<'))
    for (const auto& [name, type] : kNpyTypes)
      if (text.substr(1) == name)
        return type;
  return std::nullopt;
}

// Parses the text from beginning to end. Each key must occur once, in any order.
class Literal {
public:
  Literal(const ByteSource& source, const std::string& name, std::string_view text)
      : source_(source), name_(name), text_(text) {}

  NpyHeader header() {
    expect('{');
    while (!tryTake('}')) {
      entry(text());
      if (!tryTake(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (!text_.empty())
      fail();
    if (!type_ || !order_ || !shape_)
      fail("its header lacks 'descr', 'fortran_order' or 'shape'");
    return {*type_, *order_, *shape_};
  }

private:
  [[noreturn]] void fail(const std::string& why = "its header is damaged") const {
    source_.fail(name_, why);
  }

  void entry(std::string_view key) {
    expect(':');
    if (key == "descr" && !type_) {
      skipSpace();
      // A list of fields is a structure; a separate message says so.
      if (text_.starts_with('['))
        fail("its elements are structures, which cannot be read");
      const std::string_view type = text();
      const std::string_view shown = type.substr(0, 40); // a damaged type can be long
      type_ = typeOf(type);
      if (type.ends_with('O')) // numpy stores these as a pickle
        fail(fmt::format("elements of type '{}' are Python objects, which are pickled and never "
                         "read; save an array of numbers",
                         shown));
      if (!type_)
        fail(fmt::format("elements of type '{}' cannot be read; save little-endian numbers such as "
                         "'<f4' or '<f8'",
                         shown));
    } else if (key == "fortran_order" && !order_) {
      order_ = flag();
    } else if (key == "shape" && !shape_) {
      shape_ = shape();
    } else {
      fail();
    }
  }

  void skipSpace() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
      text_.remove_prefix(1);
  }
  bool tryTake(char c) {
    skipSpace();
    if (!text_.starts_with(c))
      return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!tryTake(c))
      fail();
  }

  std::string_view text() {
    skipSpace();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"'))
      fail();
    // A quote ends at the next quote of the same kind; valid keys and types have no escapes.
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos)
      fail();
    const std::string_view content = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return content;
  }
  bool flag() {
    skipSpace();
    for (const auto& [word, value] : {std::pair(std::string_view("True"), true), {"False", false}})
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    fail();
  }
  std::vector<Index> shape() {
    std::vector<Index> extents;
    // A tuple of one element ends with a comma; an empty tuple is a scalar.
    expect('(');
    while (!tryTake(')')) {
      if (extents.size() == kMaxDimensions)
        fail(fmt::format("it has more than {} dimensions", kMaxDimensions));
      extents.push_back(number());
      if (!tryTake(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }
  Index number() {
    skipSpace();
    Index value = 0;
    std::size_t digits = 0;
    for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[digits] - '0', &value))
        fail();
    if (digits == 0)
      fail();
    text_.remove_prefix(digits);
    return value;
  }

  const ByteSource& source_;
  const std::string& name_;
  std::string_view text_; // the rest of the text
  std::optional<ElementType> type_;
  std::optional<bool> order_;
  std::optional<std::vector<Index>> shape_;
};

} // namespace

NpyStart parseNpyStart(const ByteSource& source, const std::string& name, const std::byte* first) {
  const std::string_view start(reinterpret_cast<const char*>(first), kNpyStart);
  if (!start.starts_with(kMagic))
    source.fail(name, "it is no npy file: its first bytes are others");
  constexpr Index kMajor = 6, kMinor = 7, kLength = 8; // offsets
  const auto major = std::to_integer<int>(first[kMajor]),
             minor = std::to_integer<int>(first[kMinor]);
  if (major < 1 || major > 3 || minor != 0)
    source.fail(name, fmt::format("it has version {}.{} of the npy format; expected 1.0 to 3.0",
                                  major, minor));
  const int lengthBytes = major == 1 ? 2 : 4;
  const auto length = static_cast<Index>(littleEndian(first + kLength, lengthBytes));
  // The length comes from the file, so bound it before allocating memory.
  if (length > kMaxNpyText)
    source.fail(name, fmt::format("its header would have {} bytes; at most {} are read", length,
                                  kMaxNpyText));
  return {kLength + lengthBytes, length};
}

NpyHeader parseNpyText(const ByteSource& source, const std::string& name, std::string_view text) {
  return Literal(source, name, text).header();
}

std::string npyHeader(ElementType type, const std::vector<Index>& shape) {
  constexpr std::size_t kAlignment = 64, kStart = 10; // kStart: bytes before the text
  std::string extents;
  for (Index extent : shape)
    extents += fmt::format("{},", extent);
  std::string text = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}), }}",
                                 elementSize(type), extents);
  // Pad with spaces so the elements begin at a multiple of 64 bytes, as numpy does.
  text.append(kAlignment - (kStart + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  // Version 1.0, with a length of two bytes.
  return fmt::format("{}{}{}{}{}{}", kMagic, '\1', '\0', static_cast<char>(text.size() & 255),
                     static_cast<char>(text.size() >> 8), text);
}

} // namespace tenon
