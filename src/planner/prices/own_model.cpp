// SPDX-License-Identifier: BSD-2-Clause
// Prices the forms of layers (the layouts that would run) under each parallelization, and the
// conversions between them. A parallelization has a number, a state of the search. The constructor
// prices layers, once for all that differ only in name. Moves are priced on request and cached.
#include "planner/prices/own_model.hpp"

#include "geometry/layout/layout.hpp"
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

// The fault of a layout in which a process has no elements; empty if there is none.
std::string emptyPart(const Layout& layout, const char* what) {
  for (int d = 0; d < layout.rank(); ++d) {
    const std::vector<Index>& cuts = layout.cuts(d);
    if (std::adjacent_find(cuts.begin(), cuts.end()) != cuts.end())
      return fmt::format("dimension {} of its {} has {} elements, of which {} processes cannot all "
                         "have some",
                         d, what, layout.shape()[d], layout.parts(d));
  }
  return {};
}

} // namespace

OwnModel::OwnModel(DeclaredNetwork network, FineGrid grid, OwnRates rates, bool inputChannels,
                   OwnTask task)
    : CostModel(std::move(grid), inputChannels), network_(std::move(network)),
      rates_(std::move(rates)), bestLinks_(bestLinks(rates_.links)), task_(std::move(task)),
      grid_(this->grid().grid()), conversions_(rates_.links, grid_->size(), grid_) {
  // Grids of pinned ends come first: they determine the number of parallelizations. Layers are in
  // network order: their split points on such a grid come from the layers before them.
  addNativeLayouts();
  addFields(inputChannels);
  for (const DeclaredLayer& layer : network_.layers)
    names_.push_back(layer.name);
  addKinds();
  for (const DeclaredMove& move : network_.moves) {
    moves_.push_back({move.from, move.to});
    ends_.push_back(endsOf(move));
  }
  addPinnedEnds();
  findAlike();
}

// Finds, for each move, the first one with the same ends, whose prices it shares.
void OwnModel::findAlike() {
  for (Ends& ends : ends_) {
    const auto isLike = [&](const Ends& other) {
      return &other == &ends || (other.sources == ends.sources && other.targets == ends.targets &&
                                 other.weight == ends.weight && other.back == ends.back);
    };
    ends.firstLike = static_cast<int>(std::ranges::find_if(ends_, isLike) - ends_.begin());
  }
}

// The layouts that all layers have in a network with lists of a mesh, which follow from the inputs.
void OwnModel::addNativeLayouts() {
  if (!network_.hasLists)
    return;
  Layouts inputs;
  const auto add = [&](const std::optional<Layout>& pinned) {
    if (!pinned)
      throw Error(
          TENON_ERR_STATE,
          fmt::format("input {} of the network has no layout; layers with lists of a mesh or "
                      "with rows of points cannot be planned without one. Pass the layouts of "
                      "all inputs to TenonPlanSetInput()",
                      inputs.size()));
    inputs.push_back(*pinned);
  };
  add(task_.input);
  for (const std::optional<Layout>& further : task_.furtherInputs)
    add(further);
  natives_ = nativeLayouts(network_, inputs);
}

void OwnModel::addFields(bool inputChannels) {
  // Input and output of a network often have the same grid and properties, and then the same
  // parallelizations.
  const auto add = [&](const std::string& name, const std::optional<Layout>& pinned) {
    if (!pinned ||
        std::any_of(fields_.begin(), fields_.end(), [&](Field& f) { return f.isLike(*pinned); }))
      return;
    for (std::string& labels : fields_.emplace_back(name, *pinned).parallelizations(inputChannels))
      fieldParallelizations_.push_back({static_cast<int>(fields_.size()) - 1, std::move(labels)});
  };
  add("input", task_.input);
  add("output", task_.output);
  for (const ListedField& listed : listedFields(network_, natives_, {task_.input, task_.output}))
    add(listed.name, listed.layout);
}

