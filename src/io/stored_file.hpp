// SPDX-License-Identifier: BSD-2-Clause
// What a checkpoint file says, without the values of its tensors: format 1.
//
//   /                   attributes format, format_version, writer, ranks_written, created
//   /network/NAME/...   one group for each layer, with its parameters as datasets
//   /optimizer/NAME/... the same for the tensors that an optimizer keeps: velocity/, mean/, square/
//   /tensors/NAME       the caller's tensors
//   /values             the caller's values, as attributes
//
// A dataset has the tensor's global shape and type, lies in one piece, and has the attribute digest
// (kernels/movement/digest.hpp). A number of the state, such as an optimizer's steps, is an
// attribute of its group, unsigned with 64 bits. Attributes that are texts are told to readers and
// never needed.
#pragma once

#include "dtensor/data_type.hpp"
#include "geometry/layout/box.hpp"
#include "sys/options/one_of.hpp"

#include <map>
#include <string>
#include <vector>

namespace tenon {

inline constexpr int kCheckpointVersion = 1;

struct StoredDataset {
  std::string path; // without the slash in front: "network/net/conv1/weight"
  TenonDataType type;
  Shape shape;
  std::uint64_t digest = 0;

  Index bytes() const { return elements(shape) * dataTypeSize(type); }
};

struct StoredNumber {
  std::string path;
  std::uint64_t value = 0;
  std::string older = {}; // its value is taken from files without this number; empty: none
};

struct StoredText {
  std::string group, name, text;
};

using StoredValue = OneOf<Index, double, std::string>;
using StoredValues = std::map<std::string, StoredValue>;

struct StoredFile {
  std::string writer, created;
  int ranks = 0;
  std::vector<StoredDataset> tensors;
  std::vector<StoredNumber> numbers;
  std::vector<StoredText> texts;
  StoredValues values;
};

inline Index bytesOf(const std::vector<StoredDataset>& tensors) {
  Index bytes = 0;
  for (const StoredDataset& tensor : tensors)
    bytes += tensor.bytes();
  return bytes;
}

} // namespace tenon
