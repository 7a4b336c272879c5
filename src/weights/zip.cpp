// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes directories of zip archives (the format is PKWARE's APPNOTE). An archive
// consists of
//
//   local header, data      for each member
//   entry                   for each member: the directory, which has all that is needed
//   zip64 end, its locator  only if a number of the end record is too large for its field
//   end record              number of members, offset and size of the directory
//
// readZip() locates the records from the end of the file. The file is not trusted: each offset is
// checked against the file's size before it is used, entries are compared with the members' local
// headers, and each byte before the directory must belong to one member. Numbers are little-endian.
#include "weights/zip.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Signatures, with which the records begin, and the sizes of records without texts of any length.
constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr Index kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                kLocator64Bytes = 20, kMaxComment = 0xffff;

// A number in a record: its offset and size in bytes.
struct Field {
  Index offset;
  int bytes;
};
constexpr Field kSignature{0, 4};
constexpr Field kEndDisk{4, 2}, kEndFirstDisk{6, 2}, kEndDiskMembers{8, 2}, kEndMembers{10, 2},
    kEndDirectoryBytes{12, 4}, kEndDirectoryBegin{16, 4}, kEndComment{20, 2};
constexpr Field kLocator64End{8, 8}; // offset of the zip64 end
constexpr Field kEnd64Rest{4, 8}, kEnd64Disk{16, 4}, kEnd64FirstDisk{20, 4},
    kEnd64DiskMembers{24, 8}, kEnd64Members{32, 8}, kEnd64DirectoryBytes{40, 8},
    kEnd64DirectoryBegin{48, 8};
constexpr Field kEntryFlags{8, 2}, kEntryMethod{10, 2}, kEntryCrc{16, 4}, kEntryPackedBytes{20, 4},
    kEntrySize{24, 4}, kEntryName{28, 2}, kEntryExtra{30, 2}, kEntryComment{32, 2},
    kEntryHeader{42, 4}; // Name, Extra and Comment are lengths; Header is an offset
constexpr Field kLocalFlags{6, 2}, kLocalMethod{8, 2}, kLocalCrc{14, 4}, kLocalPackedBytes{18, 4},
    kLocalSize{22, 4}, kLocalName{26, 2}, kLocalExtra{28, 2};
// An extra field of an entry: its kind, the length of its contents, and numbers of 8 bytes.
constexpr Field kExtraKind{0, 2}, kExtraLength{2, 2};
constexpr Index kExtraStart = 4, kLargeNumberBytes = 8;
constexpr std::uint64_t kZip64Kind = 1;

// Values of a field of 16 or 32 bits that mean "too large, see the zip64 record".
constexpr std::uint64_t kSaturated16 = 0xffff, kSaturated32 = 0xffffffff;
// Methods of compression, and bits of flags. With a descriptor, sizes and checksum follow the data.
constexpr std::uint64_t kMethodStored = 0, kMethodDeflated = 8, kEncrypted = 1 << 0,
                        kDescriptor = 1 << 3;
// Maximal compression ratio of deflate.
constexpr Index kMaxRatio = 1032;

// Reads the numbers of a record.
class Record {
public:
  Record(const std::byte* first) : first_(first) {}
  std::uint64_t at(Field field) const { return littleEndian(first_ + field.offset, field.bytes); }
  Index index(Field field) const { return static_cast<Index>(at(field)); }

private:
  const std::byte* first_;
};

// The directory of an archive: its offset and size, and its number of entries.
struct Directory {
  Index begin, bytes, members;
};

// Returns the offset of the end record, which must end exactly at the end of the file.
Index findEnd(const ByteSource& source) {
  const Index tailBytes = std::min(source.size(), kEndBytes + kMaxComment);
  const std::vector<std::byte> tail =
      source.readPart(source.size() - tailBytes, tailBytes, "the archive's end");
  for (Index i = tailBytes - kEndBytes; i >= 0; --i) {
    const Record record(tail.data() + i);
    // The signature alone can occur in a comment, so the comment must also end with the file.
    if (record.at(kSignature) == kEnd && record.index(kEndComment) == tailBytes - kEndBytes - i)
      return source.size() - tailBytes + i;
  }
  source.fail("", "it begins as a zip archive, but has no directory at its end: the file is "
                  "truncated or damaged");
}