// Prices the layers under all parallelizations; those that differ only in names are one Kind.
void OwnModel::addKinds() {
  std::map<std::string, int> known;
  std::vector<std::vector<Saved>> saved;
  const auto nativeLayoutsOf = [&](const DeclaredLayer& layer) {
    return natives_.empty() ? nullptr : &natives_[&layer - network_.layers.data()];
  };
  for (const DeclaredLayer& layer : network_.layers)
    saved.push_back(savedOf(layer, nativeLayoutsOf(layer)));
  const auto readSaved = findReadSaved(saved);
  for (const DeclaredLayer& layer : network_.layers) {
    const auto number = static_cast<std::size_t>(&layer - network_.layers.data());
    // Networks repeat their layers, and forms are expensive. The key contains everything on which
    // the price of a layer depends, so layers with equal keys are priced once.
    std::string key = fmt::format("{} {} {} {}", layer.declaration->agreedText(), layer.splitDims,
                                  layer.maxChannels, layer.readsInput);
    key += layer.frozen ? " frozen" : "";
    for (const Shape& input : layer.inputs)
      key += fmt::format(" [{}]", fmt::join(input, ","));
    for (const DependentLayer& dependent : layer.dependents)
      key += fmt::format("; {} of {}", dependent.declaration->agreedText(), dependent.reads);
    // Layers of a network with lists also differ in their native layouts. Their text omits only the
    // split points, which the number of the layout identifies.
    if (const NativeLayouts* native = nativeLayoutsOf(layer))
      for (const Layouts& all : {native->uses, native->outputs})
        for (const Layout& layout : all)
          key += fmt::format("; {} {}", layout.describe(), numberOfLayout(layout));
    for (const bool isSaved : readSaved[number])
      key += isSaved ? " kept" : " read";
    const auto [entry, isNew] = known.emplace(key, static_cast<int>(kinds_.size()));
    kindOf_.push_back(entry->second);
    if (!isNew)
      continue;
    Kind kind{.layer = &layer,
              .native = nativeLayoutsOf(layer),
              .table = layer.declaration->rows(layer.inputs),
              .saved = saved[number],
              .readIsSaved = readSaved[number],
              .parallelizations = {}};
    for (int parallelization = 0; parallelization < states(); ++parallelization)
      kind.parallelizations.push_back(place(kind, parallelization));
    kinds_.push_back(std::move(kind));
  }
}

// Adds a pinned end of the network as a layer with a single parallelization, the first. It costs
// nothing itself, but the moves from and to it do.
int OwnModel::addPinnedEnd(std::string name, const Layout& layout) {
  Kind kind;
  for (int parallelization = 0; parallelization < states(); ++parallelization)
    kind.parallelizations.push_back({.uses = {layout},
                                     .outputs = {layout},
                                     .signature = {},
                                     .fault = parallelization == 0 ? "" : "pinned"});
  kindOf_.push_back(static_cast<int>(kinds_.size()));
  kinds_.push_back(std::move(kind));
  names_.push_back(std::move(name));
  return layers() - 1;
}

void OwnModel::addPinnedEnds() {
  const auto add = [&](const DeclaredMove& move, bool backward) {
    moves_.push_back({move.from, move.to});
    Ends& ends = ends_.emplace_back(endsOf(move));
    // Unlike moves inside the network, this one happens in every step of a solver, even in steps
    // that do not evaluate the network.
    ends.weight = 1;
    // The user need not request the input's cotangent; the output's always comes from the loss.
    ends.back = backward && trains();
  };
  const auto check = [](const char* name, const Layout& pinned, const Shape& shape) {
    if (pinned.shape() != shape)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the pinned layout of the {} has shape [{}], but that of the network is [{}]",
                      name, fmt::join(pinned.shape(), ","), fmt::join(shape, ",")));
  };
  std::vector<std::optional<Layout>> inputs = {task_.input};
  inputs.insert(inputs.end(), task_.furtherInputs.begin(), task_.furtherInputs.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i])
      continue;
    const int end =
        addPinnedEnd(i == 0 ? "pinned input" : fmt::format("pinned input {}", i), *inputs[i]);
    for (const DeclaredMove& move : network_.reads)
      if (move.source == static_cast<int>(i)) {
        check("input", *inputs[i], move.shape);
        add({end, move.to, move.input, move.shape, 0}, task_.inputCotangent);
      }
  }
  if (task_.output) {
    const DeclaredMove& last = network_.result;
    check("output", *task_.output, last.shape);
    add({last.from, addPinnedEnd("pinned output", *task_.output), 0, last.shape, last.output},
        true);
  }
}

