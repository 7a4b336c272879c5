// SPDX-License-Identifier: BSD-2-Clause
// Tenon's own cost model. For each layer and parallelization it makes the layer's form (the layouts
// of inputs, parameters and output that would run) and prices its kernels and the communication
// between the forms of two layers.
//
//    layer   kernels forward and adjoint, by their operations and bytes (kernel_cost.hpp); the
//            gradients' conversions from use* to use; a move of the network's input, free but for
//            its halo
//    move    the conversion of the writer's output to the reader's use, halo included, and its
//            adjoint
//    bytes   the memory of the process that has the most
//
// The asterisk denotes the dual layout, that of a gradient or cotangent. Elements have the size of
// the network's data type. Inference has neither adjoints nor gradients nor an optimizer state.
// Communication has the prices of conversion_prices.hpp at three precisions: a lower bound from the
// rank at position 0 of the process grid, whose blocks are the largest if the split is even; a
// closer bound from a few more positions, which is nearly always exact; and the exact maximum over
// all positions. Prices of kernels are always exact.
//
// Memory. The bytes of a layer include its parameters, the optimizer state, the gradients and their
// partial sums, and the reduced gradients if processes share them; and the activations that an
// adjoint reads: inputs with halos, workspaces, and the outputs that the layer's own adjoint or the
// adjoint of a reader reads. All other values and cotangents are temporary. Layers share the memory
// of temporary values, which holds the values of the layer that runs, and those that a later layer
// will read.
//
// The model does not depend on the types of layers: a layer's signature table defines what a
// parallelization means for the layer (signature_rows.hpp). If sliding windows divide the output
// into unequal blocks, a second parallelization with the same labels divides the output evenly.
//
// Pinned ends. If the user fixes the layout of the network's input or output (a pinned end), the
// model contains an additional layer with this layout as its only parallelization. Moves from and
// to this layer are priced like all others. The process grid of the fixed layout adds
// parallelizations to every layer (field_parallelizations.hpp), by which a layer can keep the
// distribution of the user's field.
//
// Lists of a mesh. If layers need lists of a mesh, such as edges and index maps, all inputs of the
// network must be pinned. The lists then determine native layouts for all layers
// (listed_moves.hpp): the layouts in which data on the mesh are distributed. A layer with lists has
// only its native layout; the other layers use the split points of theirs on that grid.
// Communication by lists within a layer is priced as one exchange of its messages.
#pragma once

#include "compile/network/assignment.hpp"
#include "declaration/core/halo_sharing.hpp"
#include "planner/prices/conversion_prices.hpp"
#include "planner/prices/cost_model.hpp"
#include "planner/prices/declared_network.hpp"
#include "planner/prices/field_parallelizations.hpp"
#include "planner/prices/kernel_cost.hpp"
#include "planner/prices/listed_moves.hpp"
#include "planner/prices/run_memory.hpp"
#include "planner/prices/signature_rows.hpp"
#include "planner/prices/volume_bound.hpp"

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace tenon {

struct OwnRates {
  LinkRates links;
  KernelRates kernels = {};
};

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
  RoutePolicy routes = {};
  Index bucketBytes = 0; // size of a bucket of gradients that are reduced together
  SharedByNode shared = {};
};

// Memory of a process in addition to arrays, measured by tests/bench/plan_memory. Per network: MPI
// and the kernel libraries at their first call, and unused ends of allocations. Per layer: its
// kernels with their machine code, its operators with their schedules, and the steps of passes.
inline constexpr double kOnceBytes = 6 * 0x1p20, kLayerBytes = 128 * 0x1p10;
inline double bytesBesideArrays(std::size_t layers) {
  return kOnceBytes + kLayerBytes * static_cast<double>(layers);
}

class OwnModel : public CostModel {
public:
  // Throws TENON_ERR_SHAPE for a pinned layout of the wrong shape, and TENON_ERR_STATE if a network
  // with lists has an input that is not pinned.
  OwnModel(DeclaredNetwork network, FineGrid grid, OwnRates rates, bool inputChannels = true,
           OwnTask task = {});

