// SPDX-License-Identifier: BSD-2-Clause
// Lists the contents of a checkpoint, if asked for with the digest of each dataset computed again
// from its data. A wrong digest is reported in the text and does not throw, so a damaged file is
// listed completely. Names and texts are made printable, because the file is not trusted.
#include "io/file_view.hpp"

#include "io/hdf5_file.hpp"
#include "io/tensor_pieces.hpp"
#include "sys/files/json_text.hpp"
#include "sys/text/plain_text.hpp"

#include <utility>
#include <vector>

namespace tenon {

namespace {

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

// Whether the digest of each dataset is that of its data.
std::vector<bool> rightDigests(const StoredFile& file, const std::string& path) {
  DataFile data(path, DataFile::Access::Read, file.tensors, nullptr);
  data.open();
  KernelContext context;
  Buffer buffer(kViewedBytes, "a piece of a checkpoint");
  std::vector<bool> areRight;
  for (std::size_t i = 0; i < file.tensors.size(); ++i)
    areRight.push_back(digestInFile(data, i, file.tensors[i], buffer, context) ==
                       file.tensors[i].digest);
  return areRight;
}

Json valueJson(const StoredValue& value) {
  if (const auto* integer = std::get_if<Index>(&value))
    return *integer;
  if (const auto* real = std::get_if<double>(&value))
    return *real;
  return printable(std::get<std::string>(value), kLineLayout);
}

} // namespace

std::string fileContents(const std::string& path, Digests digests) {
  const StoredFile file = readStructure(path);
  Json values = Json::object(), numbers = Json::object(), texts = Json::array(),
       datasets = Json::array();
  for (const auto& [key, value] : file.values)
    values[printable(key)] = valueJson(value);
  for (const StoredNumber& entry : file.numbers)
    numbers[printable(entry.path)] = entry.value;
  for (const StoredText& entry : file.texts)
    texts.push_back({{"path", printable(entry.group)},
                     {"name", printable(entry.name)},
                     {"text", printable(entry.text, kLineLayout)}});
  const std::vector<bool> areRight =
      digests == Digests::Verified ? rightDigests(file, path) : std::vector<bool>();
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const StoredDataset& entry = file.tensors[i];
    Json dataset{{"path", printable(entry.path)},
                 {"type", dataTypeName(entry.type)},
                 {"shape", std::vector<Json>(entry.shape.begin(), entry.shape.end())}};
    if (digests != Digests::Omitted)
      dataset["digest"] = areRight.empty() || areRight[i] ? "right" : "wrong";
    datasets.push_back(std::move(dataset));
  }
  return Json{{"format", kCheckpointVersion},       {"writer", printable(file.writer)},
              {"created", printable(file.created)}, {"ranks", file.ranks},
              {"values", std::move(values)},        {"texts", std::move(texts)},
              {"numbers", std::move(numbers)},      {"datasets", std::move(datasets)}}
      .dump();
}

} // namespace tenon