int OwnModel::firstExtra() const {
  return static_cast<int>(parallelizations().size() + fieldParallelizations_.size());
}

const FieldParallelization* OwnModel::fieldParallelization(int parallelization) const {
  const int fine = static_cast<int>(parallelizations().size()),
            plain = plainParallelization(parallelization);
  return plain < fine ? nullptr : &fieldParallelizations_[plain - fine];
}

std::string OwnModel::text(int layer, int parallelization) const {
  if (parallelization != plainParallelization(parallelization))
    return text(layer, plainParallelization(parallelization)) + std::string(kBalancedEnd);
  const FieldParallelization* own = fieldParallelization(parallelization);
  if (!own)
    return CostModel::text(layer, parallelization);
  const Field& field = fields_[own->field];
  const Kind& kind = kinds_[kindOf_[layer]];
  if (usesListLayout(kind, parallelization))
    return fmt::format("{}:{}", field.name(), kListedEnd);
  SignatureRows rows;
  // A parallelization that the layer cannot have is named by its labels on the field's axes.
  if (!rowsOf(kind, parallelization, rows).empty())
    return fmt::format("{}:{}", field.name(), own->labels);
  return fieldText(field.name(), signatureOf(rows), *field.grid());
}

int OwnModel::parse(int layer, const std::string& text) const {
  // Parallelizations on the grid of a field begin with its name, which makes them unambiguous.
  for (int parallelization = static_cast<int>(parallelizations().size());
       parallelization < firstExtra(); ++parallelization)
    if (fault(layer, parallelization).empty() && this->text(layer, parallelization) == text)
      return parallelization;
  if (!text.ends_with(kBalancedEnd))
    return CostModel::parse(layer, text);
  const int parallelization = parse(layer, withoutBalanced(text)) + firstExtra();
  if (const std::string& why = placed(layer, parallelization).fault; !why.empty())
    throw Error(TENON_ERR_OPTION, fmt::format("layer {} cannot have the parallelization '{}': {}",
                                              names_[layer], text, why));
  return parallelization;
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
  const ParallelizedLayer &a = placed(layer, parallelization), &b = placed(layer, other);
  return holdAlike(a.uses, b.uses) && holdAlike(a.outputs, b.outputs);
}

Layouts OwnModel::uses(int layer, int parallelization) const {
  Layouts plain;
  for (const Layout& use : placed(layer, parallelization).uses)
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
  const DeclaredLayer& requested = network_.layers[layer];
  if (!fieldParallelization(parallelization))
    return grid().parts(parallelizations()[plainParallelization(parallelization)],
                        requested.splitDims);
  // On the grid of a field, an axis counts by its effect on the layer, not by its property in the
  // field.
  const ParallelizedLayer& parallelized = placed(layer, parallelization);
  if (!natives_.empty() && requested.declaration->dependsOnRowDistribution())
    return {.batch = parallelized.fault.empty() ? parallelized.outputs.front().grid().size() : 1,
            .spatial = std::vector<Index>(requested.splitDims, 1)};
  Parts parts{.spatial = std::vector<Index>(requested.splitDims, 1)};
  SignatureRows rows;
  rowsOf(kinds_[kindOf_[layer]], parallelization, rows);
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    const Property output = rows[axis]->output;
    const Index extent = parallelized.outputs.front().grid().extent(static_cast<int>(axis));
    if (output == Property::shard(0))
      parts.batch *= extent;
    else if (splitsSpace(output)) {
      parts.space *= extent;
      if (const std::size_t d = spatialNumber(output); d < parts.spatial.size())
        parts.spatial[d] *= extent;
    } else if (output.isShard() || rows[axis]->inputs.front() == Property::shard(1)) {
      parts.channels *= extent;
      parts.inputs *= output.isShard() ? 1 : extent;
    }
  }
  return parts;
}

