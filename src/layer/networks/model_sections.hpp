// SPDX-License-Identifier: BSD-2-Clause
// A model's network evaluated section by section: another instance of it, of which one section has
// its parameters in memory at a time.
#pragma once

#include "layer/networks/model.hpp"

namespace tenon {

class SectionedModel {
public:
  struct How {
    TenonDataType type;
    Space space;
    std::string backend;
    // So many bytes of parameters of a section, unless one layer has more.
    Index mostBytes = Index(8) << 20;
  };
  // The network of the model's file for some extents, of its inputs.
  SectionedModel(const Layer& model, ImportedNetwork network, How how);

  // The cotangent of an output that lies like this.
  using CotangentOf = std::function<Ref<DTensor>(std::size_t output, const Layout& layout)>;
  // Called for each section once its parameters have their gradients.
  using GradientsOf = std::function<void(const ImportedNetwork& section, const Layer& layer)>;
  // Collective. Applies the network and its adjoint; of the inputs that are not wanted there are no
  // cotangents, and what depends on no others has none.
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
  const std::vector<int> starts_;  // of the sections
  const std::vector<int> outputs_; // the values that are outputs
  // Of each value that lies between sections, the inputs and outputs included.
  std::vector<Ref<DTensor>> values_, cotangents_;
  std::vector<bool> isWanted_; // has a cotangent
};

} // namespace tenon
