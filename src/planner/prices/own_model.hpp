// SPDX-License-Identifier: BSD-2-Clause
// Tenon's own cost model: it prices what runs. For each layer and parallelization the declaration
// makes the layer's form (layer_parallelizations.hpp), the layouts that would run; the prices are
// those of its kernels and conversions.
//
//    layer   kernels and communication of the layer and its dependents (layer_prices.hpp). The
//            network's input is available in any layout, so only its halo is communicated
//    move    the conversion of the writer's output to the reader's use, halo included, and its
//            adjoint (move_prices.hpp)
//    bytes   the memory of the process that has the most
//
// Elements have the size of the network's data type. Inference has neither adjoints nor gradients
// nor an optimizer state. Prices of kernels are exact at any precision; communication is that of
// some positions of the process grid, of all of them for an exact price.
//
// Memory. The bytes of a layer (layer_bytes.hpp) are its parameters, with what training adds, and
// the activations that an adjoint reads. All other values and cotangents are temporary: layers
// share their memory, which holds the values of the layer that runs, and those that a later layer
// will read. Whole plans are counted like a run (own_memory.cpp).
//
// Pinned ends. If the user fixes the layout of the network's input or output (a pinned end), the
// model contains an additional layer with this layout as its only parallelization. Moves from and
// to this layer are priced like all others.
//
// Lists of a mesh. If layers need lists of a mesh, such as edges and index maps, all inputs of the
// network must be pinned. The lists then determine native layouts for all layers
// (native_layouts.hpp). A layer with lists has only its native layout; the other layers use the
// split points of theirs on that grid.
#pragma once

#include "compile/network/assignment.hpp"
#include "compile/prices/pass_prices.hpp"
#include "declaration/core/halo_sharing.hpp"
#include "planner/parallelizations/layer_parallelizations.hpp"
#include "planner/prices/cost_model.hpp"
#include "planner/prices/layer_bytes.hpp"
#include "planner/prices/layer_prices.hpp"
#include "planner/prices/move_prices.hpp"
#include "planner/prices/run_memory.hpp"

#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace tenon {

// What a plan minimises: the time of a training step, or of an evaluation.
enum class Objective { Training, Inference };

// The purpose of a plan.
struct OwnTask {
  Objective objective = Objective::Training;
  Index optimizerStates = 2; // tensors of optimizer state for a parameter: 2 for adam
  // Steps of a solver for each evaluation of the network. The seconds are per step, and pinned ends
  // are converted in every step.
  Index stepsPerEvaluation = 1;
  // The pinned layouts, and whether training needs the cotangent of a pinned input. Layers can have
  // parallelizations on the process grids of the first input and of the output. Further inputs add
  // no grid.
  std::optional<Layout> input = {}, output = {};
  std::vector<std::optional<Layout>> furtherInputs = {};
  bool inputCotangent = true;
  ScratchOf scratch = {}; // none if the kernels are unknown; scratch memory is then not counted
  Target target = {};     // of the run; on the host windows are computed in pieces (pieces.hpp)
  MovementTarget movement = {};
  Index bucketBytes = 0; // size of a bucket of gradients that are reduced together
  SharedByNode shared = {};
  bool inputChannels = true; // whether they can be split (label i)

  std::vector<std::optional<Layout>> inputs() const; // the first and the further ones
};

// Memory of a process in addition to arrays, measured by tests/bench/plan_memory. Per network: MPI
// and the kernel libraries at their first call, and unused ends of allocations. Per layer: its
// kernels with their machine code, its operators with their schedules, and the steps of passes.
inline constexpr double kOnceBytes = 6 * 0x1p20, kLayerBytes = 128 * 0x1p10;
inline double bytesBesideArrays(std::size_t layers) {
  return kOnceBytes + kLayerBytes * static_cast<double>(layers);
}

// The model of one network on one fine grid.
class OwnModel : public CostModel {
public:
  // Throws TENON_ERR_SHAPE for a pinned layout of the wrong shape, and TENON_ERR_STATE if a network
  // with lists has an input that is not pinned.
  OwnModel(DeclaredNetwork network, FineGrid grid, OwnRates rates, OwnTask task = {});

  int parallelizationCount() const override { return existing_.count(); }
  int firstBalanced() const override { return existing_.firstBalanced(); }
  std::string fault(int layer, int parallelization) const override {
    return parallelizedLayer(layer, parallelization).fault;
  }
  bool isPinned(int layer) const override { return layer >= plannedLayers(); }
  bool areAlike(int layer, int parallelization, int other) const override;
  Parts parts(int layer, int parallelization) const override;
  std::string spatial(int layer) const override;
  char channelLabel(int layer) const override;
  std::string text(int layer, int parallelization) const override;
  int parse(int layer, const std::string& text) const override;
  std::string signature(int layer, int parallelization) const override {
    return parallelizedLayer(layer, parallelization).signature;
  }
  std::vector<Layout> uses(int layer, int parallelization) const override;
  bool isBalanced(int layer, int parallelization) const override {
    return parallelizedLayer(layer, parallelization).isBalanced;
  }