std::string OwnModel::rowsOf(const Kind& kind, int parallelization, SignatureRows& rows) const {
  const FieldParallelization* own = fieldParallelization(parallelization);
  return own ? findRows(*kind.layer, kind.table, fields_[own->field], own->labels, rows)
             : findRows(*kind.layer, kind.table, grid().axes(),
                        parallelizations()[plainParallelization(parallelization)], rows);
}

// The layout in which an input is read, without halos. On a field's grid it has the split points of
// the field where they apply. On the fine grid dimensions are divided evenly, and the axes that
// split space are listed from the last one, which makes the last axis the major one.
Layout OwnModel::inputLayout(const Kind& kind, int parallelization, const SignatureRows& rows,
                             std::size_t input) const {
  Properties properties;
  for (const SignatureRow* row : rows)
    properties.push_back(row->inputs[std::min(input, row->inputs.size() - 1)]);
  const Shape& shape = kind.layer->inputs[input];
  if (const FieldParallelization* own = fieldParallelization(parallelization))
    return fields_[own->field].layout(shape, properties,
                                      kind.native ? &kind.native->uses[input] : nullptr);
  LayoutSpec spec{.shape = shape, .grid = grid_, .properties = std::move(properties)};
  spec.splitAxes.resize(shape.size());
  for (int axis = 0; axis < grid().axes(); ++axis) {
    const Property property = spec.properties[axis];
    if (!property.isShard())
      continue;
    std::vector<int>& axes = spec.splitAxes[property.dim];
    const bool isFromLast =
        axis >= grid().axes() - parallelizations()[plainParallelization(parallelization)].space;
    axes.insert(isFromLast ? axes.begin() : axes.end(), axis);
  }
  return Layout(std::move(spec));
}

OwnModel::ParallelizedLayer OwnModel::place(const Kind& kind, int parallelization) {
  ParallelizedLayer placed;
  try {
    // A declaration throws an error if the layer cannot have the parallelization. The text of the
    // error is the fault.
    placed.fault = addForm(kind, parallelization, placed);
  } catch (const Error& error) {
    placed.fault = error.text();
  }
  return placed;
}

// Why a layer has no second parallelization with an evenly divided output. A plan does not override
// settings of the user.
std::string OwnModel::whyNotBalanced(const Kind& kind, int parallelization) const {
  const Declaration& declaration = *kind.layer->declaration;
  if (!declaration.settings().has("output_cuts"))
    return "its output is not that of sliding windows";
  if (declaration.isSet("output_cuts"))
    return "its setting output_cuts is set";
  const ParallelizedLayer& plain = kind.parallelizations[parallelization];
  if (!plain.fault.empty())
    return plain.fault;
  LayoutSpec spec = plain.outputs.front().spec();
  for (std::size_t d = 0; d < spec.cuts.size(); ++d)
    if (splitsSpace(Property::shard(static_cast<int>(d))))
      spec.cuts[d].clear();
  return Layout(std::move(spec)) == plain.outputs.front()
             ? "its output is cut in balance without it"
             : "";
}

