// SPDX-License-Identifier: BSD-2-Clause
// A file with a trained network, of either format by its content: its program, and what was read of
// it for that.
#pragma once

#include "import/lowering/model_layers.hpp"
#include "weights/byte_source.hpp"

#include <map>

namespace tenon {

// What was read of a file, kept to be read again elsewhere: one process reads the description of a
// network, the others read it from these bytes, and whoever opens the file for its weights can tell
// whether it is the same file. Neighbours and overlaps are joined.
class RecordedBytes {
public:
  explicit RecordedBytes(Index size) : size_(size) {}
  // From text(). Throws TENON_ERR_INTERNAL for another text.
  static RecordedBytes fromText(const std::string& text);

  void add(Index offset, const std::byte* bytes, Index count);
  Index size() const noexcept { return size_; }
  // Throws TENON_ERR_INTERNAL if they were not recorded.
  void read(Index offset, std::byte* to, Index count) const;
  std::string text() const;
  // Throws TENON_ERR_FILE unless the file has these bytes.
  void checkSame(const ByteSource& file) const;

private:
  Index size_; // of the file
  std::map<Index, std::string> parts_;
};

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

// The steps from a file to layers. The program in a file of either format. Throws TENON_ERR_FORMAT,
// or TENON_ERR_SUPPORT.
ModelProgram readModelProgram(const ByteSource& file);
// The canonical graph of a program at these extents. Throws TENON_ERR_SHAPE where an extent differs
// from one that the file fixes, TENON_ERR_FORMAT for what contradicts itself. What cannot be
// imported is among the graph's refusals.
ModelGraph buildModel(const ModelWeights& weights, const std::vector<Shape>& inputs);
// The network of layers at these extents. `file` is the open file of the model.
ImportedNetwork importNetwork(const ModelProgram& program, const ByteSource& file,
                              const std::vector<Shape>& inputs);

} // namespace tenon
