// SPDX-License-Identifier: BSD-2-Clause
// Reads the program of a network from its file, or from bytes that another process has recorded,
// and runs the steps from there to layers. The first bytes of the file determine its format.
//
// One process opens the file and reads the description through a Recording source, which notes
// every range of bytes that is read. The ranges are broadcast as a text (by the caller); the other
// processes parse the same bytes through a Replaying source, without access to the file. Before
// weights are read from the file later, checkSame() verifies that it still has these bytes.
#include "import/model_file.hpp"

#include "import/ann/ann.hpp"
#include "import/onnx/onnx.hpp"
#include "import/pt2/pt2.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/foreign_file.hpp"
#include "weights/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace tenon {

namespace {

constexpr int kNumberBytes = 8;

// Numbers are stored as 8 bytes, little-endian.
void append(std::string& text, Index number) {
  for (int i = 0; i < kNumberBytes; ++i)
    text += static_cast<char>(static_cast<std::uint64_t>(number) >> 8 * i & 255);
}

// Reads a number that append() has written, and advances past it.
Index numberAt(const std::string& text, std::size_t& at) {
  if (text.size() - at < kNumberBytes)
    throw Error(TENON_ERR_INTERNAL, "a record of a file's bytes is truncated");
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data() + at);
  at += kNumberBytes;
  return static_cast<Index>(littleEndian(bytes, kNumberBytes));
}

// The offset behind the last byte of a recorded part (offset, bytes).
Index endOf(const std::pair<const Index, std::string>& part) {
  return part.first + static_cast<Index>(part.second.size());
}

// A byte source that reads a file and records every range that is read.
class Recording final : public ByteSource {
public:
  Recording(const ByteSource& file, RecordedBytes& record)
      : ByteSource(file.name(), file.kind()), file_(file), record_(record) {}
  Index size() const noexcept override { return file_.size(); }
  void read(Index offset, std::byte* to, Index count) const override {
    file_.read(offset, to, count);
    record_.add(offset, to, count);
  }

private:
  const ByteSource& file_;
  RecordedBytes& record_;
};

// A byte source that serves recorded ranges; the file is not accessed.
class Replaying final : public ByteSource {
public:
  Replaying(const RecordedBytes& record, const std::string& name, const std::string& kind)
      : ByteSource(name, kind), record_(record) {}
  Index size() const noexcept override { return record_.size(); }
  void read(Index offset, std::byte* to, Index count) const override {
    record_.read(offset, to, count);
  }

private:
  const RecordedBytes& record_;
};

// Factories of the two sources above; `file` and `record` must outlive their results.
std::unique_ptr<ByteSource> recording(const ByteSource& file, RecordedBytes& record) {
  return std::make_unique<Recording>(file, record);
}

std::unique_ptr<ByteSource> replaying(const RecordedBytes& record, const std::string& name,
                                      const std::string& kind) {
  return std::make_unique<Replaying>(record, name, kind);
}

constexpr const char* kKind = "model file";

// The bytes of a file that was converted in memory.
class Converted final : public ByteSource {
public:
  Converted(const std::string& name, std::string bytes)
      : ByteSource(name, kKind), bytes_(std::move(bytes)) {}
  Index size() const noexcept override { return static_cast<Index>(bytes_.size()); }
  void read(Index offset, std::byte* to, Index count) const override {
    if (count > 0)
      std::memcpy(to, bytes_.data() + offset, static_cast<std::size_t>(count));
  }

private:
  const std::string bytes_;
};