// Makes the form of a layer under a parallelization and adds its costs, or returns the reason why
// the layer cannot have it. Checks that need no form are first, since most parallelizations of a
// large grid fail there.
std::string OwnModel::addForm(const Kind& kind, int parallelization, ParallelizedLayer& placed) {
  const DeclaredLayer& layer = *kind.layer;
  placed.isBalanced = parallelization != plainParallelization(parallelization);
  if (placed.isBalanced)
    if (std::string fault = whyNotBalanced(kind, plainParallelization(parallelization));
        !fault.empty())
      return fault;
  const bool isListed = usesListLayout(kind, parallelization);
  if (kind.native && layer.declaration->dependsOnRowDistribution() && !isListed)
    return "it lies as the lists of the mesh say";
  SignatureRows rows;
  if (std::string fault = rowsOf(kind, parallelization, rows); !fault.empty() && !isListed)
    return fault;
  const FieldParallelization* own = fieldParallelization(parallelization);
  // A solver can have processes without elements, on which a layer has none either.
  const bool mayBeEmpty = own && (fields_[own->field].hasEmptyParts() || kind.native);
  if (!own)
    // The output has no layout yet, but its channels are known.
    if (const Parts all = grid().parts(parallelizations()[plainParallelization(parallelization)],
                                       layer.splitDims);
        all.channels > layer.maxChannels * all.inputs)
      return fmt::format("{} output channels have no {} parts", layer.maxChannels,
                         all.channels / all.inputs);
  Layouts inputs;
  for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
    inputs.push_back(isListed ? kind.native->uses[input]
                              : inputLayout(kind, parallelization, rows, input));
    if (std::string fault = emptyPart(inputs.back(), "input"); !fault.empty() && !mayBeEmpty)
      return fault;
  }
  if (!isListed)
    placed.signature = signatureOf(
        rows, own ? 0 : parallelizations()[plainParallelization(parallelization)].space);
  Choice choice{.labels = placed.signature};
  if (!isListed)
    choice.grid = own ? fields_[own->field].grid() : grid_;
  if (placed.isBalanced)
    choice.cuts = OutputCuts::Balanced;
  const Form form = layer.declaration->form(inputs, choice);
  for (const ParameterForm& parameter : form.parameters)
    if (std::string fault = emptyPart(parameter.use, "weights"); !fault.empty())
      return fault;
  if (std::string fault = emptyPart(form.output, "output"); !fault.empty() && !mayBeEmpty)
    return fault;
  placed.uses = form.uses;
  // Links fill halos within the layer.
  if (form.links)
    placed.uses.front() = form.uses.front().withoutHalos();
  placed.outputs = {form.output};
  addCosts(kind, form, placed);
  // The dependents compute cotangents if the layer reads them: for the gradients of its parameters,
  // or for the layers before it.
  addDependents(kind, wantsCotangent(layer) || !form.parameters.empty(), placed);
  // An output that is distributed like the field defines split points for its extents.
  // Parallelizations that change least come first, so the others find these split points.
  if (own && !placed.isBalanced && own->labels.find_first_not_of('k') == std::string::npos)
    for (const Layout& output : placed.outputs)
      fields_[own->field].learn(output);
  return {};
}

// A layer with lists has the layouts of the lists, which exist on the grid of an unchanged field.
bool OwnModel::usesListLayout(const Kind& kind, int parallelization) const {
  const FieldParallelization* own = fieldParallelization(parallelization);
  return own && kind.native && kind.layer->declaration->dependsOnRowDistribution() &&
         parallelization == plainParallelization(parallelization) &&
         own->labels.find_first_not_of('k') == std::string::npos &&
         fields_[own->field].isLike(kind.native->uses.front());
}

void OwnModel::addListed(const Declaration& declaration, const Form& form, bool hasCotangent,
                         ParallelizedLayer& placed) const {
  if (!declaration.takesLists() && !form.links && !declaration.movesInKernels())
    return;
  const MapList list = declaration.maps(form, declaration.storageLayouts(form));
  for (const KernelEntry& kernel : list.kernels())
    for (const OwnMove& move : kernel.moves) {
      const OperatorEntry& op = list.operators()[move.op];
      placed.moves.push_back({&LayerParts::forward, op.from, op.to, move.inApply});
      if (trains() && hasCotangent)
        placed.moves.push_back({&LayerParts::backward, op.from, op.to, move.inAdjoint});
    }
  for (const OperatorEntry& op : list.operators()) {
    if (!goesByLists(op))
      continue;
    placed.listed.push_back({&LayerParts::forward, op, false});
    if (trains() && hasCotangent)
      placed.listed.push_back({&LayerParts::backward, op, true});
  }
}

double OwnModel::conversionSeconds(const Layout& from, const Layout& to, Sampling sampling) const {
  return conversions_.seconds(from, to, network_.elementBytes, sampling);
}