// The zip64 end record must be directly before its locator, which is directly before the end
// record.
Directory readEnd64(const ByteSource& source, Index end) {
  const auto locator = source.readPart(end - kLocator64Bytes, kLocator64Bytes, "the zip64 locator");
  if (Record(locator.data()).at(kSignature) != kLocator64)
    source.fail("", "a size is said to be in a zip64 record, and there is none");
  const Index at = Record(locator.data()).index(kLocator64End);
  const auto bytes = source.readPart(at, kEnd64Bytes, "the zip64 end of the directory");
  const Record record(bytes.data());
  // The record states the size of its rest, which is without the first 12 bytes.
  if (record.at(kSignature) != kEnd64 || at != end - kLocator64Bytes - kEnd64Bytes ||
      record.at(kEnd64Rest) != kEnd64Bytes - 12)
    source.fail("", "the zip64 end of the directory is damaged");
  if (record.at(kEnd64Disk) != 0 || record.at(kEnd64FirstDisk) != 0 ||
      record.at(kEnd64DiskMembers) != record.at(kEnd64Members))
    source.fail("", "the archive is one of several files");
  const Directory directory{record.index(kEnd64DirectoryBegin), record.index(kEnd64DirectoryBytes),
                            record.index(kEnd64Members)};
  if (directory.begin < 0 || directory.bytes < 0 || directory.begin > at ||
      directory.bytes != at - directory.begin)
    source.fail("", "the archive's directory does not end where its end begins");
  return directory;
}

// Returns the directory, from the end record or, for large numbers, from the zip64 end.
Directory readEnd(const ByteSource& source) {
  const Index end = findEnd(source);
  const auto bytes = source.readPart(end, kEndBytes, "the archive's end");
  const Record record(bytes.data());
  if (record.at(kEndDiskMembers) == kSaturated16 || record.at(kEndDirectoryBytes) == kSaturated32 ||
      record.at(kEndDirectoryBegin) == kSaturated32)
    return readEnd64(source, end);
  if (record.at(kEndDisk) != 0 || record.at(kEndFirstDisk) != 0 ||
      record.at(kEndDiskMembers) != record.at(kEndMembers))
    source.fail("", "the archive is one of several files");
  const Directory directory{record.index(kEndDirectoryBegin), record.index(kEndDirectoryBytes),
                            record.index(kEndMembers)};
  // An unnecessary zip64 end record can be between the two.
  const Index gap = end - directory.bytes - directory.begin;
  if (gap != 0 && gap != kEnd64Bytes + kLocator64Bytes)
    source.fail("", "the archive's directory does not end where its end begins");
  return directory;
}

// Reads numbers that did not fit into 32 bits from the entry's zip64 field.
void readLargeNumbers(const ByteSource& source, ZipMember& member, const std::byte* extra,
                      Index extraBytes) {
  std::vector<Index*> pending; // numbers of the member that are in the zip64 field, in its order
  for (Index* number : {&member.bytes, &member.stored, &member.header})
    if (*number == static_cast<Index>(kSaturated32))
      pending.push_back(number);
  for (Index at = 0; !pending.empty() && at + kExtraStart <= extraBytes;) {
    const Record field(extra + at);
    const Index length = field.index(kExtraLength);
    if (at + kExtraStart + length > extraBytes)
      break;
    if (field.at(kExtraKind) == kZip64Kind) {
      if (length < kLargeNumberBytes * static_cast<Index>(pending.size()))
        break;
      for (std::size_t i = 0; i < pending.size(); ++i)
        *pending[i] = field.index({kExtraStart + kLargeNumberBytes * static_cast<Index>(i),
                                   static_cast<int>(kLargeNumberBytes)});
      return;
    }
    at += kExtraStart + length;
  }
  if (!pending.empty())
    source.fail(member.name, "a size is said to be in a zip64 field, and there is none");
}

