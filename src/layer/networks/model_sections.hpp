// SPDX-License-Identifier: BSD-2-Clause
// Evaluates a model's network and its adjoint with little memory. The nodes are divided into
// consecutive sections; a second instance of each section is created when it is needed, so only one
// section has its parameters in memory at a time. With sections A, B and C:
//
//   forward   A, B            (create, apply, discard)
//   adjoint   C, B, A         (create, apply, adjoint, discard)
#pragma once

#include "layer/networks/model.hpp"

namespace tenon {

class SectionedModel {
public:
  struct How {
    TenonDataType type;
    Space space;
    std::string backend;
    // Largest size in bytes of a section's parameters; a single layer with more is a section of its
    // own.
    Index mostBytes = Index(8) << 20;
  };
  // `network` is the network in the model's file, imported for certain input shapes.
  SectionedModel(const Layer& model, ImportedNetwork network, How how);

  // A function that returns the cotangent of an output; `layout` is the layout of the output.
  using CotangentOf = std::function<Ref<DTensor>(std::size_t output, const Layout& layout)>;
  // A function that is called for each section when the gradients of its parameters are complete.
  using GradientsOf = std::function<void(const ImportedNetwork& section, const Layer& layer)>;
  // Applies the network and its adjoint. Cotangents are computed only for inputs with isWanted, and
  // for values that depend on them. Without cotangentOf the network is only applied. Collective.
  void evaluate(const std::vector<Ref<DTensor>>& x, const std::vector<bool>& isWanted,
                const CotangentOf& cotangentOf, const GradientsOf& gradientsOf = {});
  std::size_t outputCount() const noexcept { return outputs_.size(); }
  const DTensor& output(std::size_t number) const { return *values_[at(outputs_[number])]; }
  const DTensor& cotangent(std::size_t input) const { return *cotangents_[input]; }

private:
  struct Section;

  static std::size_t at(int value) { return static_cast<std::size_t>(value); }
  Ref<DTensor> empty(const Layout& layout) const;
  Section section(std::size_t number, bool isFrozen) const;
  void apply(const Section& section);
  void markWanted(const Section& section);
  void addCotangent(int value, const Ref<DTensor>& more);
  void applyAdjoint(const Section& section);

  const Layer& model_;
  const ImportedNetwork network_;
  const How how_;
  const std::vector<int> starts_;  // first node of each section, and the end
  const std::vector<int> outputs_; // the values that are outputs
  // By value of the network: its tensor and its cotangent, if the value is an input, an output, or
  // passed from one section to another.
  std::vector<Ref<DTensor>> values_, cotangents_;
  std::vector<bool> isWanted_; // by value: whether its cotangent is needed
};

} // namespace tenon