void OwnModel::addCosts(const Kind& kind, const Form& form, ParallelizedLayer& placed) const {
  const DeclaredLayer& layer = *kind.layer;
  addKernels(*layer.declaration, form, wantsCotangent(layer), placed);
  addListed(*layer.declaration, form, wantsCotangent(layer), placed);
  // An input that is not pinned is available in any layout: only its halo is communicated.
  if (const Layout& use = form.uses.front(); layer.readsInput && !task_.input && use.hasHalos())
    placed.moves.push_back({&LayerParts::forward, use.withoutHalos(), use});
  for (const ParameterForm& parameter : form.parameters) {
    if (trains() && !layer.frozen)
      // Reduces the partial sums of the gradient of a weight that processes share.
      placed.moves.push_back({&LayerParts::gradients, parameter.use.dual(), parameter.use});
    placed.bytes += parameterCopies(parameter.use, layer.frozen) * bytesOf(parameter.use);
  }
  if (layer.readsInput)
    placed.bytes += bytesOf(form.uses.front().withoutHalos());
  addSaved(kind.saved.front(), kind.readIsSaved.front(), form, placed);
}

// Adds the costs of the dependents of a layer. As in a run without a plan, each uses the signature
// that leaves its input in place, or converts the input if no signature does.
void OwnModel::addDependents(const Kind& kind, bool hasCotangent, ParallelizedLayer& placed) const {
  for (std::size_t f = 0; f < kind.layer->dependents.size(); ++f) {
    const DependentLayer& dependent = kind.layer->dependents[f];
    const Layout read = placed.outputs[dependent.reads];
    const Form form = dependent.declaration->form({read}, {});
    const Layout use = form.links ? form.uses.front().withoutHalos() : form.uses.front();
    addKernels(*dependent.declaration, form, hasCotangent, placed);
    addListed(*dependent.declaration, form, hasCotangent, placed);
    placed.moves.push_back({&LayerParts::forward, read, use});
    if (trains() && hasCotangent)
      placed.moves.push_back({&LayerParts::backward, use.dual(), read.dual()});
    addSaved(kind.saved[f + 1], kind.readIsSaved[f + 1], form, placed);
    placed.outputs.push_back(form.output);
  }
}

bool OwnModel::wantsCotangent(const DeclaredLayer& layer) const {
  // The data on which a network is trained has no cotangent, but the field of a solver can have
  // one.
  return !layer.readsInput || (task_.input && task_.inputCotangent);
}

void OwnModel::addKernels(const Declaration& layer, const Form& form, bool hasCotangent,
                          ParallelizedLayer& placed) const {
  const KernelCost cost =
      kernelCost(layer, form, hasCotangent, network_.elementBytes, rates_.kernels);
  placed.kernels.forward += cost.applySeconds;
  placed.kernels.backward += trains() ? cost.adjointSeconds : 0;
}

OwnModel::Ends OwnModel::endsOf(const DeclaredMove& move) {
  Ends ends;
  // Seconds are per step of the solver, and several steps share an evaluation.
  ends.weight = 1 / static_cast<double>(task_.stepsPerEvaluation);
  ends.back = trains();
  ends.sources = layoutsOf(move.from, /*isSource=*/true, move.output, move.shape);
  ends.targets = layoutsOf(move.to, /*isSource=*/false, move.input, move.shape);
  return ends;
}

const std::vector<int>& OwnModel::layoutsOf(int layer, bool isSource, int place,
                                            const Shape& shape) {
  const auto [entry, isNew] = layoutsOf_.try_emplace({kindOf_[layer], isSource, place, shape});
  for (int parallelization = 0; isNew && parallelization < states(); ++parallelization) {
    const ParallelizedLayer& own = placed(layer, parallelization);
    const Layouts& layouts = isSource ? own.outputs : own.uses;
    entry->second.push_back(own.fault.empty() ? numberOfLayout(onShape(layouts[place], shape))
                                              : -1);
  }
  return entry->second;
}

int OwnModel::numberOfLayout(Layout layout) {
  // Thousands of layouts are requested, so they are compared in full only with those of the same
  // shape and properties.
  std::vector<int>& alike = layoutsLike_[{layout.shape(), describe(layout.properties())}];
  for (int known : alike)
    if (layouts_[known] == layout)
      return known;
  alike.push_back(static_cast<int>(layouts_.size()));
  duals_.push_back(layout.dual());
  parts_.emplace_back(layout);
  dualParts_.emplace_back(duals_.back());
  layouts_.push_back(std::move(layout));
  return alike.back();
}

