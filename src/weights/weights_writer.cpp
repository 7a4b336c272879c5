// SPDX-License-Identifier: BSD-2-Clause
// Writes weights files, safetensors or npz, on one process: add() is called once for each tensor,
// in the order that was passed to the constructor, and then commit(), which gives the file its
// final name. All sizes are known in advance, so a file that exceeds the limits of npz is rejected
// before anything is written.
#include "weights/weights_writer.hpp"

#include "sys/errors/error.hpp"
#include "weights/npy.hpp"
#include "weights/safetensors.hpp"
#include "weights/zip.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <set>

namespace tenon {

namespace {

std::string_view textAt(const void* first, Index bytes) {
  return {static_cast<const char*>(first), static_cast<std::size_t>(bytes)};
}

class SafetensorsWriter final : public WeightsWriter {
public:
  SafetensorsWriter(const std::string& path, std::vector<StoredTensor> tensors)
      : tensors_(std::move(tensors)), file_(path) {
    file_.write(safetensorsHeader(tensors_));
  }
  void add(const void* first) override { file_.write(textAt(first, tensors_.at(next_++).bytes)); }
  void commit() override { file_.commit(); }

private:
  std::vector<StoredTensor> tensors_;
  std::size_t next_ = 0; // index of the tensor that the next add() writes
  NewFile file_;
};

class NpzWriter final : public WeightsWriter {
public:
  NpzWriter(const std::string& path, std::vector<StoredTensor> tensors)
      : tensors_(std::move(tensors)), file_(checked(path)) {}

  void add(const void* first) override {
    const StoredTensor& tensor = tensors_.at(next_++);
    const std::string header = npyHeader(tensor.type, tensor.shape);
    ZipMember member{.name = tensor.name + ".npy",
                     .header = end_,
                     .bytes = static_cast<Index>(header.size()) + tensor.bytes};
    member.stored = member.bytes;
    // The checksum is stored before the data, so it must be computed before writing.
    member.crc = static_cast<std::uint32_t>(
        crc32_z(crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size()),
                static_cast<const Bytef*>(first), static_cast<std::size_t>(tensor.bytes)));
    write(zipLocalHeader(member));
    write(header);
    write(textAt(first, tensor.bytes));
    // The directory is written at the end of the archive; it has names and offsets only, so it is
    // small.
    directory_ += zipDirectoryEntry(member);
  }
  void commit() override {
    const Index begin = end_;
    write(directory_);
    write(zipEnd(static_cast<Index>(next_), begin, static_cast<Index>(directory_.size())));
    file_.commit();
  }

private:
  // Upper bound on the bytes of a header and a directory entry, without the name.
  static constexpr Index kHeaders = 1024;

  const std::string& checked(const std::string& path) const {
    Index bytes = kHeaders;
    for (const StoredTensor& tensor : tensors_)
      bytes += tensor.bytes + kHeaders + 4 * static_cast<Index>(tensor.name.size());
    // The zip format without extensions uses 32-bit and 16-bit counts.
    if (bytes > kMaxZipBytes || static_cast<Index>(tensors_.size()) > kMaxZipMembers)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("weights file '{}' would have {} tensors and {} bytes, more than npz "
                              "holds; choose a name that ends with .safetensors",
                              path, tensors_.size(), bytes));
    return path;
  }
  void write(std::string_view text) {
    file_.write(text);
    end_ += static_cast<Index>(text.size());
  }

  std::vector<StoredTensor> tensors_;
  std::size_t next_ = 0; // index of the tensor that the next add() writes
  NewFile file_;
  Index end_ = 0;         // bytes that have been written
  std::string directory_; // entries of the members that have been written
};

// Throws for names that the formats do not allow, and for equal names.
void checkNames(const std::string& path, const std::vector<StoredTensor>& tensors) {
  std::set<std::string_view> names;
  for (const StoredTensor& tensor : tensors) {
    checkName(*bytesAt(nullptr, 0, path), tensor.name);
    // Readers of both formats would silently use one of the two.
    if (!names.insert(tensor.name).second)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("weights file '{}' would have two tensors '{}'; give the layers other "
                      "names",
                      path, tensor.name));
  }
}

} // namespace

std::unique_ptr<WeightsWriter> makeWeightsWriter(const std::string& path,
                                                 std::vector<StoredTensor> tensors) {
  checkNames(path, tensors);
  if (path.ends_with(".safetensors"))
    return std::make_unique<SafetensorsWriter>(path, std::move(tensors));
  if (path.ends_with(".npz"))
    return std::make_unique<NpzWriter>(path, std::move(tensors));
  throw Error(TENON_ERR_ARG, fmt::format("weights file '{}' has a name of neither format; end it "
                                         "with .safetensors or .npz",
                                         path));
}

} // namespace tenon
