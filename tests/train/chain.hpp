// SPDX-License-Identifier: BSD-2-Clause
// A network of weights for tests of gradients that are reduced together.
#pragma once

#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "support/layers.hpp"
#include "train/optimizer.hpp"

#include <vector>

namespace tenon::test {

inline constexpr Index kWidth = 4, kRows = 8, kWeight = kWidth * kWidth; // elements of a parameter
constexpr Index kWeightBytes = kWeight * Index(sizeof(double));

inline GridPtr gridOf(const CommPtr& comm) {
  return Grid::make({comm->size()});
}

inline void appendElements(std::vector<double>& all, const DTensor& x) {
  if (x.localElements() > 0)
    all.insert(all.end(), x.data<double>(), x.data<double>() + x.localElements());
}

// Layers of one weight each, tanh between them, and half the square of the output's norm as loss.
class Chain {
public:
  Chain(const CommPtr& comm, int layers) : comm_(comm) {
    net = newLayer(comm, "sequential");
    for (int i = 0; i < layers; ++i) {
      weights.push_back(newAffine(comm, kWidth, kWidth));
      weights.back()->set("bias", false);
      appendLayer(*net, weights.back());
      appendLayer(*net, newPointwise(comm, "tanh"));
    }
    net->setDataType(TENON_FLOAT64);
    const Layout input(
        {.shape = {kRows, kWidth}, .grid = gridOf(comm), .properties = {Property::shard(0)}});
    net->setUp(input);
    net->initialize(3, 0);
    x_ = makeRef<DTensor>(comm, input, TENON_FLOAT64);
    y_ = makeRef<DTensor>(comm, net->outputLayout(), TENON_FLOAT64);
    dy_ = makeRef<DTensor>(comm, net->outputLayout().dual(), TENON_FLOAT64);
    fillUniform(*x_, /*seed=*/5, /*stream=*/1, -1, 1);
  }

  double evaluate() {
    net->apply(*x_, *y_);
    copyLocal(*y_, *dy_);
    net->applyAdjoint(*dy_, nullptr);
    const double size = norm(*y_);
    return size * size / 2;
  }
  Parameter& weight(int i) const { return *weights[static_cast<std::size_t>(i)]->parameters()[0]; }
  std::vector<double> values() const {
    std::vector<double> all;
    for (const auto& p : net->parameters())
      appendElements(all, p->value());
    return all;
  }
  Ref<Optimizer> optimizer(const std::string& type, Index bucket = -1) const {
    const Ref<Optimizer> made = makeOptimizer(type, net);
    made->set("gradient_bucket", bucket);
    if (type == "lbfgs")
      made->set("iterations", Index(2));
    else
      made->set("learning_rate", 0.05);
    return made;
  }

  Ref<Layer> net;
  std::vector<Ref<Layer>> weights;

private:
  CommPtr comm_;
  Ref<DTensor> x_, y_, dy_;
};

} // namespace tenon::test