// Rejects encrypted members, unknown compression methods, and positions outside the file.
void checkMember(const ByteSource& source, const ZipMember& member, std::uint64_t flags,
                 std::uint64_t method) {
  if (flags & kEncrypted)
    source.fail(member.name, "it is encrypted");
  if (method != kMethodStored && method != kMethodDeflated)
    source.fail(member.name, fmt::format("it is packed by method {}; 0 (stored) and 8 (deflated) "
                                         "can be read",
                                         method));
  if (member.header < 0 || member.stored < 0 || member.bytes < 0 || member.stored > source.size() ||
      member.header > source.size() - member.stored)
    source.fail(member.name, fmt::format("its {} bytes at {} lie beyond the file's {}: the file is "
                                         "truncated or damaged",
                                         member.stored, member.header, source.size()));
  // Reject impossible compression ratios before memory of the claimed size is allocated.
  const bool isPossible =
      member.deflated ? member.bytes / kMaxRatio <= member.stored : member.bytes == member.stored;
  if (!isPossible)
    source.fail(member.name,
                fmt::format("{} bytes cannot be stored in {}", member.bytes, member.stored));
}

// Parses one entry at the beginning of the rest of the directory, and advances past it.
ZipMember readEntry(const ByteSource& source, const std::byte*& at, Index& rest) {
  const Record record(at);
  const auto damaged = [&] { source.fail("", "the archive's directory is damaged"); };
  if (rest < kEntryBytes || record.at(kSignature) != kEntry)
    damaged();
  const Index nameBytes = record.index(kEntryName), extraBytes = record.index(kEntryExtra);
  const Index entryBytes = kEntryBytes + nameBytes + extraBytes + record.index(kEntryComment);
  if (rest < entryBytes)
    damaged();
  const std::byte* name = at + kEntryBytes;
  ZipMember member{
      .name = std::string(reinterpret_cast<const char*>(name), static_cast<std::size_t>(nameBytes)),
      .header = record.index(kEntryHeader),
      .stored = record.index(kEntryPackedBytes),
      .bytes = record.index(kEntrySize),
      .crc = static_cast<std::uint32_t>(record.at(kEntryCrc)),
      .deflated = record.at(kEntryMethod) == kMethodDeflated,
      .hasDescriptor = (record.at(kEntryFlags) & kDescriptor) != 0};
  checkName(source, member.name);
  readLargeNumbers(source, member, name + nameBytes, extraBytes);
  checkMember(source, member, record.at(kEntryFlags), record.at(kEntryMethod));
  at += entryBytes;
  rest -= entryBytes;
  return member;
}

// Compares the member's local header with its entry, and determines the offset of its data.
void readLocalHeader(const ByteSource& source, ZipMember& member) {
  const auto bytes = source.readPart(member.header, kLocalBytes, "a member's header");
  const Record record(bytes.data());
  const Index nameBytes = record.index(kLocalName);
  const auto differs = [&](const char* what) {
    source.fail(member.name, fmt::format("{} differs between the archive's directory and the "
                                         "member's own header",
                                         what));
  };
  if (record.at(kSignature) != kLocal)
    source.fail(member.name, fmt::format("no member begins at byte {}", member.header));
  const auto name = source.readPart(member.header + kLocalBytes, nameBytes, "a member's name");
  if (member.name != std::string_view(reinterpret_cast<const char*>(name.data()), name.size()))
    differs("the name");
  if (record.at(kLocalMethod) != (member.deflated ? kMethodDeflated : kMethodStored))
    differs("the method");
  const bool isKnown = (record.at(kLocalFlags) & kDescriptor) == 0;
  if (isKnown == member.hasDescriptor)
    differs("a flag");
  // With a descriptor, sizes and checksum follow the data and are 0 here.
  for (const auto& [field, number] :
       {std::pair(kLocalPackedBytes, member.stored), std::pair(kLocalSize, member.bytes)})
    if (isKnown && record.at(field) != kSaturated32 && record.index(field) != number)
      differs("the size");
  if (isKnown && record.at(kLocalCrc) != member.crc)
    differs("the checksum");
  member.begin = member.header + kLocalBytes + nameBytes + record.index(kLocalExtra);
  if (member.begin > source.size() - member.stored)
    source.fail(member.name, "it reaches beyond the end of the file: the file is truncated or "
                             "damaged");
}

