// SPDX-License-Identifier: BSD-2-Clause
// Class ModelWeights: reads the elements of constants (model_constant.hpp) from the model's file or
// from files beside it: read() the box that a process needs, folded() all elements of a small
// constant that the import computes with. All numbers that folded() reads are bounded in total (64
// MiB), because the file is not trusted.
//
// A constant is either numbers in memory, or pieces that are concatenated along one dimension, each
// a block of a tensor in the file with its dimensions permuted. read() therefore translates the box
// of the constant to one block per piece, and reads it with the strides of the result. No
// communication.
#include "import/canonical/model_constant.hpp"

#include "sys/errors/error.hpp"
#include "weights/byte_stream.hpp"
#include "weights/weights_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tenon {

namespace {

constexpr Index kMaxFoldedBytes = Index(64) << 20;

// Reads all elements of a tensor of integers or booleans, in the order of the file. readBlock(),
// which reads weights, supports real types only.
std::vector<double> readIntegers(const ByteSource& file, const StoredTensor& tensor) {
  const auto stream = tensor.member ? streamMember(file, *tensor.member)
                                    : streamBytes(file, tensor.begin, tensor.bytes);
  if (tensor.member)
    stream->skip(tensor.begin);
  const int size = static_cast<int>(elementSize(tensor.type));
  const bool isSigned = tensor.type == ElementType::I8 || tensor.type == ElementType::I16 ||
                        tensor.type == ElementType::I32 || tensor.type == ElementType::I64;
  std::vector<double> numbers(static_cast<std::size_t>(tensor.bytes / size));
  for (double& number : numbers) {
    std::byte bytes[8];
    stream->read(bytes, size);
    const std::uint64_t bits = littleEndian(bytes, size);
    const int shift = 64 - 8 * size; // extends the sign to 64 bits
    number = isSigned ? static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift)
                      : static_cast<double>(bits);
  }
  stream->finish();
  return numbers;
}

// Copies a block of numbers in memory, as readBlock() does for those in a file: parts[d] has the
// range of indices in dimension d of `shape`, and the stride of that dimension in `to`.
template <class T>
void copyBlock(const std::vector<double>& numbers, const std::vector<Index>& shape,
               const std::vector<WeightsFile::Part>& parts, T* to) {
  std::vector<Index> extents;
  for (const WeightsFile::Part& part : parts)
    extents.push_back(part.end - part.begin);
  forEachPlace(extents, [&](const std::vector<Index>& index, Index) {
    Index from = 0, target = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      from = from * shape[d] + parts[d].begin + index[d];
      target += index[d] * parts[d].stride;
    }
    to[target] = static_cast<T>(numbers[static_cast<std::size_t>(from)]);
  });
}

} // namespace

const ByteSource& ModelWeights::sourceOf(const ModelTensor& tensor) const {
  if (tensor.file.empty())
    return file_;
  // Files beside the model's are opened once, when a tensor is first read.
  auto& source = beside_[tensor.file];
  if (!source) {
    const std::string folder = std::filesystem::absolute(file_.name()).parent_path().string();
    try {
      source = openBytesBelow(folder, tensor.file, "file of a model's weights");
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: the bytes of tensor '{}': {}", file_.name(),
                                            tensor.stored.name, error.text()));
    }
  }
  if (tensor.stored.begin > source->size() - tensor.stored.bytes)
    source->fail(tensor.stored.name,
                 fmt::format("its {} bytes at {} lie beyond the file's {}", tensor.stored.bytes,
                             tensor.stored.begin, source->size()));
  return *source;
}

template <class T>
void ModelWeights::read(const ModelConstant& constant, const Box& box, T* to) const {
  const std::vector<Index>& shape = constant.shape();
  std::vector<Index> strides(shape.size(), 1); // of the result, a row-major array of the box
  for (std::size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * box[d].size();
  // Numbers in memory: copy the box.
  if (constant.isNumbers()) {
    std::vector<Index> extents;
    for (const Interval& part : box)
      extents.push_back(part.size());
    forEachPlace(extents, [&](const std::vector<Index>& index, Index place) {
      Index from = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        from = from * shape[d] + box[d].begin + index[d];
      to[place] = static_cast<T>(constant.numbers()[static_cast<std::size_t>(from)]);
    });
    return;
  }
  const auto along = static_cast<std::size_t>(constant.dim());
  Index before = 0; // index of the piece's first row in the dimension of concatenation
  for (const ModelConstant::Piece& piece : constant.pieces()) {
    const ModelTensor& tensor = program_.tensors[piece.tensor];
    const StoredTensor& stored = tensor.stored;
    // Dimensions that the constant does not have are read at index 0, or at the index of a dropped
    // one.
    std::vector<WeightsFile::Part> parts(stored.shape.size(), {0, 1, 1});
    for (const auto& [axis, index] : piece.at)
      parts[static_cast<std::size_t>(axis)] = {index, index + 1, 1};
    T* first = to;
    bool isEmpty = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Interval part = box[d];
      // Along the dimension of concatenation, only the rows of this piece are in the box.
      if (d == along && constant.pieces().size() > 1) {
        part = {std::max(part.begin - before, Index(0)), std::min(part.end - before, piece.extent)};
        first += std::max(before - box[d].begin, Index(0)) * strides[d];
      }
      isEmpty = isEmpty || part.begin >= part.end;
      if (piece.axes[d] >= 0)
        parts[static_cast<std::size_t>(piece.axes[d])] = {piece.begin[d] + part.begin,
                                                          piece.begin[d] + part.end, strides[d]};
    }
    before += piece.extent;
    if (!isEmpty && tensor.numbers)
      copyBlock(*tensor.numbers, stored.shape, parts, first);
    else if (!isEmpty)
      readBlock(sourceOf(tensor), stored, parts, first);
  }
}

template void ModelWeights::read(const ModelConstant&, const Box&, float*) const;
template void ModelWeights::read(const ModelConstant&, const Box&, double*) const;

ModelConstant ModelWeights::folded(const ModelConstant& constant) const {
  if (constant.isNumbers())
    return constant;
  Index bytes = 0;
  if (__builtin_mul_overflow(constant.elements(), Index(sizeof(double)), &bytes) ||
      bytes > kMaxFoldedBytes - foldedBytes_)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{}: the network computes with constants, such as '{}', of more than {} "
                    "MiB; only weights of layers may be as large",
                    file_.name(), constant.name(), kMaxFoldedBytes >> 20));
  foldedBytes_ += bytes;
  return ModelConstant::ofNumbers(constant.shape(), allNumbers(constant), constant.isInteger())
      .renamed(constant.name())
      .fixed(constant.isFixed());
}

std::vector<double> ModelWeights::allNumbers(const ModelConstant& constant) const {
  if (constant.isNumbers())
    return constant.numbers();
  if (constant.isInteger()) {
    const ModelTensor& tensor = program_.tensors[constant.pieces().front().tensor];
    // Integers are read when they enter the graph, before any slicing, so this is a whole tensor.
    if (constant.pieces().size() > 1 || constant.shape() != tensor.shape())
      throw Error(TENON_ERR_INTERNAL, "a part of a tensor of integers is folded");
    return ModelConstant::ofNumbers(tensor.stored.shape,
                                    readIntegers(sourceOf(tensor), tensor.stored))
        .transposed(tensor.axes)
        .numbers();
  }
  std::vector<double> numbers(static_cast<std::size_t>(constant.elements()));
  Box box;
  for (const Index extent : constant.shape())
    box.push_back({0, extent});
  read(constant, box, numbers.data());
  return numbers;
}

} // namespace tenon
