// SPDX-License-Identifier: BSD-2-Clause
// Layers of type "model", networks from the file of another program. Rank 0 reads the description
// of the network and broadcasts it, so all ranks have the same one. For the weights each rank opens
// the file itself, and compares it with the description.
//
// collectively(comm, f) in this file runs f on every rank; if f throws on one rank, all ranks
// throw, and none waits for messages of the others.
#include "layer/networks/model.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/parameter.hpp"
#include "layer/networks/model_proof.hpp"
#include "layer/networks/network_file.hpp"
#include "sys/log/log.hpp"
#include "sys/text/output.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kModelSettings[] = {
    {"path", OptionSpec::String, nullptr,
     "file of the trained network, as torch.export.save() writes it"},
    {"model_test", OptionSpec::Choice, "both",
     "run the test that the file holds at set-up: both in float64 and as the run computes, the "
     "latter alone (run), or off",
     "both|run|off"},
    {"model_training", OptionSpec::Flag, "false",
     "whether batch normalisation takes the statistics of the batch and dropout drops elements "
     "while the network is trained; otherwise both behave in training as in inference"}};
const OptionRegistration kModelOptions{{"model", kModelSettings}};

// Whether two imports give the same layers, although the extents can differ.
bool areAlike(const ImportedNetwork& a, const ImportedNetwork& b) {
  return networkText(a.graph) == networkText(b.graph);
}

// Creates the layers of an imported network as nodes of the model.
void addNodes(Layer& layer, const ImportedNetwork& network) {
  std::vector<Layer::Node> nodes;
  const int inputs = layer.inputCount();
  for (const LayerDescription::Node& node : network.graph.nodes) {
    const Ref<Layer> child = node.sameAs < 0 ? makeFrom(layer.comm(), node.layer)
                                             : nodes[static_cast<std::size_t>(node.sameAs)].layer;
    std::vector<int> reads;
    // In the file, node n has the number n, and input i the number -1 - i. In a layer, values are
    // numbered with the inputs first: input i is value i, node n is value inputs + n.
    for (const int name : node.reads)
      reads.push_back(name < 0 ? -1 - name : inputs + name);
    nodes.push_back({child, std::move(reads)});
  }
  layer.setNodes(std::move(nodes));
}

// Reads this rank's block of a parameter or a running statistic.
void fill(const ModelWeights& weights, const ImportedNetwork::Parameter& parameter,
          DTensor& tensor) {
  if (parameter.value.shape() != tensor.layout().shape())
    throw Error(
        TENON_ERR_INTERNAL,
        fmt::format("\"{}\" does not have the shape of what the model gives it", parameter.name));
  const auto read = [&](DTensor& array) {
    visitFloating(array.dataType(), [&]<class T>(T) {
      weights.read(parameter.value, array.box(), array.mutableData<T>());
    });
  };
  // Only contiguous host memory can be read into directly.
  if (tensor.space() == Space::Host && tensor.isContiguous())
    return read(tensor);
  const Ref<DTensor> block = makeRef<DTensor>(tensor.comm(), tensor.layout(), tensor.dataType());
  read(*block);
  copyLocal(*block, tensor);
}

} // namespace

ModelDeclaration::ModelDeclaration() : Declaration("model", kModelSettings) {}

void ModelDeclaration::setFile(std::shared_ptr<const ModelFile> file) {
  file_ = std::move(file);
  inputs_.clear();
  names_.clear();
  for (const ModelInput& input : file_->program().inputs)
    names_.push_back(input.name);
}

void ModelDeclaration::throwContainer() const {
  throw Error(TENON_ERR_INTERNAL,
              fmt::format("{} is a container; ask its layers for their forms", title()));
}

std::string ModelDeclaration::summary() const {
  std::vector<std::string> texts = {text("path")};
  texts.insert(texts.end(), network_.normalisations.begin(), network_.normalisations.end());
  return joined(texts, "; ");
}

Ref<Layer> makeModel(CommPtr comm) {
  return makeRef<Layer>(std::move(comm), std::make_unique<ModelDeclaration>(), nullptr);
}

ModelDeclaration* modelOf(Layer& layer) {
  return dynamic_cast<ModelDeclaration*>(&layer.declaration());
}

const ModelDeclaration* modelOf(const Layer& layer) {
  return dynamic_cast<const ModelDeclaration*>(&layer.declaration());
}

// Creates a model that consists of one section (consecutive nodes) of another model.
Ref<Layer> makeModelSection(const Layer& model, NetworkSection section, std::vector<Shape> inputs) {
  const Ref<Layer> sectionLayer = makeModel(model.comm());
  sectionLayer->set("path", modelOf(model)->value<std::string>("path"));
  sectionLayer->set("model_test", std::string("off"));
  ModelDeclaration& declaration = *modelOf(*sectionLayer);
  declaration.setFile(modelOf(model)->sharedFile());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    names.push_back(fmt::format("x{}", i));
  declaration.setInputNames(std::move(names));
  addNodes(*sectionLayer, section.network);
  declaration.setNetwork(std::move(section.network), std::move(inputs));
  return sectionLayer;
}

