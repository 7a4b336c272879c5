// SPDX-License-Identifier: BSD-2-Clause
// A file with a trained network, PyTorch's .pt2, ONNX, or MOM6's layout in NetCDF; the format is
// detected from the content.
// One process reads the description and broadcasts the bytes that it read; the others parse those.
#pragma once

#include "import/lowering/model_layers.hpp"
#include "weights/byte_source.hpp"

#include <map>

namespace tenon {

// The byte ranges of a file that a process has read, with their contents. One process reads the
// description of a network and broadcasts text(); the others parse these bytes without opening the
// file. A process that opens the file later, to read weights, calls checkSame() to detect that the
// file has been replaced. Adjacent and overlapping ranges are merged.
class RecordedBytes {
public:
  explicit RecordedBytes(Index size) : size_(size) {}
  // Parses a string that text() produced. Throws TENON_ERR_INTERNAL if it is malformed.
  static RecordedBytes fromText(const std::string& text);

  void add(Index offset, const std::byte* bytes, Index count);
  Index size() const noexcept { return size_; }
  // Copies recorded bytes. Throws TENON_ERR_INTERNAL if the range was not recorded.
  void read(Index offset, std::byte* to, Index count) const;
  std::string text() const;
  // Throws TENON_ERR_FILE unless the file has the recorded size and bytes.
  void checkSame(const ByteSource& file) const;

private:
  Index size_; // size of the file in bytes
  // Recorded bytes by their offset in the file.
  std::map<Index, std::string> parts_;
};

// Reads all variables of numbers of a NetCDF file, and returns them as the bytes of a safetensors
// file.
using NetcdfReader = std::string (*)(const std::string& path);
// Sets the function by which openModel() reads NetCDF files. The module that uses NetCDF's library,
// which this one does not, calls it before main(), if Tenon was built with the library. Returns the
// function before.
NetcdfReader setNetcdfReader(NetcdfReader reader);

// Opens a file with a network; one in NetCDF is read as a whole and becomes its tensors. Throws
// TENON_ERR_FILE or TENON_ERR_FORMAT, and TENON_ERR_SUPPORT for NetCDF in a build without it.
std::unique_ptr<ByteSource> openModel(const std::string& path);

// A file with a network. Only its description is read when it is opened.
class ModelFile {
public:
  // Reads a file. Throws TENON_ERR_FILE, TENON_ERR_FORMAT, or TENON_ERR_SUPPORT.
  explicit ModelFile(const std::string& path);
  // Parses the recordedText() of another process; the file is not opened.
  ModelFile(const std::string& path, const std::string& recorded);

  const std::string& path() const noexcept { return path_; }
  const ModelProgram& program() const noexcept { return program_; }
  std::string recordedText() const { return record_.text(); }
  // Opens the file again, to read its weights. Throws TENON_ERR_FILE, also if the file has changed.
  std::unique_ptr<ByteSource> open() const;

private:
  std::string path_;
  ModelProgram program_;
  RecordedBytes record_;
};

// Reads the program of a file that openModel() has opened. Throws TENON_ERR_FORMAT or
// TENON_ERR_SUPPORT.
//
// The steps from a file to layers:
//   readModelProgram   file -> ModelProgram (operations as the file names them)
//   buildModel         ModelProgram and extents -> ModelGraph (canonical operators)
//   mapToLayers        ModelGraph -> ImportedNetwork (layers and their weights)
ModelProgram readModelProgram(const ByteSource& file);
// Builds the canonical graph of a program for input shapes. Throws TENON_ERR_SHAPE if an extent
// differs from one that the file fixes, TENON_ERR_FORMAT if the file contradicts itself. Operators
// that cannot be imported are collected in the graph's refusals.
ModelGraph buildModel(const ModelWeights& weights, const std::vector<Shape>& inputs,
                      ModelMode mode = ModelMode::Inference,
                      ModelTables tables = ModelTables::Computed);
// Runs the steps after readModelProgram(). `file` is the open file of the model.
ImportedNetwork importNetwork(const ModelProgram& program, const ByteSource& file,
                              const std::vector<Shape>& inputs,
                              ModelMode mode = ModelMode::Inference,
                              ModelTables tables = ModelTables::Computed);

} // namespace tenon
