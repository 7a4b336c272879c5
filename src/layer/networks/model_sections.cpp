// SPDX-License-Identifier: BSD-2-Clause
// Evaluates a network section by section. All sections but the last are set up and applied twice,
// before the next one and before their adjoint: time for memory, since between the two only what
// lies between sections is held.
#include "layer/networks/model_sections.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"

#include <algorithm>

namespace tenon {

// Set up for the values that it reads.
struct SectionedModel::Section {
  std::vector<int> reads, gives;
  Ref<Layer> layer;
};

SectionedModel::SectionedModel(const Layer& model, ImportedNetwork network, How how)
    : model_(model), network_(std::move(network)), how_(std::move(how)),
      starts_(sectionStarts(network_, how_.mostBytes / dataTypeSize(how_.type))),
      outputs_(outputValues(network_)) {}

Ref<DTensor> SectionedModel::empty(const Layout& layout) const {
  return makeRef<DTensor>(model_.comm(), layout, how_.type, how_.space);
}

SectionedModel::Section SectionedModel::section(std::size_t number, bool isFrozen) const {
  NetworkSection part = makeSection(network_, starts_[number], starts_[number + 1]);
  Section made{part.reads, part.gives, {}};
  Layouts inputs;
  std::vector<Shape> shapes;
  for (const int value : made.reads) {
    inputs.push_back(values_[at(value)]->layout());
    shapes.push_back(inputs.back().shape());
  }
  made.layer = makeModelSection(model_, std::move(part), std::move(shapes));
  made.layer->setDataType(how_.type);
  made.layer->setSpace(how_.space);
  made.layer->set("backend", how_.backend);
  made.layer->setUp(inputs);
  // Gradients of its parameters would be as large as these.
  made.layer->setFrozen(isFrozen);
  return made;
}

void SectionedModel::apply(const Section& section) {
  std::vector<const DTensor*> x;
  std::vector<DTensor*> y;
  for (const int value : section.reads)
    x.push_back(values_[at(value)].get());
  for (std::size_t i = 0; i < section.gives.size(); ++i) {
    Ref<DTensor>& value = values_[at(section.gives[i])];
    if (!value)
      value = empty(section.layer->outputLayouts()[i]);
    y.push_back(value.get());
  }
  section.layer->apply(Inputs(x.data(), x.size()), Outputs(y.data(), y.size()));
}

void SectionedModel::markWanted(const Section& section) {
  const bool isWanted =
      std::ranges::any_of(section.reads, [&](int value) { return isWanted_[at(value)]; });
  for (const int value : section.gives)
    isWanted_[at(value)] = isWanted;
}

void SectionedModel::addCotangent(int value, const Ref<DTensor>& more) {
  Ref<DTensor>& sum = cotangents_[at(value)];
  if (sum)
    axpby(1, *more, 1, *sum);
  else
    sum = more;
}

void SectionedModel::applyAdjoint(const Section& section) {
  std::vector<const DTensor*> dy;
  std::vector<Ref<DTensor>> made;
  std::vector<DTensor*> dx;
  for (const int value : section.gives) {
    Ref<DTensor>& cotangent = cotangents_[at(value)];
    if (!cotangent) { // none of its readers has a cotangent
      cotangent = empty(values_[at(value)]->layout().dual());
      scaleArray(0, *cotangent);
    }
    dy.push_back(cotangent.get());
  }
  for (const int value : section.reads) {
    made.push_back(isWanted_[at(value)] ? empty(values_[at(value)]->layout().dual())
                                        : Ref<DTensor>());
    dx.push_back(made.back().get());
  }
  section.layer->applyAdjoint(OutputCotangents(dy.data(), dy.size()),
                              InputCotangents(dx.data(), dx.size()));
  for (std::size_t i = 0; i < made.size(); ++i)
    if (made[i])
      addCotangent(section.reads[i], made[i]);
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
    const Section one = section(number, true);
    apply(one);
    markWanted(one);
  }
  for (std::size_t number = last + 1; number-- > 0;) {
    const Section one = section(number, !gradientsOf);
    apply(one);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (std::ranges::find(one.gives, outputs_[i]) != one.gives.end())
        addCotangent(outputs_[i], cotangentOf(i, values_[at(outputs_[i])]->layout()));
    applyAdjoint(one);
    if (gradientsOf)
      gradientsOf(modelOf(*one.layer)->network(), *one.layer);
  }
}

} // namespace tenon
