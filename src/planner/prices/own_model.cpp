// SPDX-License-Identifier: BSD-2-Clause
// States the problem of a plan for the layers and conversions that run (own_model.hpp): gives each
// layer its parallelizations with their costs, once for all that differ only in name, and each move
// the layouts at its ends. Their seconds are computed on request and cached.
#include "planner/prices/own_model.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// Returns the layout of the data moved, whose shape can differ from the writer's output: some of
// the channels, space after pooling, or features. A dimension keeps its split points if its extent
// is the same, and is divided evenly otherwise. If space has been flattened into features, its axes
// split the features after those of the channels, since the features of a channel are contiguous.
Layout onShape(const Layout& layout, const Shape& shape) {
  if (layout.shape() == shape)
    return layout;
  LayoutSpec spec = layout.spec();
  const std::size_t rank = shape.size();
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (d < rank && spec.shape[d] == shape[d])
      continue;
    if (!spec.cuts.empty())
      spec.cuts[d].clear();
    if (d >= rank && !spec.splitAxes.empty())
      spec.splitAxes[1].insert(spec.splitAxes[1].end(), spec.splitAxes[d].begin(),
                               spec.splitAxes[d].end());
  }
  for (Property& property : spec.properties)
    if (property.isShard() && property.dim >= static_cast<int>(rank))
      property = Property::shard(1);
  spec.shape = shape;
  spec.cuts.resize(rank);
  spec.splitAxes.resize(rank);
  spec.halos.resize(rank);
  return Layout(std::move(spec));
}

void checkPinnedShape(const char* name, const Layout& pinned, const Shape& shape) {
  if (pinned.shape() != shape)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("the pinned layout of the {} has shape [{}], but that of the network is [{}]",
                    name, fmt::join(pinned.shape(), ","), fmt::join(shape, ",")));
}

} // namespace

std::vector<std::optional<Layout>> OwnTask::inputs() const {
  std::vector<std::optional<Layout>> inputs = {input};
  inputs.insert(inputs.end(), furtherInputs.begin(), furtherInputs.end());
  return inputs;
}

OwnModel::OwnModel(DeclaredNetwork network, FineGrid grid, OwnRates rates, OwnTask task)
    : CostModel(std::move(grid), task.inputChannels), network_(std::move(network)),
      rates_(std::move(rates)), task_(std::move(task)), grid_(this->grid().grid()),
      existing_(network_, this->grid(), task_.inputChannels,
                {.inputs = task_.inputs(), .output = task_.output}),
      conversions_(std::make_unique<ConversionPrices>(rates_.links, grid_->size(), grid_)),
      layerPrices_(*conversions_, rates_, network_.elementBytes, trains()),
      layerBytes_(network_, trains(), task_.optimizerStates),
      movePrices_(*conversions_, rates_.links, network_.elementBytes) {
  for (const DeclaredLayer& layer : network_.layers)
    names_.push_back(layer.name);
  addKinds();
  addMoves();
  addPinnedEnds();
}

// Prices the layers under all parallelizations; those that differ only in names are one Kind.
void OwnModel::addKinds() {
  std::vector<LayerKind> layers;
  std::vector<std::vector<SavedActivations>> saved;
  for (int layer = 0; layer < plannedLayers(); ++layer) {
    layers.push_back(existing_.kindOf(network_, layer));
    saved.push_back(layerBytes_.savedOf(*layers.back().layer, layers.back().native));
  }
  // By layer and output: whether the adjoint of a reader reads it again, so it must be saved. This
  // is part of the key of a kind, since it depends on the readers.
  const std::vector<std::vector<bool>> readSaved = outputsReadAgain(network_, saved);
  std::map<std::string, int> known;
  for (int layer = 0; layer < plannedLayers(); ++layer) {
    const auto [entry, isNew] = known.emplace(kindKey(layer, layers[layer], readSaved[layer]),
                                              static_cast<int>(kinds_.size()));
    kindOf_.push_back(entry->second);
    if (!isNew)
      continue;
    Kind kind{std::move(layers[layer])};
    kind.saved = saved[layer];
    kind.readIsSaved = readSaved[layer];
    for (int number = 0; number < existing_.count(); ++number) {
      ParallelizationCost cost;
      existing_.addNext(kind, [&](const std::vector<Form>& forms) { cost = costOf(kind, forms); });
      kind.costs.push_back(std::move(cost));
    }
    kinds_.push_back(std::move(kind));
  }
}

