// SPDX-License-Identifier: BSD-2-Clause
// Makes the forms of layers under their parallelizations, or finds why a layer cannot have one
// (layer_parallelizations.hpp). The declaration of a layer makes the form from the layouts of its
// inputs and the signature; nothing here depends on the type of the layer:
//
//     number -> rows of the signature table -> layouts of the inputs -> form -> outputs
//
// Most parallelizations of a large grid are impossible. Faults that need no form are found first.
#include "planner/parallelizations/layer_parallelizations.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// The fault of a layout in which a process has no elements; empty if there is none.
std::string emptyPart(const Layout& layout, const char* what) {
  for (int d = 0; d < layout.ndim(); ++d) {
    const std::vector<Index>& cuts = layout.cuts(d);
    if (std::adjacent_find(cuts.begin(), cuts.end()) != cuts.end())
      return fmt::format("dimension {} of its {} has {} elements, of which {} processes cannot all "
                         "have some",
                         d, what, layout.shape()[d], layout.parts(d));
  }
  return {};
}

// Whether the layer is distributed like the field on all axes.
bool keepsField(const FieldParallelization& parallelization) {
  return parallelization.labels.find_first_not_of('k') == std::string::npos;
}

} // namespace

LayerParallelizations::LayerParallelizations(const DeclaredNetwork& network, FineGrid grid,
                                             bool inputChannels, const PinnedLayouts& pinned)
    : fineGrid_(std::move(grid)), grid_(fineGrid_.grid()),
      onFineGrid_(fineGrid_.parallelizations(inputChannels)) {
  addNativeLayouts(network, pinned);
  const std::optional<Layout> input = pinned.inputs.empty() ? std::nullopt : pinned.inputs.front();
  if (input)
    addField("input", *input, inputChannels);
  if (pinned.output)
    addField("output", *pinned.output, inputChannels);
  for (const ListedField& listed : listedFields(network, natives_, {input, pinned.output}))
    addField(listed.name, listed.layout, inputChannels);
}

// The layouts that all layers have in a network with lists of a mesh, which follow from the inputs.
void LayerParallelizations::addNativeLayouts(const DeclaredNetwork& network,
                                             const PinnedLayouts& pinned) {
  if (!network.hasLists)
    return;
  Layouts inputs;
  for (const std::optional<Layout>& input : pinned.inputs) {
    if (!input)
      throw Error(
          TENON_ERR_STATE,
          fmt::format("input {} of the network has no layout; layers with lists of a mesh or "
                      "with rows of points cannot be planned without one. Pass the layouts of "
                      "all inputs to TenonPlanSetInput()",
                      inputs.size()));
    inputs.push_back(*input);
  }
  natives_ = nativeLayouts(network, inputs);
}

// Input and output of a network often have the same grid and properties, and then the same
// parallelizations.
void LayerParallelizations::addField(const std::string& name, const Layout& layout,
                                     bool inputChannels) {
  if (std::ranges::any_of(fields_, [&](const Field& field) { return field.isLike(layout); }))
    return;
  const int number = static_cast<int>(fields_.size());
  for (std::string& labels : fields_.emplace_back(name, layout).parallelizations(inputChannels))
    onFields_.push_back({.field = number, .labels = std::move(labels)});
}

const FieldParallelization* LayerParallelizations::onField(int number) const {
  const int fine = static_cast<int>(onFineGrid_.size());
  return aligned(number) < fine ? nullptr : &onFields_[aligned(number) - fine];
}

// A layer with lists has the layouts of the lists, which exist on the grid of an unchanged field.
bool LayerParallelizations::followsLists(const LayerKind& kind, int number) const {
  const FieldParallelization* onField = this->onField(number);
  return onField && kind.isListed() && !isBalanced(number) && keepsField(*onField) &&
         fields_[onField->field].isLike(kind.native->uses.front());
}

LayerKind LayerParallelizations::kindOf(const DeclaredNetwork& network, int layer) const {
  const DeclaredLayer& declared = network.layers[layer];
  return {.layer = &declared,
          .native = natives_.empty() ? nullptr : &natives_[layer],
          .table = declared.declaration->rows(declared.inputs)};
}

