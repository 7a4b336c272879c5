// SPDX-License-Identifier: BSD-2-Clause
// Writes a network in MOM6's layout: affine layers with a relu between them, and, first and last, a
// channelaffine as normalisation. Its scale and shift are written as mean and norm:
//
//   first   scale x + shift = (x - mean) / norm    norm = 1 / scale, mean = -shift / scale
//   last    scale y + shift = norm y + mean
//
// The parameters are gathered on rank 0, which also evaluates the network as MOM6 does, for an
// input of random numbers. MOM6 compares these, x_test and y_test, when it reads the file, and so
// does Tenon.
#include "io/ann/ann_weights.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/host_view.hpp"
#include "io/cf/cf_file.hpp"
#include "layer/core/parameter.hpp"
#include "layer/networks/weights.hpp"
#include "sys/files/part_file.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

using Numbers = std::vector<double>;

// The layers of a network in MOM6's layout.
struct AnnLayers {
  const Layer *first = nullptr, *last = nullptr; // the normalisation, or null
  std::vector<const Layer*> products;
};

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(TENON_ERR_SUPPORT,
              fmt::format("{}; files in MOM6's layout (.nc) have affine layers with a relu between "
                          "them, and a channelaffine before and after them. Other networks are "
                          "written as .safetensors or .npz",
                          reason));
}

// Appends the layers that compute something, each of which must read the one before it.
void appendChain(const Layer& layer, std::vector<const Layer*>& chain) {
  if (!layer.declaration().contains()) {
    chain.push_back(&layer);
    return;
  }
  if (layer.inputCount() != 1 || layer.outputValues() != std::vector<int>{layer.lastValue()})
    refuse(fmt::format("{} has several inputs or outputs", layer.title()));
  for (std::size_t n = 0; n < layer.nodes().size(); ++n) {
    const Layer::Node& node = layer.nodes()[n];
    // The input is value 0, and node n is value 1 + n.
    if (node.reads != std::vector<int>{static_cast<int>(n)})
      refuse(fmt::format("{} of {} does not read the layer before it alone", node.layer->title(),
                         layer.title()));
    appendChain(*node.layer, chain);
  }
}

AnnLayers annLayers(const Layer& layer) {
  if (!layer.isSetUp())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no parameters yet; call TenonLayerSetUp() first", layer.title()));
  std::vector<const Layer*> chain;
  appendChain(layer, chain);
  AnnLayers ann;
  std::size_t at = 0;
  const auto next = [&](const char* type) -> const Layer* {
    return at < chain.size() && chain[at]->type() == type ? chain[at++] : nullptr;
  };
  ann.first = next("channelaffine");
  do {
    const Layer* product = next("affine");
    if (!product)
      refuse(at < chain.size()
                 ? fmt::format("{} is of type {} where an affine layer is expected",
                               chain[at]->title(), chain[at]->type())
                 : fmt::format("{} does not end with an affine layer", layer.title()));
    ann.products.push_back(product);
  } while (next("relu"));
  ann.last = next("channelaffine");
  if (at < chain.size())
    refuse(fmt::format("{} is of type {}", chain[at]->title(), chain[at]->type()));
  return ann;
}

// All elements of a layer's parameter, on rank 0; none elsewhere, or without this parameter.
// Collective.
Numbers gathered(const Layer& layer, const std::string& name) {
  for (const Ref<Parameter>& parameter : layer.ownParameters()) {
    if (parameter->name() != name)
      continue;
    const Ref<DTensor> whole = wholeOnRoot(parameter->value());
    Ref<DTensor> copy;
    return visitFloating(whole->dataType(), [&]<class T>(T) {
      const DTensor& host = inSpace(*whole, layer.comm(), Space::Host, copy);
      return Numbers(host.data<T>(), host.data<T>() + host.localElements());
    });
  }
  return {};
}

// A network as in the file; the matrices are [before, after].
struct Ann {
  std::vector<Numbers> matrices, biases;
  Numbers inputMeans, inputNorms, outputMeans, outputNorms; // empty: none
};

// Collective; the numbers are those of rank 0.
Ann gather(const AnnLayers& layers) {
  Ann ann;
  if (layers.first) { // arrange() converts scale and shift to norm and mean
    ann.inputNorms = gathered(*layers.first, "scale");
    ann.inputMeans = gathered(*layers.first, "shift");
  }
  for (const Layer* product : layers.products) {
    ann.matrices.push_back(gathered(*product, "weight")); // [after, before]
    ann.biases.push_back(gathered(*product, "bias"));
  }
  if (layers.last) {
    ann.outputNorms = gathered(*layers.last, "scale");
    ann.outputMeans = gathered(*layers.last, "shift");
  }
  return ann;
}

