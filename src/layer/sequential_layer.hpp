// SPDX-License-Identifier: BSD-2-Clause
// Layers one after the other. Each is set up for the output layout of the one before, and each
// keeps its own stack; the container keeps the tensors in between.
#pragma once

#include "layer/layer.hpp"

namespace tenon {

class SequentialLayer final : public Layer {
public:
  explicit SequentialLayer(CommPtr comm) : Layer(std::move(comm)) {}
  const char* type() const noexcept override { return "sequential"; }

  // Before SetUp. At SetUp the layer gets the container's data type and stack depth, and those of
  // its storage, backend and initializer that the layer has left at their defaults.
  void add(Ref<Layer> layer);
  const std::vector<Ref<Layer>>& layers() const noexcept { return layers_; }

  void setFromOptions() override;
  void setTraining(bool training) override;
  void forgetLast() override;
  void clearStack() override;
  std::vector<Ref<Parameter>> parameters() const override;
  void zeroGradients() override;
  void initialize(std::uint64_t seed, std::uint64_t stream) override;
  std::string describe() const override;

private:
  std::string ownSettings() const override;
  std::unique_ptr<Setup> makeSetup(const Layout& input) override;
  std::vector<Ref<Layer>> layers_;
};

} // namespace tenon
