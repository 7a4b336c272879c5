// SPDX-License-Identifier: BSD-2-Clause
// The network of small_network.cpp as a TorchScript module (torch_peer.hpp): its program is
// assembled as text, one linear function per layer with tanh in between, and optimised for
// inference on one thread.
#include "bench/torch_peer.hpp"

#include <torch/script.h>
#include <torch/torch.h>

#include <cstring>
#include <memory>
#include <string>

namespace tenon::bench {
namespace {

// A tensor on the memory of the caller.
template <class T>
torch::Tensor wrapped(const T* data, std::vector<std::int64_t> shape) {
  return torch::from_blob(const_cast<T*>(data), shape, torch::CppTypeToScalarType<T>::value);
}

template <class T>
torch::jit::Module moduleOf(const NetworkArrays<T>& arrays) {
  torch::jit::Module module("network");
  std::string body = "def forward(self, x):\n";
  const std::size_t layers = arrays.weights.size();
  for (std::size_t l = 0; l < layers; ++l) {
    const std::string number = std::to_string(l);
    const int in = arrays.widths[l], out = arrays.widths[l + 1];
    // Copies: the module owns its parameters, while from_blob() refers to the caller's arrays.
    module.register_parameter("w" + number, wrapped(arrays.weights[l], {out, in}).clone(), false);
    module.register_parameter("b" + number, wrapped(arrays.biases[l], {out}).clone(), false);
    body += "    x = torch.linear(x, self.w" + number + ", self.b" + number + ")\n";
    if (l + 1 < layers)
      body += "    x = torch.tanh(x)\n";
  }
  module.define(body + "    return x\n");
  module.eval();
  return torch::jit::optimize_for_inference(module);
}

} // namespace

// The measured call begins and ends in the caller's arrays, as in a solver: x is wrapped without a
// copy, and the result, which TorchScript allocates, is copied.
template <class T>
std::function<void()> torchNetwork(const NetworkArrays<T>& arrays) {
  at::set_num_threads(1);
  auto module = std::make_shared<torch::jit::Module>(moduleOf(arrays));
  const std::size_t bytes = sizeof(T) * std::size_t(arrays.batch * arrays.widths.back());
  return [=] {
    const torch::InferenceMode inference;
    const torch::Tensor y =
        module->forward({wrapped(arrays.x, {arrays.batch, arrays.widths.front()})}).toTensor();
    std::memcpy(arrays.y, y.data_ptr<T>(), bytes);
  };
}

template std::function<void()> torchNetwork<float>(const NetworkArrays<float>&);
template std::function<void()> torchNetwork<double>(const NetworkArrays<double>&);

} // namespace tenon::bench
