// SPDX-License-Identifier: BSD-2-Clause
// Layers joined into one: the nodes of a graph without cycles, each with one output and its inputs
// taken from the network's inputs and from nodes before it.
//
//   Apply     in the order of the nodes;  Tangent likewise
//   Adjoint   in reverse order; a value that several nodes read gets the sum of their cotangents
//
// Each layer is set up for the outputs that it reads, and keeps its own stack; the network keeps
// the tensors in between. A layer may be several nodes: they share its parameters.
#pragma once

#include "layer/layer.hpp"

namespace tenon {

class NetworkLayer : public Layer {
public:
  // Values are counted with the network's inputs first: 0 .. inputs - 1, then one for each node.
  struct Node {
    Ref<Layer> layer;
    std::vector<int> reads;
  };
  int inputCount() const noexcept { return inputs_; }
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  // The value of the last node, which is the network's output.
  int lastValue() const { return inputs_ + static_cast<int>(nodes_.size()) - 1; }

  void setFromOptions() override;
  void setTraining(bool training) override;
  void setFrozen(bool frozen) override;
  void forgetLast() override;
  void clearStack() override;
  std::vector<Ref<Parameter>> parameters() const override;
  void zeroGradients() override;
  void initialize(std::uint64_t seed, std::uint64_t stream, Fill fill = Fill::All) override;
  std::string describe() const override;

protected:
  NetworkLayer(CommPtr comm, int inputs) : Layer(std::move(comm)), inputs_(inputs) {}
  // Adds a node; the values that it reads must be there already.
  void append(Ref<Layer> layer, std::vector<int> reads);
  void setInputCount(int inputs) { inputs_ = inputs; }
  std::string ownSettings() const override;
  std::string ownSummary() const override;
  std::unique_ptr<Setup> makeSetupOf(const Layouts& inputs) override;

private:
  // Each layer once, in the order of its first node.
  std::vector<Layer*> layers() const;
  int usesOf(const Layer& layer) const;
  std::vector<Layout> setUpNodes(const Layouts& inputs);

  int inputs_;
  std::vector<Node> nodes_;
};

} // namespace tenon
