// SPDX-License-Identifier: BSD-2-Clause
// The plan of a network of layers on the processes of a communicator. A plan runs like a layer:
//
//   setInput(), setOutput()   optional: the user fixes layouts of the network's ends (pinned ends)
//   search() or load()        finds the parallelization of each layer, or reads it from a file
//   setUp()                   stores the choice for each layer beside its settings, and sets the
//                             network up
//   layer()                   the layer that the user runs: Apply, adjoint
//   report(), calibrated()    measured times beside the predicted ones, and rates that fit them
//
// After setUp() each layer runs with the signature of its parallelization, on the plan's process
// grid or on the grid of a pinned end. Its own settings, with which it would run by itself, stay.
//
// If the last layer has another layout than the pinned output, a repartition follows it. The
// network itself, with its names, parameters and options, is not changed.
#pragma once

#include "layer/core/layer.hpp"
#include "plan/gradient_buckets.hpp"
#include "plan/measurement.hpp"
#include "plan/plan_file.hpp"
#include "plan/unfolded.hpp"
#include "planner/network_plan.hpp"

namespace tenon {

class LayerPlan final : public NetworkPlan {
public:
  // Not collective, but requires equal arguments on all ranks. Throws TENON_ERR_STATE for a network
  // that is set up.
  LayerPlan(Ref<Layer> network, Index batch);
  ~LayerPlan() override;

  const CommPtr& comm() const noexcept { return network_->comm(); }
  // The user's layouts of input and output, of the whole batch, on any grid and with any split
  // points. The setters throw TENON_ERR_STATE after setUp(), and TENON_ERR_SHAPE for another batch.
  void setInput(int input, const Layout& layout);
  void setInput(const Layout& layout) { setInput(0, layout); }
  void setOutput(const Layout& layout);

  const FoundPlan& search() override;
  // Collective. Searches on one rank if no rank has searched, gives each layer its parallelization,
  // and sets the network up. A second call has no effect. After a failure the network has no plan.
  void setUp();
  bool isSetUp() const noexcept { return isSetUp_; }
  // The network, which runs as planned. Throws TENON_ERR_STATE before setUp().
  Layer& layer() const;
  const Layouts& inputLayouts() const { return layer().inputLayouts(); }
  const Layout& inputLayout() const { return layer().inputLayout(); }

  // Collective; one rank writes the file.
  void save(const std::string& path);
  // Collective. Reads a plan from a file instead of searching. Throws the errors of plan_file.hpp
  // on all ranks.
  void load(const std::string& path);

  struct PlannedNode {
    std::string path;
    std::optional<PlannedLayer> planned; // none for a dependent layer
    const Layer* layer;
    bool isOfNetwork; // false for the repartition after it
  };
  // The layers in the order in which they run.
  const std::vector<PlannedNode>& nodes() const noexcept { return nodes_; }
  // The cost of each node by the plan's rates, with the messages that one rank sends for it.
  std::vector<LayerCost> costs(int rank, bool inputCotangent) const;
  // Measured times of the passes that ran while the log was on. Throws TENON_ERR_STATE before
  // setUp().
  const Measurement& measured() const {
    layer(); // for its error
    return *measurement_;
  }

  // Memory that is currently allocated on this rank.
  struct Memory {
    Index saved = 0;      // activations that each Apply saves for its adjoint
    Index shared = 0;     // temporary values of all passes
    Index parameters = 0; // with gradients and directions
    Index messages = 0;   // buffers of operators, and constants
    Index scratch = 0;    // of kernels, shared by all layers of the communicator
    Index total() const { return saved + shared + parameters + messages + scratch; }
  };
  Memory memory() const;
  // The number of reductions of gradients in an adjoint: those of buckets, and those of single
  // parameters.
  int reductions() const;

  // Texts for views. Before setUp(), describe() returns the request for the plan. report() needs
  // measured passes, and is collective.
  std::string describe() const override;
  std::string report() const;
  // Collective. The rates that explain the measured times best.
  OwnRates calibrated() const;

private:
  std::vector<UnfoldedNode> unfoldedNetwork() const;
  DeclaredNetwork layers() const override;
  ScratchOf scratch() const override;
  SharedByNode shared() const override;
  MovementTarget movementTarget() const override { return movementTargetOf(*network_); }
  void checkOpen(const std::string& call) const;
  void checkChange(const std::string& call) const override { checkOpen(call); }
  void checkProcesses() const;
  std::string agreedText() const;
  void fixSignatures();
  void shareSearch();
  PlanFrame frame() const;
  PlanSubject subject() const;
  Assignment assignment() const;
  const PlannedLayer* plannedAt(const std::string& path) const;
  bool recomputes(const std::string& path) const;
  bool sharesHalo(const std::string& path) const;
  Layouts inputsFor(const DeclaredNetwork& declared) const;
  std::string pinnedInputsText(const DeclaredNetwork& declared) const;
  // Bytes of a bucket, a group of gradients that are summed together: from the setting, or from the
  // prediction if the setting is -1.
  Index bucketBytes() const override;
  void addBuckets();
  void removeObservers() noexcept;
  void undoSetUp() noexcept;
  void noteNodes();
  std::vector<const Layer*> layersInOrder() const;
  std::vector<ComparedPhase> compared() const;
  std::string worstText(std::vector<ComparedPhase> rows) const;
  static std::string titleOf(const Layer& network);
  std::string describe(const PlannedNode& node, const LayerCost& most) const;

  Ref<Layer> network_;
  bool isSetUp_ = false;
  mutable std::map<std::string, Index> scratch_; // scratch memory by kernel, cached
  std::unique_ptr<GradientBuckets> buckets_;
  std::vector<PlannedNode> nodes_;
  std::unique_ptr<Measurement> measurement_;
};

} // namespace tenon