  int states() const override { return 2 * firstExtra(); }
  int firstExtra() const override;
  bool isPinned(int layer) const override { return layer >= plannedLayers(); }
  char channelLabel(int layer) const override;
  std::string text(int layer, int parallelization) const override;
  int parse(int layer, const std::string& text) const override;
  std::string signature(int layer, int parallelization) const override {
    return placed(layer, parallelization).signature;
  }
  bool isBalanced(int layer, int parallelization) const override {
    return placed(layer, parallelization).isBalanced;
  }
  std::vector<Layout> uses(int layer, int parallelization) const override;
  bool areAlike(int layer, int parallelization, int other) const override;
  std::string spatial(int layer) const override;
  Parts parts(int layer, int parallelization) const override;
  std::string fault(int layer, int parallelization) const override {
    return placed(layer, parallelization).fault;
  }
  double layerSeconds(int layer, int parallelization) const override;
  double closerLayerSeconds(int layer, int parallelization) const override;
  double exactLayerSeconds(int layer, int parallelization) const override;
  LayerParts layerParts(int layer, int parallelization) const override;
  MoveParts moveParts(int move, int from, int to) const override;
  double layerBytes(int layer, int parallelization) const override {
    return placed(layer, parallelization).bytes;
  }
  double planBytes(const std::vector<int>& parallelizations) const override;
  bool knowsRecomputation() const override { return trains() && !network_.nodes.empty(); }
  RecomputedLayers recomputedWithin(const std::vector<int>& parallelizations,
                                    double bytes) const override;
  SharedHalos sharedHalos(const std::vector<int>& parallelizations, Index depth,
                          double bytes) const override;
  double moveSeconds(int move, int from, int to) const override;
  double leastMoveSeconds(int move, int from, int to) const override;
  int firstLike(int move) const override { return ends_[move].firstLike; }
  double closerMoveSeconds(int move, int from, int to) const override;
  double exactMoveSeconds(int move, int from, int to) const override;

private:
  // A conversion within a layer and its dependents (layers that are distributed like their input),
  // and the term of LayerParts to which its seconds are added.
  struct InnerMove {
    double LayerParts::*part;
    Layout from, to;
    Index times = 1;
  };
  // Communication by lists within a layer or a dependent.
  struct ListedMove {
    double LayerParts::*part;
    OperatorEntry op;
    bool adjoint;
  };
  // A layer under one parallelization: its layouts, costs and fault.
  struct ParallelizedLayer {
    Layouts uses, outputs; // the layer's output, and those of its dependents
    std::string signature, fault;
    LayerParts kernels = {};
    std::vector<InnerMove> moves = {};
    std::vector<ListedMove> listed = {};
    double bytes = 0;
    double temporaryBytes = 0;            // upper bound of the temporary arrays while the layer
                                          // runs
    std::vector<double> outputBytes = {}; // of each output
    bool isBalanced = false;
    std::map<Sampling, LayerParts> seconds = {}; // by precision, computed on request
  };
  // Which activations the adjoint of a layer or a dependent reads; equal for all parallelizations.
  struct Saved {
    bool input = false, output = false;
    bool inputInPlace = false; // the input is read in place, without a copy
    double perOutput = 0;      // bytes of workspaces per element of the output
  };
  // The costs under all parallelizations. Layers that differ only in their names share one Kind.
  struct Kind {
    const DeclaredLayer* layer = nullptr;
    const NativeLayouts* native = nullptr; // null: the network has no lists
    SignatureTable table;
    std::vector<Saved> saved;      // of the layer and its dependents
    std::vector<bool> readIsSaved; // by output: whether the adjoint of a reader reads it
    std::vector<ParallelizedLayer> parallelizations;
  };
  // The numbers of the layouts at both ends of a move, by parallelization; -1 if the
  // parallelization is impossible.
  struct Ends {
    std::vector<int> sources, targets;
    double weight = 1;
    bool back = true;  // whether the cotangent moves, too
    int firstLike = 0; // the first move with the same ends
  };
  // Key: the numbers of two layouts, and whether the cotangent moves back.
  using Prices = std::unordered_map<std::uint64_t, double>;

  int plannedLayers() const { return static_cast<int>(network_.layers.size()); }
  bool trains() const { return task_.objective == Objective::Training; }
  const ParallelizedLayer& placed(int layer, int parallelization) const {
    return kinds_[kindOf_[layer]].parallelizations[parallelization];
  }

