// SPDX-License-Identifier: BSD-2-Clause
// Layers of type "model": a network that another program has trained, from its file. The graph is
// read when the layer is created, and becomes layers when the extents are known, at SetUp; each
// process then reads its own block of each weight.
#pragma once

#include "import/lowering/sections.hpp"
#include "import/model_file.hpp"
#include "layer/core/layer.hpp"

namespace tenon {

class ModelDeclaration final : public Declaration {
public:
  ModelDeclaration();

  bool contains() const override { return true; }
  bool hasNodesInFile() const override { return false; }
  // -1 before the file is read.
  int inputCount() const override { return file_ ? static_cast<int>(names_.size()) : -1; }
  // As the file names them; the outputs where there are several, once the model is set up.
  std::vector<std::string> inputNames() const override { return names_; }
  std::vector<NetworkOutput> networkOutputs() const override { return network_.outputs; }
  Shape outputShape(const std::vector<Shape>&) const override { throwContainer(); }
  SignatureTable rows(const std::vector<Shape>&) const override { throwContainer(); }
  Form form(const Layouts&, const Choice&) const override { throwContainer(); }

  const ModelFile* file() const noexcept { return file_.get(); }
  const std::shared_ptr<const ModelFile>& sharedFile() const noexcept { return file_; }
  void setFile(std::shared_ptr<const ModelFile> file);
  // The network of the layers that there are, and the shapes of the inputs for which they were
  // made.
  const ImportedNetwork& network() const noexcept { return network_; }
  const std::vector<Shape>& inputs() const noexcept { return inputs_; }
  void setNetwork(ImportedNetwork network, std::vector<Shape> inputs) {
    network_ = std::move(network);
    inputs_ = std::move(inputs);
  }
  // Of a section of the file's network.
  void setInputNames(std::vector<std::string> names) { names_ = std::move(names); }

private:
  [[noreturn]] void throwContainer() const;
  std::string summary() const override;

  std::shared_ptr<const ModelFile> file_;
  std::vector<std::string> names_;
  ImportedNetwork network_;
  std::vector<Shape> inputs_;
};

Ref<Layer> makeModel(CommPtr comm);
// A section of the network of a model (import/lowering/sections.hpp) for inputs of these shapes,
// with parameters of its own from the model's file, without a test.
Ref<Layer> makeModelSection(const Layer& model, NetworkSection section, std::vector<Shape> inputs);
// Null if the layer is no model.
ModelDeclaration* modelOf(Layer& layer);
const ModelDeclaration* modelOf(const Layer& layer);
// Collective. Reads the file that the setting `path` names, if that has not been done: rank 0 does,
// and the others get what it has read.
void readModel(Layer& layer);

// The layers for inputs of these shapes, on this rank alone: those that there are, if they are for
// these shapes. Throws TENON_ERR_STATE if the file was not read, and TENON_ERR_SHAPE if the model
// was set up before and needs other layers for these extents.
void makeModelLayers(Layer& layer, const std::vector<Shape>& inputs);
// Collective, at the set-up of a container; none does anything unless it is a model.
// The same layers on all ranks.
void bindModel(Layer& layer, const Layouts& inputs);
// Runs the test of the file at the first set-up, before the layers take memory.
void proveAtSetUp(Layer& layer, const Layouts& inputs);
// Fills the parameters that have no values yet, once the layers are set up.
void loadModelWeights(Layer& layer);
// Collective, for a layer that is set up. Runs the test of the file. Throws TENON_ERR_TYPE if the
// layer is no model, TENON_ERR_STATE if the file has no test, and TENON_ERR_TEST where its results
// differ.
void testModel(Layer& layer);

} // namespace tenon