ForeignFile formatOf(const ByteSource& file) {
  const auto bytes =
      file.readPart(0, std::min(file.size(), static_cast<Index>(kForeignBytes)), "the first bytes");
  return foreignFile({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

NetcdfReader& netcdfReader() {
  static NetcdfReader reader = nullptr;
  return reader;
}

} // namespace

NetcdfReader setNetcdfReader(NetcdfReader reader) {
  return std::exchange(netcdfReader(), reader);
}

std::unique_ptr<ByteSource> openModel(const std::string& path) {
  std::unique_ptr<ByteSource> file = openBytes(path, kKind);
  const ForeignFile format = formatOf(*file);
  if (format != ForeignFile::NetCdf3 && format != ForeignFile::Hdf5)
    return file;
  if (!netcdfReader())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("cannot read {} '{}': it is {}, and this library was built without "
                            "NetCDF, by which it reads networks in MOM6's layout; install NetCDF "
                            "for your MPI (on Debian libnetcdf-mpi-dev) and build Tenon with "
                            "-DTENON_NETCDF=ON",
                            kKind, path, foreignFileText(format)));
  return std::make_unique<Converted>(path, netcdfReader()(path));
}

void RecordedBytes::add(Index offset, const std::byte* bytes, Index count) {
  if (count == 0)
    return;
  // Extend the part that ends at or after this offset, or insert a new one; then merge the parts
  // that the extended one now touches.
  auto at = parts_.upper_bound(offset);
  if (at != parts_.begin() && endOf(*std::prev(at)) >= offset)
    --at;
  else
    at = parts_.emplace_hint(at, offset, "");
  std::string& part = at->second;
  const Index overlap = endOf(*at) - offset; // bytes that are recorded already
  if (count > overlap)
    part.append(reinterpret_cast<const char*>(bytes + overlap),
                static_cast<std::size_t>(count - overlap));
  const Index end = endOf(*at);
  for (auto next = std::next(at); next != parts_.end() && next->first <= end;
       next = parts_.erase(next))
    if (endOf(*next) > end)
      part.append(next->second, static_cast<std::size_t>(end - next->first));
}

void RecordedBytes::read(Index offset, std::byte* to, Index count) const {
  if (count == 0)
    return;
  // The part that begins at or before the offset must contain the range.
  const auto after = parts_.upper_bound(offset);
  if (after == parts_.begin() || endOf(*std::prev(after)) < offset + count)
    throw Error(TENON_ERR_INTERNAL, "bytes of a file are read that were not recorded");
  std::memcpy(to, std::prev(after)->second.data() + (offset - std::prev(after)->first),
              static_cast<std::size_t>(count));
}

// Size of the file, then offset, length and bytes of each part.
std::string RecordedBytes::text() const {
  std::string text;
  append(text, size_);
  for (const auto& [offset, bytes] : parts_) {
    append(text, offset);
    append(text, static_cast<Index>(bytes.size()));
    text += bytes;
  }
  return text;
}

RecordedBytes RecordedBytes::fromText(const std::string& text) {
  std::size_t at = 0;
  RecordedBytes record(numberAt(text, at));
  while (at < text.size()) {
    const Index offset = numberAt(text, at);
    const auto count = static_cast<std::size_t>(numberAt(text, at));
    if (count > text.size() - at)
      throw Error(TENON_ERR_INTERNAL, "a record of a file's bytes is truncated");
    record.parts_.emplace(offset, text.substr(at, count));
    at += count;
  }
  return record;
}

void RecordedBytes::checkSame(const ByteSource& file) const {
  constexpr Index kPiece = Index(1) << 16;
  const auto differs = [&] {
    throw Error(TENON_ERR_FILE,
                fmt::format("{} is not the file of which the network was read: it was replaced or "
                            "changed since, or another process sees another file under this path",
                            file.name()));
  };
  if (file.size() != size_)
    differs();
  std::vector<std::byte> piece;
  for (const auto& [offset, bytes] : parts_)
    for (Index offsetInPart = 0, partBytes = static_cast<Index>(bytes.size());
         offsetInPart < partBytes;) {
      piece.resize(static_cast<std::size_t>(std::min(kPiece, partBytes - offsetInPart)));
      file.read(offset + offsetInPart, piece.data(), static_cast<Index>(piece.size()));
      if (std::memcmp(piece.data(), bytes.data() + offsetInPart, piece.size()) != 0)
        differs();
      offsetInPart += static_cast<Index>(piece.size());
    }
}

ModelFile::ModelFile(const std::string& path) : path_(path), record_(0) {
  const std::unique_ptr<ByteSource> file = openModel(path);
  record_ = RecordedBytes(file->size());
  program_ = readModelProgram(*recording(*file, record_));
}

ModelFile::ModelFile(const std::string& path, const std::string& recorded)
    : path_(path), record_(RecordedBytes::fromText(recorded)) {
  program_ = readModelProgram(*replaying(record_, path, kKind));
}

std::unique_ptr<ByteSource> ModelFile::open() const {
  std::unique_ptr<ByteSource> file = openModel(path_);
  record_.checkSame(*file);
  return file;
}

// Files of ONNX have no common first bytes. Other formats that are known by theirs, and failed
// downloads, are named here; any other file is read as ONNX.
ModelProgram readModelProgram(const ByteSource& file) {
  if (isZip(file))
    return readPt2(file);
  if (hasTensorsOnly(file))
    return readAnn(file);
  const ForeignFile foreign = formatOf(file);
  if (foreign != ForeignFile::None)
    file.fail("", fmt::format("it is {}; networks are read from torch.export.save() and ONNX",
                              foreignFileText(foreign)));
  return readOnnx(file);
}

ImportedNetwork importNetwork(const ModelProgram& program, const ByteSource& file,
                              const std::vector<Shape>& inputs, ModelMode mode,
                              ModelTables tables) {
  const ModelWeights weights(program, file);
  ModelGraph graph = buildModel(weights, inputs, mode, tables);
  return mapToLayers(graph, weights);
}

} // namespace tenon
