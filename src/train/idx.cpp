// SPDX-License-Identifier: BSD-2-Clause
// Reads boxes of IDX files. The length of the file is compared with its header when it is opened,
// so that a truncated file is refused before training and not in the middle of an epoch.
#include "train/idx.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/regular_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tenon {
namespace {

struct Closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void failFile(const std::string& path, const char* what) {
  const int reason = errno;
  throw Error(TENON_ERR_FILE, fmt::format("cannot {} '{}': {}", what, path, std::strerror(reason)));
}

[[noreturn]] void failFormat(const std::string& path, const std::string& what) {
  throw Error(TENON_ERR_FORMAT, fmt::format("'{}' is not a complete IDX file: {}", path, what));
}

File openFile(const std::string& path) {
  File file(fdopen(openRegularFile(path, "cannot open"), "rb"));
  if (!file)
    failFile(path, "open");
  return file;
}

// The number of bytes that were there, at most `count`.
Index readBytes(std::FILE* file, const std::string& path, std::uint8_t* to, Index count) {
  const std::size_t got = std::fread(to, 1, static_cast<std::size_t>(count), file);
  if (std::ferror(file))
    failFile(path, "read");
  return static_cast<Index>(got);
}

Index lengthOf(std::FILE* file, const std::string& path) {
  if (fseeko(file, 0, SEEK_END) != 0)
    failFile(path, "find the length of");
  const Index length = ftello(file);
  if (length < 0)
    failFile(path, "find the length of");
  return length;
}

const char* typeName(IdxFile::ElementType type) {
  switch (type) {
  case IdxFile::ElementType::UnsignedByte:
    return "unsigned byte";
  case IdxFile::ElementType::SignedByte:
    return "signed byte";
  case IdxFile::ElementType::Short:
    return "16-bit integer";
  case IdxFile::ElementType::Int:
    return "32-bit integer";
  case IdxFile::ElementType::Float:
    return "32-bit float";
  case IdxFile::ElementType::Double:
    return "64-bit float";
  }
  return nullptr;
}

Index typeBytes(IdxFile::ElementType type) {
  switch (type) {
  case IdxFile::ElementType::Short:
    return 2;
  case IdxFile::ElementType::Int:
  case IdxFile::ElementType::Float:
    return 4;
  case IdxFile::ElementType::Double:
    return 8;
  default:
    return 1;
  }
}

void checkMagic(const std::string& path, const std::array<std::uint8_t, 4>& magic) {
  if (magic[0] == 0x1f && magic[1] == 0x8b)
    failFormat(path, "it is compressed by gzip; unpack it with gunzip first");
  const auto type = static_cast<IdxFile::ElementType>(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !typeName(type))
    failFormat(path, fmt::format("it begins with the bytes {:02x} {:02x} {:02x} {:02x}; expected "
                                 "00 00, a type code (08, 09, 0b to 0e) and the rank",
                                 magic[0], magic[1], magic[2], magic[3]));
  if (magic[3] < 1 || magic[3] > kMaxRank)
    failFormat(path, fmt::format("its header gives rank {}; expected 1 to {}", magic[3], kMaxRank));
}

// The bytes of the elements of `shape`.
Index payload(const std::string& path, const Shape& shape, Index elementBytes) {
  Index bytes = elementBytes;
  bool overflow = false;
  for (Index extent : shape)
    overflow = __builtin_mul_overflow(bytes, extent, &bytes) || overflow;
  if (overflow)
    failFormat(path, fmt::format("its header gives the extents {}, more than a file can hold",
                                 fmt::join(shape, " x ")));
  return bytes;
}

// Copies the elements of `box` out of items stored whole at `from`, `box[0]` counting from there.
// Appends row after row, the rows being contiguous along the last dimension.
void copyRows(const std::uint8_t* from, const Shape& strides, const Box& box, std::size_t dim,
              std::uint8_t*& to) {
  if (dim + 1 == box.size()) {
    to = std::copy(from + box[dim].begin, from + box[dim].end, to);
    return;
  }
  for (Index i = box[dim].begin; i < box[dim].end; ++i)
    copyRows(from + i * strides[dim], strides, box, dim + 1, to);
}

} // namespace

