// SPDX-License-Identifier: BSD-2-Clause
// Layers of type "model": a network that another program has trained and exported to a file
// (torch.export). A model is a container; its nodes are created from the file:
//
//   readModel()          rank 0 reads the graph from the file and broadcasts it
//   bindModel()          at set-up, when all extents are known: converts the graph to layers
//   proveAtSetUp()       runs the test in the file, if any
//   loadModelWeights()   each rank reads its own block of each weight
#pragma once

#include "import/lowering/sections.hpp"
#include "import/model_file.hpp"
#include "layer/core/layer.hpp"

namespace tenon {

// The declaration of a model: its file, and the names and shapes of inputs and outputs.
class ModelDeclaration final : public Declaration {
public:
  ModelDeclaration();

  bool contains() const override { return true; }
  bool hasNodesInFile() const override { return false; }
  // -1 before the file has been read.
  int inputCount() const override { return file_ ? static_cast<int>(names_.size()) : -1; }
  // Inputs are named as in the file; outputs are only known once the model is set up.
  std::vector<std::string> inputNames() const override { return names_; }
  std::vector<NetworkOutput> networkOutputs() const override { return network_.outputs; }
  Shape outputShape(const std::vector<Shape>&) const override { throwContainer(); }
  SignatureTable rows(const std::vector<Shape>&) const override { throwContainer(); }
  Form form(const Layouts&, const Choice&) const override { throwContainer(); }

  const ModelFile* file() const noexcept { return file_.get(); }
  const std::shared_ptr<const ModelFile>& sharedFile() const noexcept { return file_; }
  void setFile(std::shared_ptr<const ModelFile> file);
  // The imported network from which the present layers were created, and the shapes of the inputs
  // for which it was imported.
  const ImportedNetwork& network() const noexcept { return network_; }
  const std::vector<Shape>& inputs() const noexcept { return inputs_; }
  void setNetwork(ImportedNetwork network, std::vector<Shape> inputs) {
    network_ = std::move(network);
    inputs_ = std::move(inputs);
  }
  // For a section, a part of the network that is evaluated on its own: sets the names of its
  // inputs.
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
// Creates a layer for one section of a model's network (import/lowering/sections.hpp), for inputs
// of these shapes. The section reads its own parameters from the model's file; the test in the file
// is not run for it.
Ref<Layer> makeModelSection(const Layer& model, NetworkSection section, std::vector<Shape> inputs);
// Null if the layer is not a model.
ModelDeclaration* modelOf(Layer& layer);
const ModelDeclaration* modelOf(const Layer& layer);
// Reads the file named by the setting `path`, if not done yet: rank 0 reads it and broadcasts its
// contents. Collective.
void readModel(Layer& layer);

// Creates the layers for inputs of these shapes, on this rank only, unless they exist already.
// Throws TENON_ERR_STATE if the file was not read, and TENON_ERR_SHAPE if the model is already set
// up and would need other layers for these shapes.
// `isListed`: the model's layers are already part of a network that is being set up; they cannot be
// replaced by others, as in a model that is set up.
void makeModelLayers(Layer& layer, const std::vector<Shape>& inputs, bool isListed = false);
// Reads the file if necessary, and creates the same layers on all ranks. Collective.
void bindModel(Layer& layer, const std::vector<Shape>& inputs, bool isListed);
// The set-up of any container calls the next two functions. They are collective and have no effect
// unless the layer is a model.
// Runs the test in the file at the first set-up, before the layers allocate memory.
void proveAtSetUp(Layer& layer, const Layouts& inputs);
// Reads the parameters that have no values yet, after the layers are set up.
void loadModelWeights(Layer& layer);
// Runs the test in the file, for a layer that is set up. Throws TENON_ERR_TYPE if the layer is not
// a model, TENON_ERR_STATE if the file has no test, and TENON_ERR_TEST if its results differ.
// Collective.
void testModel(Layer& layer);

} // namespace tenon