// Networks repeat their layers, and forms are expensive. The key contains everything on which the
// price of a layer depends, so layers with equal keys are priced once.
std::string OwnModel::kindKey(int layer, const LayerKind& kind,
                              const std::vector<bool>& readIsSaved) {
  const DeclaredLayer& declared = network_.layers[layer];
  std::string key = fmt::format("{} {} {} {}", declared.declaration->agreedText(),
                                declared.splitDims, declared.maxChannels, declared.readsInput);
  key += declared.frozen ? " frozen" : "";
  for (const Shape& input : declared.inputs)
    key += fmt::format(" [{}]", fmt::join(input, ","));
  for (const DependentLayer& dependent : declared.dependents)
    key += fmt::format("; {} of {}", dependent.declaration->agreedText(), dependent.reads);
  // Layers of a network with lists also differ in their native layouts. Their text omits only the
  // split points, which the number of the layout identifies.
  if (kind.native)
    for (const Layouts& all : {kind.native->uses, kind.native->outputs})
      for (const Layout& layout : all)
        key += fmt::format("; {} {}", layout.describe(), movePrices_.numberOf(layout));
  for (const bool isSaved : readIsSaved)
    key += isSaved ? " saved" : " read";
  return key;
}

// The costs of a layer under a parallelization, by its form and those of its dependents.
ParallelizationCost OwnModel::costOf(const Kind& kind, const std::vector<Form>& forms) const {
  const DeclaredLayer& layer = *kind.layer;
  const Form& form = forms.front();
  ParallelizationCost cost;
  layerPrices_.addForm(*layer.declaration, form, wantsCotangent(layer), cost);
  // An input that is not pinned is available in any layout, so no move leads to this layer. Only
  // the halo of the input is communicated.
  if (const Layout& use = form.uses.front(); layer.readsInput && !task_.input && use.hasHalos())
    layerPrices_.addConversion(use.withoutHalos(), use, /*hasCotangent=*/false, cost);
  for (const ParameterForm& parameter : form.parameters) {
    if (!layer.frozen)
      layerPrices_.addGradient(parameter.use, cost);
    layerBytes_.addParameter(parameter.use, layer.frozen, cost);
  }
  if (layer.readsInput)
    cost.bytes += layerBytes_.bytesOf(form.uses.front().withoutHalos());
  layerBytes_.addActivations(kind.saved.front(), kind.readIsSaved.front(), form, cost);
  // The dependents compute cotangents if the layer reads them: for the gradients of its parameters,
  // or for the layers before it.
  const bool hasCotangent = wantsCotangent(layer) || !form.parameters.empty();
  for (std::size_t d = 0; d < layer.dependents.size(); ++d) {
    const DependentLayer& dependent = layer.dependents[d];
    const Layout& read = forms[dependent.reads].output;
    const Form& dependentForm = forms[d + 1];
    const Layout& use = dependentForm.uses.front();
    layerPrices_.addForm(*dependent.declaration, dependentForm, hasCotangent, cost);
    // Links fill halos within the layer.
    layerPrices_.addConversion(read, dependentForm.links ? use.withoutHalos() : use, hasCotangent,
                               cost);
    layerBytes_.addActivations(kind.saved[d + 1], kind.readIsSaved[d + 1], dependentForm, cost);
  }
  return cost;
}

bool OwnModel::wantsCotangent(const DeclaredLayer& layer) const {
  // The data on which a network is trained has no cotangent, but the field of a solver can have
  // one.
  return !layer.readsInput || (task_.input && task_.inputCotangent);
}

void OwnModel::addMoves() {
  for (const DeclaredMove& move : network_.moves) {
    moves_.push_back({move.from, move.to});
    movePrices_.add(endsOf(move));
  }
}

void OwnModel::addPinnedEnds() {
  const std::vector<std::optional<Layout>> inputs = task_.inputs();
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    if (!inputs[i])
      continue;
    const int end =
        addPinnedEnd(i == 0 ? "pinned input" : fmt::format("pinned input {}", i), *inputs[i]);
    for (const DeclaredMove& read : network_.reads)
      if (read.source == i) {
        checkPinnedShape("input", *inputs[i], read.shape);
        // The user need not request the input's cotangent.
        addPinnedMove({.from = end, .to = read.to, .input = read.input, .shape = read.shape},
                      task_.inputCotangent);
      }
  }
  if (task_.output) {
    const DeclaredMove& last = network_.result;
    checkPinnedShape("output", *task_.output, last.shape);
    // The output's cotangent always comes from the loss.
    addPinnedMove({.from = last.from,
                   .to = addPinnedEnd("pinned output", *task_.output),
                   .shape = last.shape,
                   .output = last.output},
                  /*hasCotangent=*/true);
  }
}

// Adds a pinned end of the network as a layer with a single parallelization, the first: the others
// have a fault, which excludes them from the search. It costs nothing itself, but the moves from
// and to it do.
int OwnModel::addPinnedEnd(std::string name, const Layout& layout) {
  Kind kind;
  for (int number = 0; number < existing_.count(); ++number)
    kind.parallelizations.push_back(
        {.uses = {layout}, .outputs = {layout}, .fault = number == 0 ? "" : "pinned"});
  kind.costs.resize(existing_.count());
  kindOf_.push_back(static_cast<int>(kinds_.size()));
  kinds_.push_back(std::move(kind));
  names_.push_back(std::move(name));
  return layers() - 1;
}

