// SPDX-License-Identifier: BSD-2-Clause
// Lists the contents of a checkpoint, with the digest of each dataset computed again from its data.
// A wrong digest is reported in the text and does not throw, so a damaged file is listed
// completely. Names and texts are made printable, because the file is not trusted.
#include "io/file_view.hpp"

#include "io/hdf5_file.hpp"
#include "io/tensor_pieces.hpp"
#include "sys/files/json_text.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tenon {

namespace {

constexpr std::size_t kLongText = 60; // longer texts are left to h5dump
// Bytes read at a time, which bounds the memory for a large file.
constexpr Index kViewedBytes = Index(16) << 20;

// Computes the digest of dataset `number` from its data in the file, piece by piece: the digest of
// a tensor is the sum of the digests of its pieces.
std::uint64_t digestInFile(DataFile& data, std::size_t number, const StoredDataset& tensor,
                           Buffer& buffer, KernelContext& context) {
  Box whole;
  for (const Index extent : tensor.shape)
    whole.push_back({0, extent});
  std::uint64_t digest = 0;
  const Pieces pieces(whole, kViewedBytes / dataTypeSize(tensor.type));
  Box piece(whole.size());
  for (Index i = 0; i < pieces.count(); ++i) {
    pieces.put(i, piece);
    data.read(number, piece, buffer.data<std::byte>());
    digest += digestOf(context, tensor.type, tensor.shape, piece, buffer.data<std::byte>());
  }
  return digest;
}

std::string valueText(const StoredValue& value) {
  if (const auto* integer = std::get_if<Index>(&value))
    return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value))
    return fmt::format("{}", *real);
  return fmt::format("\"{}\"", std::get<std::string>(value));
}

Json valueJson(const StoredValue& value) {
  if (const auto* integer = std::get_if<Index>(&value))
    return *integer;
  if (const auto* real = std::get_if<double>(&value))
    return *real;
  return printable(std::get<std::string>(value), kLineLayout);
}

} // namespace

std::string fileContents(const std::string& path) {
  const StoredFile file = readStructure(path);
  Json values = Json::object(), numbers = Json::object(), datasets = Json::array();
  for (const auto& [key, value] : file.values)
    values[printable(key)] = valueJson(value);
  for (const StoredNumber& entry : file.numbers)
    numbers[printable(entry.path)] = entry.value;
  for (const StoredDataset& entry : file.tensors)
    datasets.push_back({{"path", printable(entry.path)},
                        {"type", dataTypeName(entry.type)},
                        {"shape", std::vector<Json>(entry.shape.begin(), entry.shape.end())}});
  return Json{{"writer", printable(file.writer)},
              {"created", printable(file.created)},
              {"ranks", file.ranks},
              {"values", std::move(values)},
              {"numbers", std::move(numbers)},
              {"datasets", std::move(datasets)}}
      .dump();
}

FileView viewFile(const std::string& path) {
  const StoredFile file = readStructure(path);
  FileView view;
  view.text = fmt::format("checkpoint '{}': format {}, written {} by {} on {} rank{}\n", path,
                          kCheckpointVersion, printable(file.created), printable(file.writer),
                          file.ranks, file.ranks == 1 ? "" : "s");
  for (const auto& [key, value] : file.values)
    view.text += fmt::format("  {} = {}\n", printable(key), printable(valueText(value)));
  for (const StoredText& entry : file.texts)
    if (entry.text.size() <= kLongText)
      view.text += fmt::format("  {}: {} {}\n", printable(entry.group), printable(entry.name),
                               printable(entry.text));
  for (const StoredNumber& entry : file.numbers)
    view.text += fmt::format("  {} = {}\n", printable(entry.path), entry.value);
  std::size_t width = 0;
  for (const StoredDataset& entry : file.tensors)
    width = std::max(width, printable(entry.path).size());
  DataFile data(path, DataFile::Access::Read, file.tensors, nullptr);
  data.open();
  KernelContext context;
  Buffer buffer(kViewedBytes, "a piece of a checkpoint");
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const StoredDataset& entry = file.tensors[i];
    const bool isRight = digestInFile(data, i, entry, buffer, context) == entry.digest;
    view.text += fmt::format("  {:{}}  {} [{}], {}, digest {}\n", printable(entry.path), width,
                             dataTypeName(entry.type), fmt::join(entry.shape, ","),
                             sizeText(entry.bytes()), isRight ? "right" : "WRONG");
    if (!isRight)
      view.damaged += (view.damaged.empty() ? "" : ", ") + printable(entry.path);
  }
  return view;
}

} // namespace tenon