// Checks that each byte before the directory belongs to exactly one member.
void checkPlaces(const ByteSource& source, const std::vector<ZipMember>& members, Index directory) {
  constexpr Index kMaxDescriptor = 24;
  std::vector<const ZipMember*> byPlace;
  for (const ZipMember& member : members)
    byPlace.push_back(&member);
  std::sort(byPlace.begin(), byPlace.end(),
            [](const auto* a, const auto* b) { return a->header < b->header; });
  Index end = 0, slack = 0;
  for (const ZipMember* member : byPlace) {
    if (member->header < end || member->header > end + slack)
      source.fail(member->name, fmt::format("it begins at byte {}, but those before it end at {}: "
                                            "the members {}",
                                            member->header, end,
                                            member->header < end ? "overlap" : "leave a hole"));
    end = member->begin + member->stored;
    // A data descriptor can follow the member's data, in one of four forms of at most 24 bytes.
    slack = member->hasDescriptor ? kMaxDescriptor : 0;
  }
  if (directory < end || directory > end + slack)
    source.fail("", fmt::format("the archive's directory begins at byte {}, but the members end at "
                                "{}",
                                directory, end));
}

// Appends a little-endian number of `bytes` bytes.
void append(std::string& text, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i, number >>= 8)
    text += static_cast<char>(number & 255);
}

constexpr int kVersion = 20; // 10 times the version of the format, 2.0

// Appends the fields that both headers of a member have in common, from the version on.
void appendCommon(std::string& text, const ZipMember& member) {
  constexpr int kUtf8 = 1 << 11, kDate = 0x21; // 1 January 1980
  append(text, kVersion, 2);                   // that a reader needs
  append(text, kUtf8, 2);                      // flag: the name is UTF-8
  append(text, kMethodStored, 2);              // method
  append(text, 0, 2);                          // time
  append(text, kDate, 2);
  append(text, member.crc, 4);
  append(text, static_cast<std::uint64_t>(member.bytes), 4); // stored
  append(text, static_cast<std::uint64_t>(member.bytes), 4); // size
  append(text, member.name.size(), 2);
  append(text, 0, 2); // length of the extra fields
}

} // namespace

bool isZip(const ByteSource& source) {
  if (source.size() < kEndBytes)
    return false;
  const auto first = source.readPart(0, 4, "the first bytes");
  const std::uint64_t mark = littleEndian(first.data(), 4);
  return mark == kLocal || mark == kEnd || mark == kEnd64;
}

// Bound the directory before it is read.
std::vector<ZipMember> readZip(const ByteSource& source) {
  const Directory directory = readEnd(source);
  if (directory.bytes > kMaxDirectoryBytes || directory.members > directory.bytes / kEntryBytes)
    source.fail("", fmt::format("its directory of {} members would have {} bytes, and at most {} "
                                "are read",
                                directory.members, directory.bytes, kMaxDirectoryBytes));
  const auto bytes = source.readPart(directory.begin, directory.bytes, "the archive's directory");
  const std::byte* at = bytes.data();
  Index remaining = directory.bytes;
  std::vector<ZipMember> members;
  for (Index i = 0; i < directory.members; ++i) {
    members.push_back(readEntry(source, at, remaining));
    readLocalHeader(source, members.back());
  }
  if (remaining != 0)
    source.fail("", fmt::format("its directory has {} bytes more than its {} members", remaining,
                                directory.members));
  checkPlaces(source, members, directory.begin);
  return members;
}

std::string zipLocalHeader(const ZipMember& member) {
  std::string text;
  append(text, kLocal, 4);
  appendCommon(text, member);
  return text + member.name;
}

std::string zipDirectoryEntry(const ZipMember& member) {
  std::string text;
  append(text, kEntry, 4);
  append(text, kVersion, 2); // of the writing software
  appendCommon(text, member);
  append(text, 0, 2); // comment
  append(text, 0, 2); // disk
  append(text, 0, 2); // attributes of the contents
  append(text, 0, 4); // attributes of a file system
  append(text, static_cast<std::uint64_t>(member.header), 4);
  return text + member.name;
}

std::string zipEnd(Index members, Index directoryBegin, Index directoryBytes) {
  std::string text;
  append(text, kEnd, 4);
  append(text, 0, 4); // disks
  append(text, static_cast<std::uint64_t>(members), 2);
  append(text, static_cast<std::uint64_t>(members), 2);
  append(text, static_cast<std::uint64_t>(directoryBytes), 4);
  append(text, static_cast<std::uint64_t>(directoryBegin), 4);
  append(text, 0, 2); // comment
  return text;
}

} // namespace tenon