// Brings gathered parameters to the form of the file.
void arrange(Ann& ann, const AnnLayers& layers) {
  for (std::size_t i = 0; i < ann.inputNorms.size(); ++i) {
    double &norm = ann.inputNorms[i], &mean = ann.inputMeans[i];
    if (norm == 0)
      refuse(
          fmt::format("{} multiplies input {} by 0, which has no norm", layers.first->title(), i));
    mean = -mean / norm;
    norm = 1 / norm;
  }
  for (std::size_t n = 0; n < layers.products.size(); ++n) {
    const Declaration& product = layers.products[n]->declaration();
    const auto before = static_cast<std::size_t>(product.value<Index>("inputs")),
               after = static_cast<std::size_t>(product.value<Index>("outputs"));
    Numbers transposed(before * after);
    for (std::size_t o = 0; o < after; ++o)
      for (std::size_t i = 0; i < before; ++i)
        transposed[i * after + o] = ann.matrices[n][o * before + i];
    ann.matrices[n] = std::move(transposed);
    ann.biases[n].resize(after); // a layer without a bias
  }
}

// The network as MOM6 evaluates it.
Numbers evaluate(const Ann& ann, Numbers values) {
  for (std::size_t i = 0; i < ann.inputNorms.size(); ++i)
    values[i] = (values[i] - ann.inputMeans[i]) / ann.inputNorms[i];
  for (std::size_t n = 0; n < ann.matrices.size(); ++n) {
    Numbers next = ann.biases[n];
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t o = 0; o < next.size(); ++o)
        next[o] += values[i] * ann.matrices[n][i * next.size() + o];
    if (n + 1 < ann.matrices.size())
      for (double& value : next)
        value = std::max(value, 0.0);
    values = std::move(next);
  }
  for (std::size_t o = 0; o < ann.outputNorms.size(); ++o)
    values[o] = values[o] * ann.outputNorms[o] + ann.outputMeans[o];
  return values;
}

CfContents contentsOf(const Ann& ann, TenonDataType type) {
  CfContents contents;
  contents.attributes = {{"source", "Tenon"}};
  const auto add = [&](const std::string& name, std::vector<std::string> dimensions,
                       TenonDataType stored, const Numbers& values) {
    if (!values.empty())
      contents.coordinates.push_back({.name = name,
                                      .dimensions = std::move(dimensions),
                                      .type = stored,
                                      .attributes = {},
                                      .values = values});
  };
  Numbers sizes = {static_cast<double>(ann.matrices.front().size() / ann.biases.front().size())};
  for (const Numbers& bias : ann.biases)
    sizes.push_back(static_cast<double>(bias.size()));
  contents.dimensions = {{"one", 1}, {"nlayers", static_cast<Index>(sizes.size())}};
  std::vector<std::string> neurons; // the dimension of each layer of neurons
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    neurons.push_back(fmt::format("neurons{}", n));
    contents.dimensions.emplace_back(neurons.back(), static_cast<Index>(sizes[n]));
  }
  add("num_layers", {"one"}, TENON_INT64, {static_cast<double>(sizes.size())});
  add("layer_sizes", {"nlayers"}, TENON_INT64, sizes);
  for (std::size_t n = 0; n < ann.matrices.size(); ++n) {
    add(fmt::format("A{}", n), {neurons[n], neurons[n + 1]}, type, ann.matrices[n]);
    add(fmt::format("b{}", n), {neurons[n + 1]}, type, ann.biases[n]);
  }
  add("input_means", {neurons.front()}, TENON_FLOAT64, ann.inputMeans);
  add("input_norms", {neurons.front()}, TENON_FLOAT64, ann.inputNorms);
  add("output_means", {neurons.back()}, TENON_FLOAT64, ann.outputMeans);
  add("output_norms", {neurons.back()}, TENON_FLOAT64, ann.outputNorms);
  // Inputs of the usual size: a few norms around the mean.
  Numbers x(static_cast<std::size_t>(sizes.front()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 4 * uniformAt(/*seed=*/0, /*stream=*/0, i) - 2;
    if (!ann.inputNorms.empty())
      x[i] = ann.inputMeans[i] + ann.inputNorms[i] * x[i];
  }
  add("x_test", {neurons.front()}, TENON_FLOAT64, x);
  add("y_test", {neurons.back()}, TENON_FLOAT64, evaluate(ann, x));
  for (CfVariable& variable : contents.coordinates)
    variable.storesInt32 = variable.type == TENON_INT64; // what MOM6 reads
  return contents;
}

} // namespace

bool isAnnPath(const std::string& path) {
  return path.ends_with(".nc");
}

void saveAnn(const Layer& layer, const std::string& path) {
  const AnnLayers layers = collectively(*layer.comm(), [&] {
    requireNetcdf("weights in MOM6's layout");
    return annLayers(layer);
  });
  Ann ann = gather(layers);
  collectively(*layer.comm(), [&] {
    if (layer.comm()->rank() != 0)
      return true;
    arrange(ann, layers);
    PartFile part(path);
    const CfContents contents = contentsOf(ann, layer.dataType());
    const std::unique_ptr<DataAccess> file = makeCfFile(part.name(), contents);
    file->open();
    file->close();
    part.commit();
    return true;
  });
}

} // namespace tenon