void OwnModel::addPinnedMove(const DeclaredMove& move, bool hasCotangent) {
  moves_.push_back({move.from, move.to});
  MoveEnds ends = endsOf(move);
  // Unlike moves inside the network, this one happens in every step of a solver, even in steps that
  // do not evaluate the network.
  ends.weight = 1;
  ends.hasCotangent = hasCotangent && trains();
  movePrices_.add(std::move(ends));
}

MoveEnds OwnModel::endsOf(const DeclaredMove& move) {
  // Seconds are per step of the solver, and several steps share an evaluation.
  return {.sources = layoutsOf(move.from, /*isSource=*/true, move.output, move.shape),
          .targets = layoutsOf(move.to, /*isSource=*/false, move.input, move.shape),
          .weight = 1 / static_cast<double>(task_.stepsPerEvaluation),
          .hasCotangent = trains()};
}

// The layouts of output `number` of a layer, or of input `number`, as numbers by parallelization.
const std::vector<int>& OwnModel::layoutsOf(int layer, bool isSource, int number,
                                            const Shape& shape) {
  const auto [entry, isNew] = layoutsOf_.try_emplace({kindOf_[layer], isSource, number, shape});
  for (int p = 0; isNew && p < existing_.count(); ++p) {
    const ParallelizedLayer& parallelized = parallelizedLayer(layer, p);
    const Layouts& layouts = isSource ? parallelized.outputs : parallelized.uses;
    entry->second.push_back(
        parallelized.fault.empty() ? movePrices_.numberOf(onShape(layouts[number], shape)) : -1);
  }
  return entry->second;
}

LayerTerms OwnModel::termsBy(int layer, int parallelization, Sampling sampling) const {
  const LayerTerms terms =
      layerPrices_.terms(kinds_[kindOf_[layer]].costs[parallelization], sampling);
  const double share = 1 / static_cast<double>(task_.stepsPerEvaluation);
  return {.forward = share * terms.forward,
          .backward = share * terms.backward,
          .gradients = share * terms.gradients};
}

std::string OwnModel::text(int layer, int parallelization) const {
  if (existing_.isBalanced(parallelization))
    return text(layer, existing_.aligned(parallelization)) + std::string(kBalancedEnd);
  return existing_.onField(parallelization)
             ? existing_.fieldTextOf(kinds_[kindOf_[layer]], parallelization)
             : CostModel::text(layer, parallelization);
}

int OwnModel::parse(int layer, const std::string& text) const {
  // Parallelizations on the grid of a field begin with its name, which makes them unambiguous.
  for (int number = static_cast<int>(parallelizations().size()); number < firstBalanced(); ++number)
    if (fault(layer, number).empty() && this->text(layer, number) == text)
      return number;
  if (!text.ends_with(kBalancedEnd))
    return CostModel::parse(layer, text);
  const int balanced = parse(layer, withoutBalanced(text)) + firstBalanced();
  if (const std::string why = fault(layer, balanced); !why.empty())
    throw Error(TENON_ERR_OPTION, fmt::format("layer {} cannot have the parallelization '{}': {}",
                                              names_[layer], text, why));
  return balanced;
}

namespace {

// Whether each process has the same elements in both, possibly on different grids.
bool holdAlike(const Layouts& a, const Layouts& b) {
  return std::ranges::equal(a, b, [](const Layout& one, const Layout& other) {
    if (one == other)
      return true;
    if (one.grid() == other.grid() || one.holdsPartialSums() || other.holdsPartialSums())
      return false;
    const std::vector<int>& ranks = one.grid().ranks();
    return ranks.size() == other.grid().ranks().size() && std::ranges::all_of(ranks, [&](int rank) {
             return other.grid().position(rank) >= 0 &&
                    one.boxOfRank(rank) == other.boxOfRank(rank);
           });
  });
}

} // namespace

bool OwnModel::areAlike(int layer, int parallelization, int other) const {
  const ParallelizedLayer &a = parallelizedLayer(layer, parallelization),
                          &b = parallelizedLayer(layer, other);
  return holdAlike(a.uses, b.uses) && holdAlike(a.outputs, b.outputs);
}

Layouts OwnModel::uses(int layer, int parallelization) const {
  Layouts plain;
  for (const Layout& use : parallelizedLayer(layer, parallelization).uses)
    // The layer adds the halo itself.
    plain.push_back(use.withoutHalos());
  return plain;
}

std::string OwnModel::spatial(int layer) const {
  return spatialLabels(network_.layers[layer]);
}

char OwnModel::channelLabel(int layer) const {
  return tenon::channelLabel(kinds_[kindOf_[layer]].table);
}

Parts OwnModel::parts(int layer, int parallelization) const {
  return existing_.parts(kinds_[kindOf_[layer]], parallelization);
}

} // namespace tenon