void LayerParallelizations::addNext(LayerKind& kind, const VisitForms& visit) {
  const int number = static_cast<int>(kind.parallelizations.size());
  ParallelizedLayer next{.isBalanced = isBalanced(number)};
  try {
    // A declaration throws an error if the layer cannot have the parallelization. The text of the
    // error is the fault.
    std::vector<Form> forms;
    next.fault = addForms(kind, number, next, forms);
    if (next.fault.empty()) {
      visit(forms);
      learn(number, next.outputs);
    }
  } catch (const Error& error) {
    next.fault = error.text();
  }
  kind.parallelizations.push_back(std::move(next));
}

// Makes the forms of the layer and of its dependents, or returns the fault.
std::string LayerParallelizations::addForms(const LayerKind& kind, int number,
                                            ParallelizedLayer& parallelized,
                                            std::vector<Form>& forms) const {
  const DeclaredLayer& layer = *kind.layer;
  if (std::string fault = faultBeforeRows(kind, number); !fault.empty())
    return fault;
  const bool isListed = followsLists(kind, number);
  SignatureRows rows;
  if (std::string fault = rowsOf(kind, number, rows); !fault.empty() && !isListed)
    return fault;
  if (std::string fault = faultOfChannels(layer, number); !fault.empty())
    return fault;
  Layouts inputs;
  if (std::string fault = addInputs(kind, number, rows, inputs); !fault.empty())
    return fault;
  const FieldParallelization* onField = this->onField(number);
  if (!isListed)
    parallelized.signature = signatureOf(rows, onField ? 0 : onFineGrid(number).space);
  Choice choice{.labels = parallelized.signature};
  if (!isListed)
    choice.grid = onField ? fields_[onField->field].grid() : grid_;
  if (parallelized.isBalanced)
    choice.cuts = OutputCuts::Balanced;
  const Form& form = forms.emplace_back(layer.declaration->form(inputs, choice));
  for (const ParameterForm& parameter : form.parameters)
    if (std::string fault = emptyPart(parameter.use, "weights"); !fault.empty())
      return fault;
  if (std::string fault = emptyPart(form.output, "output");
      !fault.empty() && !mayHaveEmptyParts(kind, number))
    return fault;
  parallelized.uses = form.uses;
  // Links fill halos within the layer.
  if (form.links)
    parallelized.uses.front() = form.uses.front().withoutHalos();
  parallelized.outputs = {form.output};
  // As in a run without a plan, a dependent uses the signature that leaves its input in place, or
  // converts the input if no signature does.
  for (const DependentLayer& dependent : layer.dependents) {
    const Layouts read = {parallelized.outputs[dependent.reads]};
    parallelized.outputs.push_back(
        forms.emplace_back(dependent.declaration->form(read, {})).output);
  }
  return {};
}

// The faults that are known without a row of the signature table.
std::string LayerParallelizations::faultBeforeRows(const LayerKind& kind, int number) const {
  if (isBalanced(number))
    if (std::string fault = faultOfBalance(kind, aligned(number)); !fault.empty())
      return fault;
  if (kind.isListed() && !followsLists(kind, number))
    return "it lies as the lists of the mesh say";
  return {};
}

// Why a layer has no second parallelization with an evenly divided output. A plan does not override
// settings of the user.
std::string LayerParallelizations::faultOfBalance(const LayerKind& kind, int number) const {
  const Declaration& declaration = *kind.layer->declaration;
  if (!declaration.settings().has("output_cuts"))
    return "its output is not that of sliding windows";
  if (declaration.isSet("output_cuts"))
    return "its setting output_cuts is set";
  const ParallelizedLayer& aligned = kind.parallelizations[number];
  if (!aligned.fault.empty())
    return aligned.fault;
  LayoutSpec spec = aligned.outputs.front().spec();
  for (std::size_t d = 0; d < spec.cuts.size(); ++d)
    if (splitsSpace(Property::shard(static_cast<int>(d))))
      spec.cuts[d].clear();
  return Layout(std::move(spec)) == aligned.outputs.front()
             ? "its output is cut in balance without it"
             : "";
}

// The output has no layout yet, but its channels are known.
std::string LayerParallelizations::faultOfChannels(const DeclaredLayer& layer, int number) const {
  if (onField(number))
    return {};
  const Parts all = fineGrid_.parts(onFineGrid(number), layer.splitDims);
  return all.channels > layer.maxChannels * all.inputs
             ? fmt::format("{} output channels have no {} parts", layer.maxChannels,
                           all.channels / all.inputs)
             : "";
}

