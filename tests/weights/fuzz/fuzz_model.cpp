// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a trained network, an archive of PyTorch or ONNX: read, mapped to layers, and its parameters read.
#include "import/model_file.hpp"
#include "sys/errors/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr tenon::Index kMostNumbers = 1 << 16;

void readParameter(const tenon::ModelWeights& weights, const tenon::ModelConstant& value) {
  tenon::Box box;
  tenon::Index all = 1;
  for (const tenon::Index extent : value.shape()) {
    box.push_back({0, std::min(extent, kMostNumbers / std::max<tenon::Index>(all, 1))});
    all *= box.back().end;
  }
  std::vector<double> numbers(static_cast<std::size_t>(all));
  weights.read(value, box, numbers.data());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon;
  const auto source =
      bytesAt(reinterpret_cast<const std::byte*>(data), static_cast<Index>(size), "fuzz");
  try {
    const ModelProgram program = readModelProgram(*source);
    std::vector<Shape> inputs;
    for (const ModelInput& input : program.inputs) {
      Shape shape;
      for (const auto& extent : input.shape)
        shape.push_back(std::min<Index>(extent.value_or(16), 1 << 20));
      inputs.push_back(shape);
    }
    const ImportedNetwork network = importNetwork(program, *source, inputs);
    const ModelWeights weights(program, *source);
    for (const ImportedNetwork::Parameter& parameter : network.parameters)
      readParameter(weights, parameter.value);
  } catch (const Error& error) {
    if (error.code() == TENON_ERR_INTERNAL || error.code() == TENON_ERR_MEMORY)
      std::abort();
  }
  return 0;
}
