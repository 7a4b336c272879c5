// SPDX-License-Identifier: BSD-2-Clause
// Opens a NetCDF file. Before, the header of a classic one is read to find where its data end, for
// the library does not notice that a file is truncated. Numbers are big-endian, and everything is
// padded to 4 bytes. Sizes have 4 bytes, in CDF-5 8; offsets have 8, in CDF-1 4:
//
//   "CDF" version | records | dimensions | attributes | variables
//   list:       tag (4 bytes) | count | entries; an empty one may have the tag 0
//   dimension:  name | length, 0 for the unlimited one
//   attribute:  name | type (4 bytes) | count | numbers
//   variable:   name | count | dimensions | list of attributes | type | size | offset of its data
//
// A list has its entries after its count, and a variable names its dimensions by their positions in
// the list of dimensions. The size of a variable follows from its dimensions; the entry "size"
// cannot hold that of a variable of 4 GiB, and is ignored. A variable without the unlimited
// dimension is stored in one piece. The others are stored record by record: record 0 of all of
// them, then record 1, and so on. For example, with the dimensions time (unlimited, 3 records) and
// x (2), float u(time, x) and short v(time), a record has 8 + 4 bytes (v is padded), and the data
// of v at the offset 108 end at 108 + 2 * 12 + 2.
#include "io/dataset/netcdf_open.hpp"

#include "io/keep_loaded.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/regular_file.hpp"
#include "sys/types.hpp"

#include <fmt/format.h>
#include <netcdf.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

namespace tenon {

namespace {

enum Tag : Index { kDimensions = 0x0a, kVariables = 0x0b, kAttributes = 0x0c };

// No entry of a list has fewer bytes: a dimension has the length of its name and its own length, of
// 4 bytes each, and the others have more fields. A count of more entries than fit into the rest of
// the file is therefore damage, which is found before a loop over so many.
constexpr Index kMinDimension = 8, kMinAttribute = 8, kMinVariable = 20;

// Bytes of a number of each type, from 1 (byte) to 11 (uint64); there is no type 0.
std::optional<Index> bytesOf(Index type) {
  constexpr Index kBytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  if (type < 1 || type >= Index(std::size(kBytes)))
    return std::nullopt;
  return kBytes[type];
}

Index padded(Index bytes) {
  return (bytes + 3) / 4 * 4;
}

// A fault of a classic file.
struct Fault {
  std::string reason;
};

Index product(Index a, Index b) {
  Index result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw Fault{"a variable has more than 2^63 bytes by its dimensions"};
  return result;
}

Index sum(Index a, Index b) {
  Index result = 0;
  if (__builtin_add_overflow(a, b, &result))
    throw Fault{"data are at more than 2^63 bytes by its header"};
  return result;
}

class Header {
public:
  explicit Header(int file) : file_(file) {
    struct stat status {};
    if (fstat(file, &status) != 0)
      throw Fault{"its size cannot be read"};
    size_ = status.st_size;
  }
  void check();

private:
  struct Variable {
    std::string name;
    Index bytes = 0; // of all data, or of one record
    Index offset = 0;
    bool hasRecords = false;
  };

  Index number(int bytes);
  Index count() { return number(version_ == 5 ? 8 : 4); }
  std::string text();
  void skip(Index bytes);
  Index entries(Tag tag, Index minBytes);
  void skipAttributes();
  Variable variable();
  void checkData(const std::vector<Variable>& variables) const;

