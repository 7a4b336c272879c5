// SPDX-License-Identifier: BSD-2-Clause
// The structure of a checkpoint file in format 1: everything except the values of its tensors.
// hdf5_file.hpp writes and reads it. Groups and attributes in the file:
//
//   /                   attributes format, format_version, writer, ranks_written, created
//   /network/NAME/...   one group per layer, with its parameters as datasets
//   /optimizer/NAME/... tensors of an optimizer, in the same way: velocity/, mean/, square/
//   /tensors/NAME       the user's tensors
//   /values             the user's values, as attributes
//
// A dataset has the tensor's global shape and type, is stored contiguously, and has the attribute
// digest (kernels/movement/digest.hpp). A number of the state, such as the step count of an
// optimizer, is an attribute of its group, an unsigned 64-bit integer. Attributes that are texts
// are for information only.
#pragma once

#include "geometry/layout/box.hpp"
#include "sys/data_type.hpp"
#include "sys/options/one_of.hpp"
#include "sys/text/text.hpp"

#include <map>
#include <string>
#include <vector>

namespace tenon {

inline constexpr int kCheckpointVersion = 1;

// A tensor of the file.
struct StoredDataset {
  std::string path; // without a leading slash: "network/net/conv1/weight"
  TenonDataType type;
  Shape shape;
  std::uint64_t digest = 0;

  // Throws TENON_ERR_SHAPE if they do not fit into 64 bits; a reader of files has excluded that.
  Index bytes() const {
    return checkedProduct(elements(shape), dataTypeSize(type), "the bytes of a tensor");
  }
};

// A number of the state, such as a step count.
struct StoredNumber {
  std::string path;
  std::uint64_t value = 0;
  // An older path: if a file does not have `path`, the number is read from here. Empty: none.
  std::string older = {};
};

// An informational text: an attribute of a group.
struct StoredText {
  std::string group, name, text;
};

using StoredValue = OneOf<Index, double, std::string>;
using StoredValues = std::map<std::string, StoredValue>;

// The complete structure of a file.
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
    bytes = checkedSum(bytes, tensor.bytes(), "the bytes of all tensors");
  return bytes;
}

} // namespace tenon
