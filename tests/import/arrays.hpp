// SPDX-License-Identifier: BSD-2-Clause
// Files with what PyTorch computes of a network: NAME.npz has the inputs ("in.x"), outputs
// ("out.y"), cotangents of these ("cot.y"), and the gradients of the inputs ("grad.x") and of the
// parameters ("param.net.0.weight").
#pragma once

#include "layer/run_layer.hpp"
#include "weights/weights_file.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace tenon::test {

// The arrays of a file, by name.
class Arrays {
public:
  explicit Arrays(const std::filesystem::path& path) : file_(openBytes(path.string())) {}
  // Returns the rest of each name that begins with the prefix, in the order of the file: {"y", "c"}
  // for "out." if the file has "out.y" and "out.c".
  std::vector<std::string> names(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const StoredTensor& tensor : file_.tensors())
      if (tensor.name.starts_with(prefix))
        names.push_back(tensor.name.substr(prefix.size()));
    return names;
  }
  // Returns null if there is no array of this name.
  const StoredTensor* find(const std::string& name) const {
    for (const StoredTensor& tensor : file_.tensors())
      if (tensor.name == name)
        return &tensor;
    return nullptr;
  }
  // Returns all elements of an array, row-major.
  std::vector<double> numbers(const StoredTensor& tensor) const {
    std::vector<WeightsFile::Part> parts(tensor.shape.size());
    Index stride = 1;
    for (std::size_t d = parts.size(); d-- > 0; stride *= tensor.shape[d])
      parts[d] = {0, tensor.shape[d], stride};
    std::vector<double> all(static_cast<std::size_t>(stride));
    file_.read(tensor, parts, all.data());
    return all;
  }

private:
  WeightsFile file_;
};

// Returns the names of a model's inputs in the arrays. Exporters can rename a single input, so then
// the name in the arrays is used.
inline std::vector<std::string> inputNames(const Layer& model, const Arrays& arrays) {
  const std::vector<std::string> names = model.inputNames();
  return names.size() == 1 ? arrays.names("in.") : names;
}

// Fills a tensor with an array; each rank takes its own part.
inline void fillWith(DTensor& x, const Arrays& arrays, const std::string& name) {
  fillFrom(x, arrays.numbers(*arrays.find(name)));
}

// Returns the largest absolute difference, divided by the largest absolute expected number, or by
// `scale` if that is larger.
inline double distance(const std::vector<double>& found, const std::vector<double>& expected,
                       double scale = 1e-300) {
  if (found.size() != expected.size())
    return HUGE_VAL;
  double difference = 0, largest = scale;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference = std::max(difference, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return difference / largest;
}

} // namespace tenon::test