  // The second half of the parallelizations repeats the first half with evenly divided outputs.
  int plainParallelization(int parallelization) const { return parallelization % firstExtra(); }
  const FieldParallelization*
  fieldParallelization(int parallelization) const; // null: one of the fine grid
  void addNativeLayouts();
  void addFields(bool inputChannels);
  void addKinds();
  int addPinnedEnd(std::string name, const Layout& layout);
  void addPinnedEnds();
  ParallelizedLayer place(const Kind& kind, int parallelization);
  std::string addForm(const Kind& kind, int parallelization, ParallelizedLayer& placed);
  bool usesListLayout(const Kind& kind, int parallelization) const;
  void addListed(const Declaration& declaration, const Form& form, bool hasCotangent,
                 ParallelizedLayer& placed) const;
  std::string whyNotBalanced(const Kind& kind, int parallelization) const;
  std::string rowsOf(const Kind& kind, int parallelization, SignatureRows& rows) const;
  Layout inputLayout(const Kind& kind, int parallelization, const SignatureRows& rows,
                     std::size_t input) const;
  void addCosts(const Kind& kind, const Form& form, ParallelizedLayer& placed) const;
  Saved savedOf(const Declaration& declaration, const Layouts& given) const;
  std::vector<Saved> savedOf(const DeclaredLayer& layer, const NativeLayouts* native) const;
  std::vector<std::vector<bool>> findReadSaved(const std::vector<std::vector<Saved>>& saved) const;
  double parameterCopies(const Layout& use, bool frozen) const;
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
  double runSeconds(const RunMemory& memory) const;
  RunMemory runMemory(CompiledNetwork compiled) const;
  std::vector<int> sampledRanks() const;
  double scratchOf(const CompiledNetwork& compiled) const;
  double bytesOfRun(const RunMemory& memory) const;
  double runBytes(const std::vector<int>& parallelizations) const;
  double bytesOf(const Layout& layout) const;
  void addSaved(const Saved& saved, bool outputIsSaved, const Form& form,
                ParallelizedLayer& placed) const;
  bool wantsCotangent(const DeclaredLayer& layer) const;
  void addKernels(const Declaration& layer, const Form& form, bool hasCotangent,
                  ParallelizedLayer& placed) const;
  double conversionSeconds(const Layout& from, const Layout& to, Sampling sampling) const;
  void addDependents(const Kind& kind, bool hasCotangent, ParallelizedLayer& placed) const;
  LayerParts partsBy(int layer, int parallelization, Sampling sampling) const;
  double secondsBy(int layer, int parallelization, Sampling sampling) const;
  Ends endsOf(const DeclaredMove& move);
  const std::vector<int>& layoutsOf(int layer, bool isSource, int place, const Shape& shape);
  void findAlike();
  int numberOfLayout(Layout layout);
  double price(Prices& known, int move, int from, int to, Sampling sampling) const;
  double priceBack(const Ends& ends, int from, int to, Sampling sampling) const;

  DeclaredNetwork network_;
  OwnRates rates_;
  LinkRates bestLinks_;
  OwnTask task_;
  GridPtr grid_;
  std::vector<NativeLayouts> natives_; // by layer; empty: the network has no lists
  std::vector<Field> fields_;          // grids of pinned ends and of lists
  std::vector<FieldParallelization>
      fieldParallelizations_;           // numbered after the parallelizations of the fine grid
  std::vector<int> kindOf_;             // by layer
  mutable std::vector<Kind> kinds_;     // seconds are computed on request
  std::vector<Layout> layouts_, duals_; // without duplicates
  std::vector<FirstPart> parts_, dualParts_;
  std::map<std::pair<Shape, std::string>, std::vector<int>> layoutsLike_;
  // Layout numbers by parallelization. Key: kind of layer, whether it is the source, position of
  // the output or input, shape of the data moved.
  std::map<std::tuple<int, bool, int, Shape>, std::vector<int>> layoutsOf_;
  std::vector<Ends> ends_; // by move
  mutable ConversionPrices conversions_;
  mutable Prices prices_, closerPrices_, exactPrices_;
};

} // namespace tenon