  double layerSeconds(int layer, int parallelization, Precision precision) const override {
    return termsBy(layer, parallelization, samplingOf(precision)).sum();
  }
  double moveSeconds(int move, int from, int to, Precision precision) const override {
    return movePrices_.seconds(move, from, to, precision);
  }
  double layerBytes(int layer, int parallelization) const override {
    return cost(layer, parallelization).bytes;
  }
  int firstLike(int move) const override { return movePrices_.firstLike(move); }
  LayerTerms layerTerms(int layer, int parallelization) const override {
    return termsBy(layer, parallelization, samplingOf(Precision::Close));
  }
  MoveTerms moveTerms(int move, int from, int to) const override {
    return movePrices_.terms(move, from, to);
  }

  double planBytes(const std::vector<int>& parallelizations) const override;
  bool knowsRecomputation() const override { return trains() && !network_.nodes.empty(); }
  RecomputedLayers recomputedWithin(const std::vector<int>& parallelizations,
                                    double bytes) const override;
  SharedHalos sharedHalos(const std::vector<int>& parallelizations, Index depth,
                          double bytes) const override;

private:
  // A kind of layer with its costs.
  struct Kind : LayerKind {
    std::vector<SavedActivations> saved = {}; // of the layer and its dependents
    std::vector<bool> readIsSaved = {};       // by output: whether the adjoint of a reader reads it
    std::vector<ParallelizationCost> costs = {}; // by parallelization
  };

  int plannedLayers() const { return static_cast<int>(network_.layers.size()); }
  bool trains() const { return task_.objective == Objective::Training; }
  const ParallelizedLayer& parallelizedLayer(int layer, int parallelization) const {
    return kinds_[kindOf_[layer]].parallelizations[parallelization];
  }
  const ParallelizationCost& cost(int layer, int parallelization) const {
    return kinds_[kindOf_[layer]].costs[parallelization];
  }

  void addKinds();
  std::string kindKey(int layer, const LayerKind& kind, const std::vector<bool>& readIsSaved);
  ParallelizationCost costOf(const Kind& kind, const std::vector<Form>& forms) const;
  void addMoves();
  void addPinnedEnds();
  int addPinnedEnd(std::string name, const Layout& layout);
  void addPinnedMove(const DeclaredMove& move, bool hasCotangent);
  MoveEnds endsOf(const DeclaredMove& move);
  const std::vector<int>& layoutsOf(int layer, bool isSource, int number, const Shape& shape);
  bool wantsCotangent(const DeclaredLayer& layer) const;
  LayerTerms termsBy(int layer, int parallelization, Sampling sampling) const;

  // Memory, and what is chosen for a whole plan: own_memory.cpp.
  double temporaryBytes(const std::vector<int>& parallelizations) const;
  Layouts runInputs(const std::vector<int>& parallelizations) const;
  NodeChoice runChoice(int layer, int parallelization) const;
  std::vector<int> runReads(int node) const;
  // The setting of each node that selects the source of its halo.
  std::vector<HaloFrom> haloSettings() const;
  CompiledNetwork compiledWith(const std::vector<int>& parallelizations) const {
    return compiledWith(parallelizations, haloSettings(), 1);
  }
  CompiledNetwork compiledWith(const std::vector<int>& parallelizations,
                               const std::vector<HaloFrom>& halos, Index depth) const;
  PassPrices passPrices(const CompiledNetwork& compiled) const;
  double runSeconds(const RunMemory& memory) const;
  RunMemory runMemory(CompiledNetwork compiled) const;
  std::vector<int> sampledRanks() const;
  double scratchOf(const CompiledNetwork& compiled) const;
  double bytesOfRun(const RunMemory& memory) const;
  double runBytes(const std::vector<int>& parallelizations) const;

  DeclaredNetwork network_;
  OwnRates rates_;
  OwnTask task_;
  GridPtr grid_; // the fine grid
  LayerParallelizations existing_;
  std::unique_ptr<ConversionPrices> conversions_;
  LayerPrices layerPrices_;
  LayerBytes layerBytes_;
  MovePrices movePrices_;
  std::vector<int> kindOf_;         // by layer
  mutable std::vector<Kind> kinds_; // seconds are computed on request
  // Layout numbers by parallelization. Key: kind of layer, whether it is the source, position of
  // the output or input, shape of the data moved.
  std::map<std::tuple<int, bool, int, Shape>, std::vector<int>> layoutsOf_;
};

} // namespace tenon
