// SPDX-License-Identifier: BSD-2-Clause
// Tenon's own prices: of the forms that would run and of what would flow between them.
//
//    layer   kernels forward and adjoint, by their operations at a rate; the gradients' conversions from
//            use* to use; a move of the network's input, free but for its halo
//    move    conversion of the writer's output to the reader's use, halo included, and its adjoint
//    bytes   of parameters, their gradients and one state of the optimizer, and of inputs and outputs
//
// The prices are those of machine/price.hpp. Those of moves look at position 0, whose parts are the largest
// of balanced ones: a lower bound, and nearly always exact. exactMoveSeconds() looks at all positions.
//
// A word needs a row of the layer's table for each letter, found by what it does: n splits dimension 0 of
// the output, o dimension 1; i splits dimension 1 of the input and leaves addends. No layer's knowledge is
// here.
#pragma once

#include "geometry/mesh.hpp"
#include "machine/price.hpp"
#include "planner/cost_model.hpp"
#include "planner/declared_network.hpp"

#include <map>
#include <optional>
#include <unordered_map>

namespace tenon {

struct OwnRates {
  LinkRates links;
  double flops = 5e10; // operations a second of one process
};

class OwnModel : public CostModel {
public:
  OwnModel(DeclaredNetwork network, FineMesh mesh, OwnRates rates, bool inputChannels = true);

  char channelLabel(int layer) const override;
  std::string signature(int layer, int word) const override {
    return placed(layer, word).signature;
  }
  std::string spatial(int layer) const override;
  Parts parts(int layer, int word) const override;
  std::string fault(int layer, int word) const override { return placed(layer, word).fault; }
  double layerSeconds(int layer, int word) const override { return placed(layer, word).seconds; }
  double layerBytes(int layer, int word) const override { return placed(layer, word).bytes; }
  double moveSeconds(int move, int from, int to) const override;
  double exactMoveSeconds(int move, int from, int to) const override;
  double closerMoveSeconds(int move, int from, int to, double known) const override;

private:
  // A layer under a word.
  struct Placed {
    std::optional<Form> form;
    Layouts outputs; // the layer's, and those of its followers
    std::string signature, fault;
    double seconds = 0, bytes = 0;
  };
  // Layers that differ in nothing but their names.
  struct Kind {
    const DeclaredLayer* layer = nullptr;
    SignatureTable rows;
    std::vector<Placed> words;
  };
  // Layouts by word; -1 where there is none.
  struct Ends {
    std::vector<int> sources, targets;
  };
  using Prices = std::unordered_map<std::uint64_t, double>; // by the numbers of two layouts

  const Placed& placed(int layer, int word) const { return kinds_[kindOf_[layer]].words[word]; }
  Placed place(const Kind& kind, const Word& word) const;
  const SignatureRow* rowOf(const Kind& kind, const Word& word, int axis) const;
  Layout inputLayout(const Kind& kind, const Word& word,
                     const std::vector<const SignatureRow*>& rows, std::size_t input) const;
  std::string addForm(const Kind& kind, const Word& word, Placed& placed) const;
  void addCosts(const DeclaredLayer& layer, Placed& placed) const;
  double kernelSeconds(const DeclaredLayer& layer, const Form& form) const;
  void follow(const DeclaredLayer& layer, Placed& placed) const;
  double inputSeconds(const DeclaredLayer& layer, const Form& form) const;
  void addKinds();
  Ends endsOf(const DeclaredMove& move);
  int numberOfLayout(Layout layout);
  double price(Prices& known, int move, int from, int to, Looks looks) const;

  DeclaredNetwork network_;
  OwnRates rates_;
  MeshPtr grid_;
  std::vector<int> kindOf_; // by layer
  std::vector<Kind> kinds_;
  std::vector<Layout> layouts_; // each once
  std::map<std::pair<Shape, std::string>, std::vector<int>> layoutsLike_;
  std::vector<Ends> ends_; // by move
  mutable Prices prices_, sampledPrices_, exactPrices_;
};

} // namespace tenon
