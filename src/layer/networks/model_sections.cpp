// SPDX-License-Identifier: BSD-2-Clause
// Evaluates a network and its adjoint section by section, for the test of an imported model
// (model_proof.cpp). A section is a number of consecutive nodes, as a layer of its own. All
// sections but the last are set up and applied twice: first to compute the inputs of the next
// section, and again directly before their adjoint. In between, only the values that are passed
// between sections are stored, which trades time for memory. Values and cotangents are in tables by
// value number: first the inputs of the network, then the output of each node.
#include "layer/networks/model_sections.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"

#include <algorithm>

namespace tenon {

// A section that is set up for the values that it reads.
struct SectionedModel::Section {
  std::vector<int> reads, gives; // value numbers of its inputs and outputs
  Ref<Layer> layer;
};

SectionedModel::SectionedModel(const Layer& model, ImportedNetwork network, How how)
    : model_(model), network_(std::move(network)), how_(std::move(how)),
      starts_(sectionStarts(network_, how_.mostBytes / dataTypeSize(how_.type))),
      outputs_(outputValues(network_)) {}

Ref<DTensor> SectionedModel::empty(const Layout& layout) const {
  return makeRef<DTensor>(model_.comm(), layout, how_.type, how_.space);
}

// Creates the layer of a section and sets it up for the values that it reads. Collective.
SectionedModel::Section SectionedModel::section(std::size_t number, bool isFrozen) const {
  NetworkSection part = makeSection(network_, starts_[number], starts_[number + 1]);
  Section result{.reads = part.reads, .gives = part.gives, .layer = {}};
  Layouts inputs;
  std::vector<Shape> shapes;
  for (const int value : result.reads) {
    inputs.push_back(values_[at(value)]->layout());
    shapes.push_back(inputs.back().shape());
  }
  result.layer = makeModelSection(model_, std::move(part), std::move(shapes));
  result.layer->setDataType(how_.type);
  result.layer->setSpace(how_.space);
  result.layer->set("backend", how_.backend);
  result.layer->setUp(inputs);
  // Frozen unless gradients are needed: gradients need as much memory as the parameters.
  result.layer->setFrozen(isFrozen);
  return result;
}

void SectionedModel::apply(const Section& section) {
  std::vector<const DTensor*> x;
  std::vector<DTensor*> y;
  for (const int value : section.reads)
    x.push_back(values_[at(value)].get());
  for (std::size_t i = 0; i < section.gives.size(); ++i) {
    Ref<DTensor>& value = values_[at(section.gives[i])];
    // The second application of a section, before its adjoint, reuses the tensors.
    if (!value)
      value = empty(section.layer->outputLayouts()[i]);
    y.push_back(value.get());
  }
  section.layer->apply(Inputs(x.data(), x.size()), Outputs(y.data(), y.size()));
}

// The cotangents of a section's outputs are needed if that of one of its inputs is.
void SectionedModel::markWanted(const Section& section) {
  const bool isWanted =
      std::ranges::any_of(section.reads, [&](int value) { return isWanted_[at(value)]; });
  for (const int value : section.gives)
    isWanted_[at(value)] = isWanted;
}

void SectionedModel::addCotangent(int value, const Ref<DTensor>& contribution) {
  Ref<DTensor>& sum = cotangents_[at(value)];
  if (sum)
    axpby(1, *contribution, 1, *sum);
  else
    sum = contribution;
}

void SectionedModel::applyAdjoint(const Section& section) {
  std::vector<const DTensor*> dy;
  std::vector<Ref<DTensor>> newCotangents;
  std::vector<DTensor*> dx;
  for (const int value : section.gives) {
    Ref<DTensor>& cotangent = cotangents_[at(value)];
    if (!cotangent) { // no reader has contributed a cotangent
      cotangent = empty(values_[at(value)]->layout().dual());
      scaleArray(0, *cotangent);
    }
    dy.push_back(cotangent.get());
  }
  for (const int value : section.reads) {
    newCotangents.push_back(isWanted_[at(value)] ? empty(values_[at(value)]->layout().dual())
                                                 : Ref<DTensor>());
    dx.push_back(newCotangents.back().get());
  }
  section.layer->applyAdjoint(OutputCotangents(dy.data(), dy.size()),
                              InputCotangents(dx.data(), dx.size()));
  for (std::size_t i = 0; i < newCotangents.size(); ++i)
    if (newCotangents[i])
      addCotangent(section.reads[i], newCotangents[i]);
}

void SectionedModel::evaluate(const std::vector<Ref<DTensor>>& x, const std::vector<bool>& isWanted,
                              const CotangentOf& cotangentOf, const GradientsOf& gradientsOf) {
  const std::size_t values = x.size() + network_.graph.nodes.size();
  values_ = x;
  values_.resize(values);
  isWanted_ = isWanted;
  isWanted_.resize(values);
  cotangents_.assign(values, {});
  const std::size_t last = starts_.size() - 2;
  for (std::size_t number = 0; number < last; ++number) {
    const Section current = section(number, /*isFrozen=*/true);
    apply(current);
    markWanted(current);
  }
  for (std::size_t number = last + 1; number-- > 0;) {
    const Section current = section(number, /*isFrozen=*/!gradientsOf);
    apply(current);
    if (!cotangentOf)
      return;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (std::ranges::find(current.gives, outputs_[i]) != current.gives.end())
        addCotangent(outputs_[i], cotangentOf(i, values_[at(outputs_[i])]->layout()));
    applyAdjoint(current);
    if (gradientsOf)
      gradientsOf(modelOf(*current.layer)->network(), *current.layer);
  }
}

} // namespace tenon