  int file_;
  Index size_ = 0, position_ = 0;
  int version_ = 0;
  Index records_ = 0;
  std::vector<Index> lengths_; // of the dimensions
};

void Header::skip(Index bytes) {
  if (bytes < 0 || bytes > size_ - position_)
    throw Fault{fmt::format("it is truncated: its header ends beyond the file's {} bytes", size_)};
  position_ += bytes;
}

Index Header::number(int bytes) {
  std::array<unsigned char, 8> read{};
  const Index at = position_;
  skip(bytes);
  if (pread(file_, read.data(), static_cast<std::size_t>(bytes), at) != bytes)
    throw Fault{"its header cannot be read"};
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value = value << 8 | read[static_cast<std::size_t>(i)];
  if (value > std::uint64_t(std::numeric_limits<Index>::max()))
    throw Fault{fmt::format("its header is damaged or truncated at byte {}", at)};
  return static_cast<Index>(value);
}

std::string Header::text() {
  const Index length = count(), at = position_;
  // skip() checks the length before the allocation. A length above the size of the file is replaced
  // by one that also fails there, because padded() could overflow.
  skip(padded(length > size_ ? size_ + 1 : length));
  std::string read(static_cast<std::size_t>(length), '\0');
  if (pread(file_, read.data(), read.size(), at) != length)
    throw Fault{"its header cannot be read"};
  return read;
}

// Reads the beginning of a list with this tag. Returns the number of its entries, each of which has
// at least `minBytes` bytes in the file.
Index Header::entries(Tag tag, Index minBytes) {
  const Index at = position_, found = number(4), entries = count();
  if ((found != tag && (found != 0 || entries != 0)) || entries > (size_ - position_) / minBytes)
    throw Fault{fmt::format("its header is damaged or truncated at byte {}", at)};
  return entries;
}

void Header::skipAttributes() {
  for (Index i = entries(kAttributes, kMinAttribute); i > 0; --i) {
    text();
    const Index at = position_;
    const std::optional<Index> bytes = bytesOf(number(4));
    if (!bytes)
      throw Fault{fmt::format("its header is damaged or truncated at byte {}", at)};
    skip(padded(std::min(product(count(), *bytes), size_ + 1))); // as in text()
  }
}

Header::Variable Header::variable() {
  Variable read;
  read.name = text();
  read.bytes = 1;
  const Index dimensions = count();
  for (Index d = 0; d < dimensions; ++d) {
    const Index at = position_, dimension = count();
    if (dimension >= Index(lengths_.size()))
      throw Fault{fmt::format("its header is damaged or truncated at byte {}", at)};
    const Index length = lengths_[static_cast<std::size_t>(dimension)];
    // The unlimited dimension, of length 0 in the header, is always the first of a variable.
    if (length == 0 && d == 0)
      read.hasRecords = true;
    else
      read.bytes = product(read.bytes, length);
  }
  skipAttributes();
  const Index at = position_;
  const std::optional<Index> bytes = bytesOf(number(4));
  if (!bytes)
    throw Fault{fmt::format("its header is damaged or truncated at byte {}", at)};
  read.bytes = product(read.bytes, *bytes);
  count(); // the size, which is ignored (see above)
  read.offset = number(version_ == 1 ? 4 : 8);
  return read;
}

void Header::checkData(const std::vector<Variable>& variables) const {
  Index recordBytes = 0, recordVariables = 0;
  for (const Variable& one : variables)
    if (one.hasRecords) {
      sum(one.bytes, 3); // throws if the padded size is too large for an Index
      recordBytes = sum(recordBytes, padded(one.bytes));
      ++recordVariables;
    }
  for (const Variable& one : variables) {
    // If only one variable has records, the format stores them without padding.
    const Index stride = recordVariables == 1 ? one.bytes : recordBytes;
    Index end = one.offset;
    if (!one.hasRecords)
      end = sum(end, one.bytes);
    else if (records_ > 0)
      end = sum(sum(end, product(records_ - 1, stride)), one.bytes);
    // position_ is now the end of the header. The offset of a variable without data is arbitrary.
    if (one.offset < position_ && end > one.offset)
      throw Fault{fmt::format("the data of variable '{}' begin at byte {}, inside the header",
                              one.name, one.offset)};
    if (end > size_)
      throw Fault{fmt::format("it is truncated: the data of variable '{}' end at byte {}, but the "
                              "file has {} bytes",
                              one.name, end, size_)};
  }
}

void Header::check() {
  skip(3); // "CDF", which classicFault() has found
  version_ = static_cast<int>(number(1));
  if (version_ != 1 && version_ != 2 && version_ != 5)
    throw Fault{fmt::format("it has format CDF-{}; expected 1, 2 or 5", version_)};
  const Index at = position_;
  // A writer to a pipe cannot return to the header and stores this in place of the number of
  // records. In CDF-5 it is 8 bytes 0xff, which count() rejects as too large.
  constexpr Index kStreamed = 0xffffffff;
  records_ = count();
  if (version_ != 5 && records_ == kStreamed)
    throw Fault{fmt::format("its header does not tell the number of records (at byte {}); rewrite "
                            "it (nccopy OLD NEW)",
                            at)};
  for (Index i = entries(kDimensions, kMinDimension); i > 0; --i) {
    text();
    lengths_.push_back(count());
  }
  skipAttributes();
  std::vector<Variable> variables;
  for (Index i = entries(kVariables, kMinVariable); i > 0; --i)
    variables.push_back(variable());
  checkData(variables);
}

// Why a file, an open descriptor, is classic but not complete, or "".
std::string classicFault(int file) {
  std::array<char, 3> first{};
  if (pread(file, first.data(), first.size(), 0) != 3 ||
      std::string_view(first.data(), first.size()) != "CDF")
    return "";
  try {
    Header(file).check();
    return "";
  } catch (const Fault& fault) {
    return fault.reason;
  }
}

} // namespace

int openNetcdf(const std::string& path) {
  // Stays loaded until the process ends (keep_loaded.hpp).
  [[maybe_unused]] static const bool isKept = keepLoaded(nc_open);
  const int descriptor = openRegularFile(path, "cannot open");
  std::string fault = classicFault(descriptor);
  ::close(descriptor);
  int file = -1;
  if (fault.empty())
    if (const int status = nc_open(path.c_str(), NC_NOWRITE, &file); status != NC_NOERR)
      fault = nc_strerror(status);
  if (!fault.empty())
    throw Error(TENON_ERR_FORMAT, fmt::format("cannot read file '{}' as NetCDF: {}", path, fault));
  return file;
}

} // namespace tenon