// A solver can have processes without elements, on which a layer has none either.
bool LayerParallelizations::mayHaveEmptyParts(const LayerKind& kind, int number) const {
  const FieldParallelization* onField = this->onField(number);
  return onField && (fields_[onField->field].hasEmptyParts() || kind.native);
}

std::string LayerParallelizations::rowsOf(const LayerKind& kind, int number,
                                          SignatureRows& rows) const {
  const FieldParallelization* onField = this->onField(number);
  return onField ? findRows(*kind.layer, kind.table, fields_[onField->field], onField->labels, rows)
                 : findRows(*kind.layer, kind.table, fineGrid_.axes(), onFineGrid(number), rows);
}

// Adds the layouts in which the inputs are read, without halos, or returns the fault.
std::string LayerParallelizations::addInputs(const LayerKind& kind, int number,
                                             const SignatureRows& rows, Layouts& inputs) const {
  const bool isListed = followsLists(kind, number);
  for (std::size_t input = 0; input < kind.layer->inputs.size(); ++input) {
    inputs.push_back(isListed ? kind.native->uses[input] : inputLayout(kind, number, rows, input));
    if (std::string fault = emptyPart(inputs.back(), "input");
        !fault.empty() && !mayHaveEmptyParts(kind, number))
      return fault;
  }
  return {};
}

// The layout in which an input is read, without halos. On a field's grid it has the split points of
// the field where they apply. On the fine grid dimensions are divided evenly, and the axes that
// split space are listed from the last one, which makes the last axis the major one.
Layout LayerParallelizations::inputLayout(const LayerKind& kind, int number,
                                          const SignatureRows& rows, std::size_t input) const {
  Properties properties;
  for (const SignatureRow* row : rows)
    properties.push_back(row->inputs[std::min(input, row->inputs.size() - 1)]);
  const Shape& shape = kind.layer->inputs[input];
  if (const FieldParallelization* onField = this->onField(number))
    return fields_[onField->field].layout(shape, properties,
                                          kind.native ? &kind.native->uses[input] : nullptr);
  LayoutSpec spec{.shape = shape, .grid = grid_, .properties = std::move(properties)};
  spec.splitAxes.resize(shape.size());
  for (int axis = 0; axis < fineGrid_.axes(); ++axis) {
    const Property property = spec.properties[axis];
    if (!property.isShard())
      continue;
    std::vector<int>& axes = spec.splitAxes[property.dim];
    const bool isFromLast = axis >= fineGrid_.axes() - onFineGrid(number).space;
    axes.insert(isFromLast ? axes.begin() : axes.end(), axis);
  }
  return Layout(std::move(spec));
}

// An output that is distributed like the field defines split points for its extents.
// Parallelizations that change least come first, and the others find these split points.
void LayerParallelizations::learn(int number, const Layouts& outputs) {
  const FieldParallelization* onField = this->onField(number);
  if (onField && !isBalanced(number) && keepsField(*onField))
    for (const Layout& output : outputs)
      fields_[onField->field].learn(output);
}

std::string LayerParallelizations::fieldTextOf(const LayerKind& kind, int number) const {
  const FieldParallelization& onField = *this->onField(number);
  const Field& field = fields_[onField.field];
  if (followsLists(kind, number))
    return fmt::format("{}:{}", field.name(), kListedEnd);
  SignatureRows rows;
  // A parallelization that the layer cannot have is named by its labels on the field's axes.
  if (!rowsOf(kind, number, rows).empty())
    return fmt::format("{}:{}", field.name(), onField.labels);
  return fieldText(field.name(), signatureOf(rows), *field.grid());
}

Parts LayerParallelizations::parts(const LayerKind& kind, int number) const {
  return onField(number) ? partsOnField(kind, number)
                         : fineGrid_.parts(onFineGrid(number), kind.layer->splitDims);
}

// On the grid of a field, an axis counts by its effect on the layer, not by its property in the
// field.
Parts LayerParallelizations::partsOnField(const LayerKind& kind, int number) const {
  const ParallelizedLayer& parallelized = kind.parallelizations[number];
  Parts parts{.spatial = std::vector<Index>(kind.layer->splitDims, 1)};
  if (kind.isListed()) {
    parts.batch = parallelized.fault.empty() ? parallelized.outputs.front().grid().size() : 1;
    return parts;
  }
  SignatureRows rows;
  rowsOf(kind, number, rows);
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

} // namespace tenon
