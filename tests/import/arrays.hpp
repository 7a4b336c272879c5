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

class Arrays {
public:
  explicit Arrays(const std::filesystem::path& path) : file_(openBytes(path.string())) {}
  // What follows a prefix in the names of the arrays, in their order: "y", "c" of "out.y", "out.c".
  std::vector<std::string> names(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const StoredTensor& tensor : file_.tensors())
      if (tensor.name.starts_with(prefix))
        names.push_back(tensor.name.substr(prefix.size()));
    return names;
  }
  const StoredTensor* find(const std::string& name) const {
    for (const StoredTensor& tensor : file_.tensors())
      if (tensor.name == name)
        return &tensor;
    return nullptr;
  }
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

// The inputs of a model as the arrays name them: exporters name a single one as they like.
inline std::vector<std::string> inputNames(const Layer& model, const Arrays& arrays) {
  const std::vector<std::string> names = model.inputNames();
  return names.size() == 1 ? arrays.names("in.") : names;
}

inline void fillWith(DTensor& x, const Arrays& arrays, const std::string& name) {
  fillFrom(x, arrays.numbers(*arrays.find(name)));
}

// The largest difference, as a part of the largest number, or of a larger one.
inline double distance(const std::vector<double>& found, const std::vector<double>& wanted,
                       double scale = 1e-300) {
  if (found.size() != wanted.size())
    return HUGE_VAL;
  double most = 0, largest = scale;
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::abs(found[i] - wanted[i]));
    largest = std::max(largest, std::abs(wanted[i]));
  }
  return most / largest;
}

} // namespace tenon::test
