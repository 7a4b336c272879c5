// SPDX-License-Identifier: BSD-2-Clause
// A file with a trained network, of either format by its content: its program, and what was read of
// it for that.
#pragma once

#include "import/model_layers.hpp"
#include "import/recorded_bytes.hpp"

namespace tenon {

class ModelFile {
public:
  // Throws TENON_ERR_FILE, TENON_ERR_FORMAT, or TENON_ERR_SUPPORT.
  explicit ModelFile(const std::string& path);
  // The same from what another process has read, recordedText().
  ModelFile(const std::string& path, const std::string& recorded);

  const std::string& path() const noexcept { return path_; }
  const ModelProgram& program() const noexcept { return program_; }
  std::string recordedText() const { return record_.text(); }
  // Opens the file again, for its weights. Throws TENON_ERR_FILE, also if it is another file now.
  std::unique_ptr<ByteSource> open() const;

private:
  std::string path_;
  ModelProgram program_;
  RecordedBytes record_;
};

// The program in a file of either format. Throws TENON_ERR_FORMAT, or TENON_ERR_SUPPORT.
ModelProgram readModelProgram(const ByteSource& file);
// The network of layers at these extents. `file` is the open file of the model.
ImportedNetwork importNetwork(const ModelProgram& program, const ByteSource& file,
                              const std::vector<Shape>& inputs);

} // namespace tenon
