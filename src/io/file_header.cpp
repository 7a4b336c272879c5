// SPDX-License-Identifier: BSD-2-Clause
// Writes and checks the header of a checkpoint file, the text before HDF5's first byte (format and
// example in file_header.hpp). HDF5 trusts the metadata that it reads, so damaged metadata could
// crash it. Everything except the tensors' data is therefore covered by one digest, which
// checkHeader() verifies before HDF5 opens the file.
//
//   | header | metadata | data of a tensor | metadata | data of a tensor | metadata |
//   |<------ covered by the header's digest, without the ranges of data ----------->|
//
// Only one process calls these functions: rank 0, or a program that lists a file. To verify a file,
// its metadata are read in chunks, and the data are skipped.
#include "io/file_header.hpp"

#include "io/stored_file.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/regular_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace tenon {

namespace {

// Smallest and largest size of a header in bytes. HDF5 searches for its superblock, the beginning
// of its own data, at offsets 0, 512 and larger powers of two, so the size must be a power of two.
constexpr Index kMinHeader = 512, kMaxHeader = Index(1) << 28;
constexpr Index kHeaderLine = 48; // maximal length of a line with two numbers
constexpr std::string_view kFirstWord = "tenon-checkpoint ";

// The hash function FNV-1a with 64 bits (Fowler, Noll, Vo), with its standard prime and offset.
// Changing a single byte always changes the digest.
class ByteDigest {
public:
  void add(std::string_view bytes) noexcept {
    for (const char c : bytes) {
      hash_ ^= static_cast<unsigned char>(c);
      hash_ *= 0x100000001b3ULL;
    }
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

[[noreturn]] void failHeader(TenonErrorCode code, const std::string& path,
                             const std::string& reason) {
  throw Error(code,
              fmt::format("{} file '{}': {}", code == TENON_ERR_FILE ? "cannot use" : "cannot read",
                          path, reason));
}

// Parses a header from its beginning. Each function consumes the part that it parses, and throws
// TENON_ERR_FORMAT if that part is not as writeHeader() writes it.
class HeaderReader {
public:
  HeaderReader(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  // Consumes the word and returns true; false if the text does not continue with it.
  bool skip(std::string_view word) {
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // Parses a number that is followed by the character `end`.
  Index number(char end) {
    Index value = 0;
    const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto length = static_cast<std::size_t>(stop - rest_.data());
    // A number must end where writeHeader() ends it, so nothing can be inserted between.
    if (error != std::errc() || value < 0 || length >= rest_.size() || rest_[length] != end)
      damaged();
    rest_.remove_prefix(length + 1);
    return value;
  }
  // Parses a line such as "header 512": returns 512 if `word` is "header ".
  Index line(std::string_view word) {
    if (!skip(word))
      damaged();
    return number('\n');
  }
  // Parses the first three lines; returns the size of the header, verified to be inside the file.
  Index bytesOfHeader(Index fileBytes) {
    if (!skip(kFirstWord))
      failHeader(TENON_ERR_FORMAT, path_,
                 "it is not a checkpoint of Tenon, or its beginning is damaged");
    const Index version = number('\n');
    if (version != kCheckpointVersion)
      failHeader(TENON_ERR_FORMAT, path_,
                 fmt::format("it has format {}, and this library reads format {}; use the version "
                             "of Tenon that wrote it, or a later one",
                             version, kCheckpointVersion));
    const Index headerBytes = line("header ");
    const Index expected = line("file ");
    if (expected != fileBytes)
      failHeader(TENON_ERR_FORMAT, path_,
                 fmt::format("it has {} bytes, and {} were written: it is truncated or damaged",
                             fileBytes, expected));
    if (headerBytes < kMinHeader || headerBytes > std::min(fileBytes, kMaxHeader) ||
        !std::has_single_bit(static_cast<std::uint64_t>(headerBytes)))
      damaged();
    return headerBytes;
  }
  // Parses the lines "data BEGIN BYTES". The ranges are verified to be ascending and disjoint,
  // after the header and inside the file.
  std::vector<ByteRange> dataWithin(Index headerBytes, Index fileBytes) {
    std::vector<ByteRange> data;
    Index previousEnd = headerBytes;
    while (skip("data ")) {
      const Index begin = number(' ');
      const Index length = number('\n');
      // Differences of valid numbers cannot overflow.
      if (begin < previousEnd || begin > fileBytes || length > fileBytes - begin)
        damaged();
      data.push_back({begin, length});
      previousEnd = begin + length;
    }
    return data;
  }
  // The text that has not been parsed yet.
  std::string_view rest() const noexcept { return rest_; }
  [[noreturn]] void damaged() const {
    failHeader(TENON_ERR_FORMAT, path_, "its header is damaged");
  }

private:
  const std::string& path_;
  std::string_view rest_;
};

// Adds all bytes of the file that are neither header nor data to the digest.
void addMetadata(ByteDigest& digest, std::istream& file, Index headerBytes, Index fileBytes,
                 const std::vector<ByteRange>& data) {
  constexpr Index kChunk = 65536;
  std::string bytes;
  Index at = headerBytes; // offset of the next byte
  const auto addUpTo = [&](Index end) {
    file.seekg(at);
    while (at < end && file) {
      bytes.resize(static_cast<std::size_t>(std::min(end - at, kChunk)));
      file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      digest.add(bytes);
      at += static_cast<Index>(bytes.size());
    }
  };
  for (const ByteRange& range : data) {
    addUpTo(range.begin);
    at = range.begin + range.size;
  }
  addUpTo(fileBytes);
}

// Checks that HDF5's superblock, which has a signature and then a byte with the version, follows
// the header. HDF5 metadata have checksums from superblock version 2 on. Tenon writes these
// versions, and rejects older ones, whose metadata HDF5 would trust.
void checkSuperblock(const std::string& path, std::istream& file, Index headerBytes) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  constexpr int kMinVersion = 2;
  char bytes[kSignature.size() + 1] = "";
  file.seekg(headerBytes);
  file.read(bytes, sizeof bytes);
  if (!file || !std::string_view(bytes, sizeof bytes).starts_with(kSignature))
    failHeader(TENON_ERR_FORMAT, path, "it is damaged: no HDF5 file follows its header");
  const int version = static_cast<unsigned char>(bytes[kSignature.size()]);
  if (version < kMinVersion)
    failHeader(TENON_ERR_FORMAT, path,
               fmt::format("its HDF5 superblock has version {}; expected {} or later, which "
                           "checkpoints of Tenon have",
                           version, kMinVersion));
}

} // namespace

bool beginsAsCheckpoint(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return false;
  std::string text(kFirstWord.size(), '\0');
  return std::ifstream(path, std::ios::binary)
             .read(text.data(), static_cast<std::streamsize>(text.size())) &&
         text == kFirstWord;
}

Index headerBytes(std::size_t datasets) {
  // Three lines before those of the datasets, and the digest after them.
  const Index needed = 3 * kHeaderLine + (static_cast<Index>(datasets) + 1) * kHeaderLine;
  return static_cast<Index>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max(kMinHeader, needed))));
}

