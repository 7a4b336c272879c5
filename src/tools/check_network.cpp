// SPDX-License-Identifier: BSD-2-Clause
// A small network of same convolution, average pooling, tanh, flatten and affine layer, whose
// signatures differ, so that whatever lies between them is moved.
#include "tools/check_layer.hpp"
#include "tools/check_window.hpp"

namespace tenon::tools {

namespace {

constexpr Index kChannels = 3, kClasses = 4;

// What an axis may have in each layer's signature; "" leaves the choice to the layer.
const std::vector<std::vector<std::string>> kLetters = {
    {"n", "o", "i", "h", "w", "B", "R"}, {"n", "c", "h", "w", "B", "R"},
    {"S0", "S1", "S2", "S3", "B", "R"},  {"n", "c", "B", "R"},
    {"n", "o", "i", "B", "R"},
};

// For each layer the letters of three axes, or none.
using Signatures = std::vector<std::vector<std::string>>;

Signatures drawSignatures(Draw& draw) {
  Signatures drawn;
  for (const std::vector<std::string>& letters : kLetters)
    drawn.push_back(draw.chance(40) ? std::vector<std::string>{draw.of(letters), draw.of(letters),
                                                               draw.of(letters)}
                                    : std::vector<std::string>{});
  return drawn;
}

std::string lettersOf(const std::vector<std::string>& letters, int axes) {
  std::string text;
  for (int axis = 0; axis < axes && !letters.empty(); ++axis)
    text += (axis > 0 ? "," : "") + letters[axis];
  return text;
}

std::vector<Layer> makeLayers(MPI_Comm comm, const Indices& input) {
  const Indices kernel = {3, 3}, same = {1, 1}, half = {2, 2};
  const Index features = kChannels * (input[2] / 2) * (input[3] / 2);
  std::vector<Layer> layers(kLetters.size());
  require(TenonLayerCreateConv(comm, 2, input[1], kChannels, kernel.data(), layers[0].out()));
  require(TenonLayerSetPadding(layers[0], same.data(), nullptr));
  require(TenonLayerCreatePooling(comm, TENON_POOLING_AVERAGE_INCLUDE_PAD, 2, half.data(),
                                  layers[1].out()));
  require(TenonLayerCreatePointwise(comm, "tanh", layers[2].out()));
  require(TenonLayerCreateFlatten(comm, layers[3].out()));
  require(TenonLayerCreateAffine(comm, features, kClasses, layers[4].out()));
  return layers;
}

Layer makeNetwork(MPI_Comm comm, const MeshSpec* mesh, const Indices& input,
                  const Signatures& signatures) {
  Layer network;
  require(TenonLayerCreateSequential(comm, network.out()));
  const std::vector<Layer> layers = makeLayers(comm, input);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (mesh)
      require(TenonLayerSetSignature(layers[i], lettersOf(signatures[i], mesh->axes()).c_str()));
    require(TenonLayerSequentialAdd(network, layers[i]));
  }
  return network;
}

} // namespace

void checkNetwork(Case& c) {
  const Indices input = {c.draw.between(1, 4), c.draw.between(1, 3), c.draw.between(2, 7),
                         c.draw.between(2, 7)};
  const Signatures signatures = drawSignatures(c.draw);
  for (const auto& letters : signatures)
    c.text += " " + (letters.empty() ? "any" : lettersOf(letters, 3));
  checkLayer(c, {.inputs = {input}, .make = [=](MPI_Comm comm, const MeshSpec* mesh) {
                   return makeNetwork(comm, mesh, input, signatures);
                 }});
}

} // namespace tenon::tools
