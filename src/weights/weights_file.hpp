// SPDX-License-Identifier: BSD-2-Clause
// A file of named tensors, safetensors or npz: opened, it is checked as a whole but for the
// tensors' own bytes; then any block of a tensor is read, the rest only where it is packed. Memory
// is bounded by the directory and a buffer, whatever the file says. All errors name the file, and
// the tensor.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

class WeightsFile {
public:
  // The first bytes say which format it is.
  explicit WeightsFile(std::unique_ptr<ByteSource> source);

  const std::string& name() const noexcept { return source_->name(); }
  const std::vector<StoredTensor>& tensors() const noexcept { return directory_.tensors; }
  bool isOrdered() const noexcept { return directory_.isOrdered; }
  // Names, types and shapes, for comparing what several processes see.
  std::string describe() const;

  // What is read of a dimension of a tensor, and the distance of its elements where they go.
  struct Part {
    Index begin, end, stride;
  };
  // One part for each dimension. Reads the real numbers of a block; a member of an archive is read
  // to its end and its checksum compared. Throws TENON_ERR_FORMAT, also where a number is too large
  // for T.
  template <class T>
  void read(const StoredTensor& tensor, const std::vector<Part>& parts, T* to) const;

private:
  std::unique_ptr<ByteSource> source_;
  WeightsDirectory directory_;
};

// The same of a tensor of any file.
template <class T>
void readBlock(const ByteSource& source, const StoredTensor& tensor,
               const std::vector<WeightsFile::Part>& parts, T* to);

} // namespace tenon