void writeHeader(const std::string& path, Index bytes, std::vector<ByteRange> data) {
  std::sort(data.begin(), data.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::error_code error;
  const auto size = static_cast<Index>(std::filesystem::file_size(path, error));
  if (!file || error)
    failHeader(TENON_ERR_FILE, path, error ? error.message() : std::strerror(errno));
  std::string text =
      fmt::format("{}{}\nheader {}\nfile {}\n", kFirstWord, kCheckpointVersion, bytes, size);
  for (const ByteRange& range : data)
    text += fmt::format("data {} {}\n", range.begin, range.size);
  ByteDigest digest;
  digest.add(text);
  addMetadata(digest, file, bytes, size, data);
  text += fmt::format("digest {}\n", digest.text());
  file.seekp(0);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    failHeader(TENON_ERR_FILE, path, std::strerror(errno));
}

void checkHeader(const std::string& path) {
  ::close(openRegularFile(path, "cannot use file"));
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const auto size = static_cast<Index>(std::filesystem::file_size(path, error));
  if (!file || error)
    failHeader(TENON_ERR_FILE, path, error ? error.message() : std::strerror(errno));
  // The first lines say how long the header is; then all of it is read and parsed from the
  // beginning.
  std::string text(kMinHeader, '\0');
  file.read(text.data(), kMinHeader);
  file.clear(); // a file shorter than kMinHeader is reported by the parser
  const Index bytes = HeaderReader(path, text).bytesOfHeader(size);
  // The header's size has been verified to be inside the file, so damage cannot cause a huge
  // allocation.
  text.resize(static_cast<std::size_t>(bytes));
  file.seekg(0);
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  HeaderReader reader(path, text);
  reader.bytesOfHeader(size);
  const std::vector<ByteRange> data = reader.dataWithin(bytes, size);
  ByteDigest digest; // of the lines before the line "digest ...", then of the metadata
  digest.add(std::string_view(text).substr(0, text.size() - reader.rest().size()));
  addMetadata(digest, file, bytes, size, data);
  if (!file)
    failHeader(TENON_ERR_FILE, path, std::strerror(errno));
  if (!reader.skip(fmt::format("digest {}\n", digest.text())) ||
      reader.rest().find_first_not_of('\0') != std::string_view::npos)
    failHeader(TENON_ERR_FORMAT, path,
               "it is damaged: its structure does not have the digest that its header says");
  checkSuperblock(path, file, bytes);
}

} // namespace tenon