IdxFile::IdxFile(std::string path) : path_(std::move(path)) {
  const File file = openFile(path_);
  std::array<std::uint8_t, 4> magic{};
  const Index got = readBytes(file.get(), path_, magic.data(), 4);
  if (got < 4)
    failFormat(path_, fmt::format("it has {} bytes, fewer than the 4 of the magic", got));
  checkMagic(path_, magic);
  elementType_ = static_cast<ElementType>(magic[2]);
  const Index rank = magic[3];
  headerBytes_ = 4 + 4 * rank;

  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(4 * rank));
  const Index extentBytes = readBytes(file.get(), path_, bytes.data(), 4 * rank);
  if (extentBytes < 4 * rank)
    failFormat(path_, fmt::format("it ends after {} bytes, within its header of {}",
                                  4 + extentBytes, headerBytes_));
  for (std::size_t d = 0; d < bytes.size(); d += 4)
    shape_.push_back(Index{bytes[d]} << 24 | Index{bytes[d + 1]} << 16 | Index{bytes[d + 2]} << 8 |
                     Index{bytes[d + 3]});

  const Index there = lengthOf(file.get(), path_) - headerBytes_;
  const Index expected = payload(path_, shape_, typeBytes(elementType_));
  if (there != expected)
    failFormat(path_, fmt::format("its header announces {} elements of type {}, {} bytes, but {} "
                                  "follow: {} bytes {}",
                                  fmt::join(shape_, " x "), typeName(elementType_), expected, there,
                                  std::abs(expected - there),
                                  there < expected ? "are missing" : "too many"));
}

void IdxFile::checkBox(const Box& box) const {
  if (elementType_ != ElementType::UnsignedByte)
    throw Error(TENON_ERR_FORMAT,
                fmt::format("'{}' has elements of type {}; only unsigned byte is supported", path_,
                            typeName(elementType_)));
  if (box.size() != shape_.size())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the box has {} dimensions, but '{}' has {}: {}", box.size(), path_,
                            shape_.size(), fmt::join(shape_, " x ")));
  for (std::size_t d = 0; d < box.size(); ++d)
    if (box[d].begin < 0 || box[d].end < box[d].begin || box[d].end > shape_[d])
      throw Error(TENON_ERR_ARG,
                  fmt::format("[{},{}) is out of range in dimension {} of '{}', whose extent is {}",
                              box[d].begin, box[d].end, d, path_, shape_[d]));
}

std::vector<std::uint8_t> IdxFile::readBox(const Box& box) const {
  checkBox(box);
  std::vector<std::uint8_t> values(static_cast<std::size_t>(elements(box)));
  if (values.empty())
    return values;

  // Whole items pass through a buffer of about a megabyte.
  const Shape strides = rowMajorStrides(shape_);
  const Index itemBytes = strides[0];
  const Index most = std::max<Index>(1, (Index{1} << 20) / itemBytes);
  std::vector<std::uint8_t> buffer(
      static_cast<std::size_t>(std::min(most, box[0].size()) * itemBytes));
  const File file = openFile(path_);
  if (fseeko(file.get(), headerBytes_ + box[0].begin * itemBytes, SEEK_SET) != 0)
    failFile(path_, "seek in");
  std::uint8_t* to = values.data();
  for (Index item = box[0].begin; item < box[0].end; item += most) {
    Box part = box;
    part[0] = {0, std::min(most, box[0].end - item)};
    const Index bytes = part[0].end * itemBytes;
    if (readBytes(file.get(), path_, buffer.data(), bytes) < bytes)
      failFormat(path_, "it has become shorter since it was opened");
    copyRows(buffer.data(), strides, part, 0, to);
  }
  return values;
}

std::vector<std::uint8_t> IdxFile::readCrop(const Box& crop) const {
  Box box{{0, shape_[0]}};
  box.insert(box.end(), crop.begin(), crop.end());
  return readBox(box);
}

} // namespace tenon
