// SPDX-License-Identifier: BSD-2-Clause
// A file of named tensors, safetensors or npz. The constructor reads and verifies everything except
// the tensors' data. Then read() reads any block of a tensor; only compressed data must be read
// completely. The memory needed is bounded by the size of the directory and one buffer, for any
// file. All errors name the file and the tensor.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

// An open file; its directory is in memory.
class WeightsFile {
public:
  // Detects the format from the first bytes.
  explicit WeightsFile(std::unique_ptr<ByteSource> source);

  const std::string& name() const noexcept { return source_->name(); }
  const std::vector<StoredTensor>& tensors() const noexcept { return directory_.tensors; }
  bool isOrdered() const noexcept { return directory_.isOrdered; }
  // Returns names, types and shapes as text, to verify that several processes see the same file.
  std::string describe() const;

  // The range to read of one dimension, and the stride of its elements in the destination.
  struct Part {
    Index begin, end, stride;
  };
  // Reads the elements of a block, with one part per dimension, as real numbers. A member of an
  // archive is read to its end, and its checksum verified. Throws TENON_ERR_FORMAT, also if a
  // number overflows T.
  template <class T>
  void read(const StoredTensor& tensor, const std::vector<Part>& parts, T* to) const;

private:
  std::unique_ptr<ByteSource> source_;
  WeightsDirectory directory_;
};

// Reads the elements of a block of a tensor, as WeightsFile::read() does, from any source of bytes.
template <class T>
void readBlock(const ByteSource& source, const StoredTensor& tensor,
               const std::vector<WeightsFile::Part>& parts, T* to);

} // namespace tenon
