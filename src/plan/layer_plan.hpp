// SPDX-License-Identifier: BSD-2-Clause
// The plan of a network of layers on the processes of a communicator. Once it is set up, each layer
// has its parallelization as its signature and lies on the grid of that parallelization, the plan's
// own or that of a pinned end, and the plan is run like a layer.
//
// Layouts that the caller has for input and output are pinned ends of the search. Where the last
// layer does not lie where the output is pinned, a repartition follows the network, which itself
// stays as it is, with its names, parameters and options.
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
  // Not collective, but on all ranks alike. Throws TENON_ERR_STATE for a network that is set up.
  LayerPlan(Ref<Layer> network, Index batch);
  ~LayerPlan() override;

  const CommPtr& comm() const noexcept { return network_->comm(); }
  // The caller's own layouts of input and output, of the whole batch, on any grid and with any
  // cuts. The setters throw TENON_ERR_STATE after setUp(), and TENON_ERR_SHAPE for another batch.
  void setInput(int input, const Layout& layout);
  void setInput(const Layout& layout) { setInput(0, layout); }
  void setOutput(const Layout& layout);

  const FoundPlan& search() override;
  // Collective. Searches on one rank if nobody has, gives each layer its parallelization, and sets
  // the network up. Does nothing the second time. A failure leaves the network as it was.
  void setUp();
  bool isSetUp() const noexcept { return bool(compiled_); }
  // What runs: the network, or what was put around it. Throws TENON_ERR_STATE before setUp().
  Layer& layer() const;
  const Layouts& inputLayouts() const { return layer().inputLayouts(); }
  const Layout& inputLayout() const { return layer().inputLayout(); }

  // Collective; the file is written by one rank.
  void save(const std::string& path);
  // Collective. Takes a plan from a file instead of searching. Throws on all ranks what
  // plan_file.hpp says.
  void load(const std::string& path);

  struct PlannedNode {
    std::string path;
    std::optional<PlannedLayer> planned; // none for a layer that follows what it reads
    const Layer* layer;
    bool isOfNetwork; // or around it
  };
  // The layers in the order in which they run.
  const std::vector<PlannedNode>& nodes() const noexcept { return nodes_; }
  // The costs of each by the plan's rates, with what one rank sends for it.
  std::vector<LayerCost> costs(int rank, bool inputCotangent) const;
  // What the passes took that ran while the log was on. Throws TENON_ERR_STATE before setUp().
  const Measurement& measured() const { return layer(), *measurement_; }

  // The memory that is allocated now on this rank.
  struct Memory {
    Index saved = 0,
          shared = 0; // values that each Apply keeps for its adjoint; values of all passes by turns
    Index parameters = 0; // with gradients and directions
    Index messages = 0;   // buffers of operators, and constants
    Index scratch = 0;    // of kernels, which all layers of the communicator share
    Index total() const { return saved + shared + parameters + messages + scratch; }
  };
  Memory memory() const;
  // The number of reductions of gradients in an adjoint: those of buckets, and those of parameters
  // by themselves.
  int reductions() const;

  // For views. Before the set-up, describe() says what is asked of the plan. report() needs passes
  // that were measured, and is collective.
  std::string describe() const override;
  std::string report() const;
  // Collective. The rates that explain best what was measured.
  OwnRates calibrated() const;

private:
  std::vector<UnfoldedNode> unfoldedNetwork() const;
  DeclaredNetwork layers() const override;
  ScratchOf scratch() const override;
  SharedByNode shared() const override;
  void checkOpen(const std::string& call) const;
  void checkChange(const std::string& call) const override { checkOpen(call); }
  void checkProcesses() const;
  std::string agreedText() const;
  void fixSignatures();
  void shareSearch();
  PlanFrame frame() const;
  PlanSubject subject() const;
  void applyParallelizations();
  const PlannedLayer* plannedAt(const std::string& path) const;
  bool recomputes(const std::string& path) const;
  bool sharesHalo(const std::string& path) const;
  Layouts inputsFor(const DeclaredNetwork& declared) const;
  std::string pinnedInputsText(const DeclaredNetwork& declared) const;
  Layout outputFor(const Layouts& inputs) const;
  // By the setting, or by what is predicted.
  Index bucketBytes() const override;
  void addBuckets();
  void leaveLayers() noexcept;
  void leave() noexcept;
  void noteNodes();
  std::vector<const Layer*> layersInOrder() const;
  std::vector<ComparedPhase> compared() const;
  std::string worstText(std::vector<ComparedPhase> rows) const;
  static std::string titleOf(const Layer& network);
  std::string describe(const PlannedNode& node, const LayerCost& most) const;
  Ref<Layer> compile(const Layouts& inputs, const std::optional<Layout>& output) const;

  Ref<Layer> network_, compiled_;
  mutable std::map<std::string, Index> scratch_; // of kernels that were requested
  std::unique_ptr<GradientBuckets> buckets_;
  std::vector<PlannedNode> nodes_;
  std::unique_ptr<Measurement> measurement_;
};

} // namespace tenon
