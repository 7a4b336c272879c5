// SPDX-License-Identifier: BSD-2-Clause
// Writes a weights file: its tensors are named first, and their bytes are then given in that order.
// The file takes its place when it is whole.
#pragma once

#include "sys/files/part_file.hpp"
#include "weights/stored_tensor.hpp"

namespace tenon {

class WeightsWriter {
public:
  virtual ~WeightsWriter() = default;
  // The row-major bytes of the next tensor.
  virtual void add(const void* first) = 0;
  // After the last one.
  virtual void commit() = 0;
};

// The path ends with .safetensors or .npz. Throws TENON_ERR_ARG where it does not or a name is
// given twice, TENON_ERR_SUPPORT for more than npz holds without its extensions, TENON_ERR_FILE
// where it cannot be written.
std::unique_ptr<WeightsWriter> makeWeightsWriter(const std::string& path,
                                                 std::vector<StoredTensor> tensors);

} // namespace tenon
