// SPDX-License-Identifier: BSD-2-Clause
// Opens a weights file, safetensors or npz, and reads blocks of its tensors. Each process reads the
// block that it needs, without communication. A block is a range of indices in each dimension, with
// a stride of the result per dimension (WeightsFile::Part), so a tensor can be transposed while it
// is read. It is read sequentially in storage order, without seeking back, because compressed data
// can only be read in this order: for a tensor [4, 6] and the block [1,3) x [2,5), the reader skips
// 8 elements, reads 3, skips 3, reads 3, and skips the rest.
#include "weights/weights_file.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/foreign_file.hpp"
#include "weights/byte_stream.hpp"
#include "weights/npy.hpp"
#include "weights/safetensors.hpp"
#include "weights/zip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tenon {

namespace {

// One dimension of a tensor in storage order, the slowest first, and the part of it that is read.
struct StoredDimension {
  Index extent;
  Index bytesPerIndex; // distance of two consecutive indices in the file
  WeightsFile::Part part;
};

// Merges a dimension that is read completely with the next slower one, if both are contiguous in
// the destination: each read is then longer. For example, rows [1,3) of a tensor [4, 6] are one
// read of the elements [6,18).
void joinDimensions(std::vector<StoredDimension>& dims) {
  for (std::size_t d = dims.size() - 1; d-- > 0;) {
    StoredDimension& outer = dims[d];
    const StoredDimension inner = dims[d + 1];
    const Index extent = inner.extent;
    if (inner.part.begin > 0 || inner.part.end < extent ||
        outer.part.stride != extent * inner.part.stride)
      continue;
    outer = {.extent = outer.extent * extent,
             .bytesPerIndex = inner.bytesPerIndex,
             .part = {.begin = outer.part.begin * extent,
                      .end = outer.part.end * extent,
                      .stride = inner.part.stride}};
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  }
}

// Returns the dimensions of a tensor, merged where possible; parts[d] is the part of dimension d.
std::vector<StoredDimension> storedDimensions(const StoredTensor& tensor,
                                              const std::vector<WeightsFile::Part>& parts) {
  std::vector<StoredDimension> dims;
  for (std::size_t d = 0; d < parts.size(); ++d)
    dims.push_back({.extent = tensor.shape[d], .bytesPerIndex = 0, .part = parts[d]});
  if (dims.empty()) // a scalar is one dimension of extent 1
    dims.push_back({.extent = 1, .bytesPerIndex = 0, .part = {.begin = 0, .end = 1, .stride = 1}});
  // In Fortran order the last dimension is the slowest.
  if (tensor.isFortranOrder)
    std::reverse(dims.begin(), dims.end());
  Index bytes = elementSize(tensor.type);
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    dim->bytesPerIndex = bytes;
    bytes *= dim->extent;
  }
  joinDimensions(dims);
  return dims;
}

// Reads a block from a stream of the tensor's bytes, and converts its elements to T.
template <class T>
class BlockReader {
public:
  BlockReader(ElementType type, std::vector<StoredDimension> dims, ByteStream& stream)
      : type_(type), dims_(std::move(dims)), stream_(stream) {}

  // Reads the dimensions from d on; skips the indices before and after the part in each. Returns
  // false if a number was too large for T.
  bool read(T* to, std::size_t d = 0) {
    const StoredDimension& dim = dims_[d];
    stream_.skip(dim.part.begin * dim.bytesPerIndex);
    if (d + 1 == dims_.size())
      readRun(dim.part, to);
    else
      for (Index i = dim.part.begin; i < dim.part.end; ++i)
        read(to + (i - dim.part.begin) * dim.part.stride, d + 1);
    stream_.skip((dim.extent - dim.part.end) * dim.bytesPerIndex);
    return areInRange_;
  }

private:
  // The innermost dimension, through a small buffer.
  void readRun(const WeightsFile::Part& part, T* to) {
    const Index size = elementSize(type_), maxCount = static_cast<Index>(block_.size()) / size;
    for (Index index = part.begin; index < part.end;) {
      const Index count = std::min(maxCount, part.end - index);
      stream_.read(block_.data(), count * size);
      areInRange_ = convertElements(type_, block_.data(), count,
                                    to + (index - part.begin) * part.stride, part.stride) &&
                    areInRange_;
      index += count;
    }
  }

  ElementType type_;
  std::vector<StoredDimension> dims_;
  ByteStream& stream_;
  bool areInRange_ = true; // no number was too large for T
  std::array<std::byte, 4096> block_;
};

// Callers compute the parts from checked shapes, so a violation is an internal error.
void checkParts(const StoredTensor& tensor, const std::vector<WeightsFile::Part>& parts) {
  bool areInside = parts.size() == tensor.shape.size();
  for (std::size_t d = 0; areInside && d < parts.size(); ++d)
    areInside = parts[d].begin >= 0 && parts[d].end <= tensor.shape[d];
  if (!areInside || !isReal(tensor.type))
    throw Error(TENON_ERR_INTERNAL, "a block that a stored tensor does not have");
}

