// SPDX-License-Identifier: BSD-2-Clause
// Reads the program of a network, from its file or from what was recorded of it, and joins the steps
// from there to layers. The first bytes say which format it is.
#include "import/model_file.hpp"

#include "import/model_operators.hpp"
#include "import/onnx_file.hpp"
#include "import/pt2_file.hpp"
#include "weights/zip.hpp"

namespace tenon {

namespace {

constexpr const char* kKind = "model file";

} // namespace

ModelFile::ModelFile(const std::string& path) : path_(path), record_(0) {
  const std::unique_ptr<ByteSource> file = openBytes(path, kKind);
  record_ = RecordedBytes(file->size());
  program_ = readModelProgram(*recording(*file, record_));
}

ModelFile::ModelFile(const std::string& path, const std::string& recorded)
    : path_(path), record_(RecordedBytes::fromText(recorded)) {
  program_ = readModelProgram(*replaying(record_, path, kKind));
}

std::unique_ptr<ByteSource> ModelFile::open() const {
  std::unique_ptr<ByteSource> file = openBytes(path_, kKind);
  record_.checkSame(*file);
  return file;
}

ModelProgram readModelProgram(const ByteSource& file) {
  return isZip(file) ? readPt2(file) : readOnnx(file);
}

ImportedNetwork importNetwork(const ModelProgram& program, const ByteSource& file,
                              const std::vector<Shape>& inputs) {
  const ModelWeights weights(program, file);
  ModelGraph graph = buildModel(weights, inputs);
  return mapToLayers(graph, weights);
}

} // namespace tenon
