// SPDX-License-Identifier: BSD-2-Clause
// Writes a weights file: the names and shapes of all tensors are passed first, then their data in
// that order. The file appears under its name only when it is complete.
#pragma once

#include "sys/files/part_file.hpp"
#include "weights/stored_tensor.hpp"

namespace tenon {

// Calls: add() for each tensor in the announced order, then commit().
class WeightsWriter {
public:
  virtual ~WeightsWriter() = default;
  // Writes the data of the next tensor, row-major.
  virtual void add(const void* first) = 0;
  // Completes the file, after the last tensor.
  virtual void commit() = 0;
};

// Creates a writer; the path must end with .safetensors or .npz. Throws TENON_ERR_ARG if it does
// not, or if two tensors have the same name; TENON_ERR_SUPPORT if the file would exceed the limits
// of npz; TENON_ERR_FILE if it cannot be written.
std::unique_ptr<WeightsWriter> makeWeightsWriter(const std::string& path,
                                                 std::vector<StoredTensor> tensors);

} // namespace tenon
