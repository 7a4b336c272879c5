// SPDX-License-Identifier: BSD-2-Clause
// Networks for fields in a volume, of any width and depth: a U-Net, a Fourier neural operator and a
// residual network. Each ends in its loss, the layer `loss`.
#pragma once

#include "support/layers.hpp"

namespace tenon::test {

struct VolumeNetwork {
  Ref<Layer> net, loss;
  Shape target; // of one sample; {} if the target is a class for each sample
};

// Adds layers to a graph. The functions return the number of the new node, by which others read it.
class VolumeBuilder {
public:
  static constexpr int kInput = -1; // read by a node: the input of the network

  explicit VolumeBuilder(CommPtr comm) : comm_(std::move(comm)), net_(newLayer(comm_, "graph")) {}

  int add(const Ref<Layer>& layer, const std::vector<int>& reads) {
    return addGraphNode(*net_, layer, reads);
  }
  int add(const std::string& type, const std::vector<int>& reads) {
    return add(newLayer(comm_, type), reads);
  }
  int conv(int from, Index in, Index out, Index kernel, Index stride = 1) {
    const Window window{
        .kernel = kernel, .stride = stride, .padLow = kernel / 2, .padHigh = kernel / 2};
    return add(newConv(comm_, in, out, {window, window, window}), {from});
  }
  int norm(int from, const char* type, Index channels, Index groups = 0) {
    const auto layer = newLayer(comm_, type);
    layer->set("channels", channels);
    if (groups > 0)
      layer->set("groups", groups);
    return add(layer, {from});
  }
  // Two convolutions, each with normalisation and function.
  int pair(int from, Index in, Index out) {
    for (const Index channels : {in, out})
      from = add("relu", {norm(conv(from, channels, out, 3), "groupnorm", out, 2)});
    return from;
  }
  int halved(int from) {
    const Window half{.kernel = 2, .stride = 2};
    return add(newPooling(comm_, PoolingMode::Max, {half, half, half}), {from});
  }
  int doubled(int from, Index in, Index out) {
    const auto layer = newLayer(comm_, "transposedconv");
    layer->set("in_channels", in);
    layer->set("out_channels", out);
    layer->set("kernel", std::vector<Index>{2, 2, 2});
    layer->set("stride", std::vector<Index>{2, 2, 2});
    return add(layer, {from});
  }
  int spectral(int from, Index channels, Index modes) {
    const auto layer = newLayer(comm_, "spectralconv");
    layer->set("in_channels", channels);
    layer->set("out_channels", channels);
    layer->set("modes", std::vector<Index>{modes, modes, modes});
    return add(layer, {from});
  }
  VolumeNetwork finish(int from, const char* loss, Shape target) {
    VolumeNetwork made{net_, newLayer(comm_, loss), std::move(target)};
    add(made.loss, {from});
    return made;
  }

private:
  CommPtr comm_;
  Ref<Layer> net_;
};

// One field in, one out; `levels` halvings, the channels doubled at each.
inline VolumeNetwork volumeUnet(const CommPtr& comm, Index extent, Index channels, int levels) {
  VolumeBuilder b(comm);
  std::vector<int> skips;
  int node = b.pair(b.kInput, 1, channels);
  Index width = channels;
  for (int level = 0; level < levels; ++level, width *= 2) {
    skips.push_back(node);
    node = b.pair(b.halved(node), width, 2 * width);
  }
  for (; !skips.empty(); skips.pop_back(), width /= 2) {
    node = b.doubled(node, width, width / 2);
    node = b.pair(b.add(newConcatenate(comm, 1), {skips.back(), node}), width, width / 2);
  }
  return b.finish(b.conv(node, channels, 1, 1), "huber", {1, extent, extent, extent});
}

// One field in, one out, through three blocks gelu(spectral(x) + pointwise(x)), in which the
// spectral convolution has this number of modes in each dimension.
inline VolumeNetwork volumeFno(const CommPtr& comm, Index extent, Index channels, Index modes) {
  VolumeBuilder b(comm);
  int node = b.conv(b.kInput, 1, channels, 1);
  for (int block = 0; block < 3; ++block)
    node = b.add("gelu", {b.add("add", {b.spectral(node, channels, modes),
                                        b.conv(node, channels, channels, 1)})});
  return b.finish(b.conv(node, channels, 1, 1), "relativel2", {1, extent, extent, extent});
}

// A class for each sample, from two residual blocks relu(skip(x) + f(x)). The second one halves the
// extents and doubles the channels, so its skip is a convolution of 1 x 1 x 1 with the same stride.
inline VolumeNetwork volumeResnet(const CommPtr& comm, Index channels, Index classes) {
  VolumeBuilder b(comm);
  int node = b.add("relu", {b.norm(b.conv(b.kInput, 1, channels, 3), "batchnorm", channels)});
  for (const Index stride : {1, 2}) {
    const Index out = stride * channels;
    const int inner =
        b.add("relu", {b.norm(b.conv(node, channels, out, 3, stride), "batchnorm", out)});
    const int outer = b.norm(b.conv(inner, out, out, 3), "batchnorm", out);
    const int skip = stride == 1 ? node : b.conv(node, channels, out, 1, stride);
    node = b.add("relu", {b.add("add", {skip, outer})});
  }
  node = b.add("flatten", {b.add("globalaveragepooling", {node})});
  return b.finish(b.add(newAffine(comm, 2 * channels, classes), {node}), "crossentropy", {});
}

} // namespace tenon::test