// Rank 0 reads the file and broadcasts its description. Collective.
void readModel(Layer& layer) {
  ModelDeclaration& model = *modelOf(layer);
  const std::string path = model.value<std::string>("path");
  if (model.file() && model.file()->path() == path)
    return;
  // Rank 0 reads the file, and the others construct it from the broadcast text.
  const bool readsFile = layer.comm()->rank() == 0;
  std::shared_ptr<const ModelFile> file;
  const std::string recorded = collectively(
      *layer.comm(), "the path of the model",
      [&] {
        if (readsFile)
          file = std::make_shared<ModelFile>(path);
        return readsFile ? file->recordedText() : std::string();
      },
      [&](const std::string&) { return path; });
  const std::string text = broadcastText(*layer.comm(), recorded, /*from=*/0);
  collectively(*layer.comm(), [&] {
    if (!readsFile)
      file = std::make_shared<ModelFile>(path, text);
    return true;
  });
  model.setFile(std::move(file));
}

// Imports the network for inputs of these shapes and creates its layers, on this rank.
void makeModelLayers(Layer& layer, const std::vector<Shape>& inputs, bool isListed) {
  ModelDeclaration& model = *modelOf(layer);
  if (!model.file())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has not read its file; create it with TenonLayerCreateFromModel()",
                            layer.title()));
  if (model.inputs() == inputs)
    return;
  const std::unique_ptr<ByteSource> bytes = model.file()->open();
  const ModelMode mode =
      model.value<bool>("model_training") ? ModelMode::Training : ModelMode::Inference;
  ImportedNetwork network = importNetwork(model.file()->program(), *bytes, inputs, mode);
  // Layers that are set up cannot be replaced. They can be used for other extents if the import for
  // these extents gives the same layers.
  if (!layer.isSetUp() && !isListed) {
    addNodes(layer, network);
    model.setNetwork(std::move(network), inputs);
  } else if (!areAlike(network, model.network())) {
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} ({}) becomes other layers for these extents than for those of "
                            "its first set-up, for sizes are fixed in it; create another layer "
                            "for them",
                            layer.title(), model.file()->path()));
  }
}

// Called by set-up: reads the file if necessary and creates the layers. Collective.
void bindModel(Layer& layer, const std::vector<Shape>& inputs, bool isListed) {
  ModelDeclaration* model = modelOf(layer);
  readModel(layer);
  collectively(
      *layer.comm(), "the layers of the model",
      [&] {
        makeModelLayers(layer, inputs, isListed);
        return true;
      },
      [&](bool) { return networkText(model->network().graph); });
}

// Called by set-up: each rank reads its blocks of weights that have no values yet. Collective.
void loadModelWeights(Layer& layer) {
  static const int event = logEvent("LayerLoadWeights");
  ModelDeclaration* model = modelOf(layer);
  if (!model)
    return;
  const LogScope scope(event);
  // States, such as running means, are only read at the first set-up: training can have changed
  // them since.
  const bool isFirst = !layer.isSetUp();
  collectively(*layer.comm(), [&] {
    std::unique_ptr<ByteSource> bytes;
    const auto read = [&](const ImportedNetwork::Parameter& imported, DTensor& tensor) {
      // The file is only opened if a value is missing.
      if (!bytes)
        bytes = model->file()->open();
      fill(ModelWeights(model->file()->program(), *bytes), imported, tensor);
    };
    for (const ImportedNetwork::Parameter& imported : model->network().parameters) {
      const Layer& node = *layer.nodes()[static_cast<std::size_t>(imported.node)].layer;
      for (const Ref<Parameter>& parameter : node.ownParameters())
        if (parameter->name() == imported.name && !parameter->isInitialized()) {
          read(imported, parameter->value());
          parameter->valueChanged();
          parameter->setInitialized();
        }
      for (const Ref<StateTensor>& state : node.ownStates())
        if (isFirst && state->name() == imported.name) {
          read(imported, state->value());
          state->valueChanged();
        }
    }
    return true;
  });
}

// Called by set-up: runs the test in the file before the first set-up. Collective.
void proveAtSetUp(Layer& layer, const Layouts& inputs) {
  const ModelDeclaration* model = modelOf(layer);
  if (!model || layer.isSetUp())
    return;
  const std::string testMode = model->value<std::string>("model_test");
  if (testMode != "off" && !proveModel(layer, inputs, testMode) && layer.comm()->rank() == 0)
    printError(fmt::format(
        "{} has no test of its own, so that nothing shows that it is computed as it was "
        "exported; {}\n",
        model->file()->path(), adviceOnTest(model->file()->program().format)));
}

void testModel(Layer& layer) {
  ModelDeclaration* model = modelOf(layer);
  if (!model)
    throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}; this call needs type model",
                                            layer.title(), layer.type()));
  const std::string testMode = model->value<std::string>("model_test");
  if (!proveModel(layer, layer.inputLayouts(), testMode == "off" ? "both" : testMode))
    throw Error(TENON_ERR_STATE, fmt::format("{} has no test; {}", model->file()->path(),
                                             adviceOnTest(model->file()->program().format)));
}

} // namespace tenon