double OwnModel::price(Prices& known, int move, int from, int to, Sampling sampling) const {
  const Ends& ends = ends_[move];
  // The price depends on two layouts only, so moves with the same layouts share it. The weight
  // depends on the move.
  const auto source = std::uint64_t(ends.sources[from]), target = std::uint64_t(ends.targets[to]);
  const auto [entry, isNew] =
      known.try_emplace(source << 32 | target << 1 | std::uint64_t(ends.back), 0.0);
  if (isNew) {
    entry->second = conversionSeconds(layouts_[source], layouts_[target], sampling);
    entry->second += priceBack(ends, from, to, sampling);
  }
  return ends.weight * entry->second;
}

// The adjoint of the conversion a -> b is b* -> a*, and is priced like any other conversion.
double OwnModel::priceBack(const Ends& ends, int from, int to, Sampling sampling) const {
  return ends.back
             ? conversionSeconds(duals_[ends.targets[to]], duals_[ends.sources[from]], sampling)
             : 0;
}

LayerParts OwnModel::partsBy(int layer, int parallelization, Sampling sampling) const {
  ParallelizedLayer& placed = kinds_[kindOf_[layer]].parallelizations[parallelization];
  const auto [entry, isNew] = placed.seconds.try_emplace(sampling, placed.kernels);
  LayerParts& parts = entry->second;
  if (isNew) {
    for (const InnerMove& move : placed.moves)
      parts.*move.part += double(move.times) * conversionSeconds(move.from, move.to, sampling);
    for (const ListedMove& move : placed.listed)
      parts.*move.part +=
          priceOfLists(move.op, move.adjoint, network_.elementBytes, rates_.links, sampling);
    const double share = 1 / static_cast<double>(task_.stepsPerEvaluation);
    parts = {share * parts.forward, share * parts.backward, share * parts.gradients};
  }
  return parts;
}

double OwnModel::secondsBy(int layer, int parallelization, Sampling sampling) const {
  const LayerParts parts = partsBy(layer, parallelization, sampling);
  return parts.forward + parts.backward + parts.gradients;
}

LayerParts OwnModel::layerParts(int layer, int parallelization) const {
  return partsBy(layer, parallelization, Sampling::Few);
}

double OwnModel::layerSeconds(int layer, int parallelization) const {
  return secondsBy(layer, parallelization, Sampling::First);
}

double OwnModel::closerLayerSeconds(int layer, int parallelization) const {
  return secondsBy(layer, parallelization, Sampling::Few);
}

double OwnModel::exactLayerSeconds(int layer, int parallelization) const {
  return secondsBy(layer, parallelization, Sampling::All);
}

MoveParts OwnModel::moveParts(int move, int from, int to) const {
  // Both parts must add up to the price that the search used: `there` is the total minus `back`.
  const double all = closerMoveSeconds(move, from, to);
  const double backward = ends_[move].weight * priceBack(ends_[move], from, to, Sampling::Few);
  return {all - backward, backward};
}

double OwnModel::leastMoveSeconds(int move, int from, int to) const {
  const Ends& ends = ends_[move];
  const int source = ends.sources[from], target = ends.targets[to];
  const Index each = network_.elementBytes;
  const bool byPrograms = !rates_.links.levels.empty();
  const auto forward = parts_[source].receivedFor(parts_[target], byPrograms),
             backward = dualParts_[target].receivedFor(dualParts_[source], byPrograms);
  double seconds = leastSecondsOfMove(forward, backward, each, bestLinks_);
  if (ends.back)
    seconds += leastSecondsOfMove(backward, forward, each, bestLinks_);
  return ends.weight * seconds;
}

double OwnModel::moveSeconds(int move, int from, int to) const {
  return price(prices_, move, from, to, Sampling::First);
}

double OwnModel::closerMoveSeconds(int move, int from, int to) const {
  return price(closerPrices_, move, from, to, Sampling::Few);
}

double OwnModel::exactMoveSeconds(int move, int from, int to) const {
  return price(exactPrices_, move, from, to, Sampling::All);
}

} // namespace tenon