// Advice for files of other programs.
constexpr const char* kToNpz = "save its arrays by names in Python: numpy.savez('weights.npz', ";
constexpr const char* kFromTorch =
    "save it anew in Python: safetensors.torch.save_file(torch.load('{}', weights_only=True), "
    "'weights.safetensors')";

// Reports a file of another format, `what`, with advice how to convert it.
[[noreturn]] void failAs(const ByteSource& source, const std::string& what,
                         const std::string& advice) {
  source.fail("", fmt::format("it is {}{}{}; weights are read from safetensors and npz", what,
                              advice.empty() ? "" : "; ", advice));
}

// Rejects formats of other programs, with advice on how to convert them.
void refuseForeign(const ByteSource& source) {
  const auto bytes = source.readPart(0, std::min(source.size(), static_cast<Index>(kForeignBytes)),
                                     "the first bytes");
  const ForeignFile file = foreignFile({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::string text = foreignFileText(file);
  switch (file) {
  case ForeignFile::None:
    return;
  case ForeignFile::Pickle:
    failAs(source, text, fmt::format(fmt::runtime(kFromTorch), source.name()));
  case ForeignFile::Hdf5:
    failAs(source, text,
           std::string(kToNpz) +
               "**{w.path: w.numpy() for w in model.weights}) for a model of Keras");
  case ForeignFile::NetCdf3:
    failAs(source, text,
           std::string(kToNpz) + fmt::format("**{{name: v[:].data for name, v in "
                                             "netCDF4.Dataset('{}').variables.items()}})",
                                             source.name()));
  case ForeignFile::Npy:
    failAs(source, text, std::string(kToNpz) + "name=array)");
  default:
    failAs(source, text, "");
  }
}

// Reads an archive; rejects zip archives of other programs.
WeightsDirectory readArchive(const ByteSource& source) {
  for (const ZipMember& member : readZip(source)) {
    if (member.name.ends_with("/data.pkl") || member.name == "data.pkl")
      failAs(source,
             "an archive of torch.save(), whose tensors are in a pickle that can run any code "
             "and is never read",
             fmt::format(fmt::runtime(kFromTorch), source.name()));
    if (member.name.ends_with("models/model.json"))
      failAs(source, "a network of torch.export.save()",
             "read network and weights together by TenonLayerCreateFromModel()");
    if (member.name == "model.weights.h5")
      failAs(source, "an archive of Keras",
             std::string(kToNpz) + "**{w.path: w.numpy() for w in model.weights})");
  }
  return readNpz(source);
}

WeightsDirectory readDirectory(const ByteSource& source) {
  if (isZip(source))
    return readArchive(source);
  refuseForeign(source);
  return readSafetensors(source);
}

} // namespace

WeightsFile::WeightsFile(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), directory_(readDirectory(*source_)) {
  checkDistinct(*source_, directory_.tensors);
}

std::string WeightsFile::describe() const {
  std::string text;
  for (const StoredTensor& tensor : tensors())
    text += fmt::format("{} {} [{}]; ", tensor.name, elementTypeName(tensor.type),
                        fmt::join(tensor.shape, ","));
  return text;
}

template <class T>
void readBlock(const ByteSource& source, const StoredTensor& tensor,
               const std::vector<WeightsFile::Part>& parts, T* to) {
  checkParts(tensor, parts);
  // A rank without a part reads nothing, and does not decompress the member.
  if (std::any_of(parts.begin(), parts.end(),
                  [](const WeightsFile::Part& p) { return p.begin >= p.end; }))
    return;
  const auto stream = tensor.member ? streamMember(source, *tensor.member)
                                    : streamBytes(source, tensor.begin, tensor.bytes);
  if (tensor.member)
    stream->skip(tensor.begin);
  const bool areInRange =
      BlockReader<T>(tensor.type, storedDimensions(tensor, parts), *stream).read(to);
  stream->finish();
  if (!areInRange)
    source.fail(tensor.name, "a number is too large for the data type of the layer; use float64");
}

template void readBlock(const ByteSource&, const StoredTensor&,
                        const std::vector<WeightsFile::Part>&, float*);
template void readBlock(const ByteSource&, const StoredTensor&,
                        const std::vector<WeightsFile::Part>&, double*);

template <class T>
void WeightsFile::read(const StoredTensor& tensor, const std::vector<Part>& parts, T* to) const {
  readBlock(*source_, tensor, parts, to);
}

template void WeightsFile::read(const StoredTensor&, const std::vector<Part>&, float*) const;
template void WeightsFile::read(const StoredTensor&, const std::vector<Part>&, double*) const;

} // namespace tenon
