// SPDX-License-Identifier: BSD-2-Clause
// The plan of a network of layers on the processes of a communicator. Once it is set up, each layer has its
// word as its signature, the network is set up on the plan's grid, and the plan is run like a layer.
//
// Where the input or the output has a layout of the caller's own, a repartition stands between that and the
// plan's grid; the network itself stays as it is, with its names, parameters and options.
#pragma once

#include "layer/layer.hpp"
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
  // The caller's own, of the whole batch. They throw TENON_ERR_STATE after setUp(), TENON_ERR_SHAPE for another
  // batch.
  void setInput(const Layout& layout);
  void setOutput(const Layout& layout);

  const FoundPlan& search() override;
  // Collective. Searches on one rank if nobody has, gives each layer its word, and sets the network up.
  // Does nothing the second time. A failure leaves the network as it was.
  void setUp();
  bool isSetUp() const noexcept { return bool(compiled_); }
  // Whether the layers follow the layout that the caller has for the input, since no plan on the grid of its own is
  // faster, the way there included.
  bool stays() const noexcept { return stays_; }
  // What runs: the network, or what was put around it. Throws TENON_ERR_STATE before setUp().
  Layer& layer() const;
  const Layout& inputLayout() const { return layer().inputLayout(); }

  // Collective; the file is written by one rank.
  void save(const std::string& path);
  // Collective. Takes a plan from a file instead of searching. Throws on all ranks what plan_file.hpp says.
  void load(const std::string& path);

  struct PlannedNode {
    std::string path;
    std::optional<PlannedLayer> planned; // none of a layer that follows what it reads
    const Layer* layer;
    bool isOfNetwork; // or around it
  };
  // The layers in the order in which they run.
  const std::vector<PlannedNode>& nodes() const noexcept { return nodes_; }
  // What each costs by the plan's rates, and what one rank sends for it.
  std::vector<LayerCost> costs(int rank, bool inputCotangent) const;
  // Of the passes that ran while the log was on. Throws TENON_ERR_STATE before setUp().
  const Measurement& measured() const { return layer(), *measurement_; }

  // For views. describe() needs the set-up, report() passes that were measured, and is collective.
  std::string describe() const;
  std::string report() const;
  // Collective. The rates that explain best what was measured.
  OwnRates calibrated() const;

private:
  DeclaredNetwork layers() const override;
  void checkOpen(const char* call) const;
  void checkProcesses() const;
  std::string agreedText() const;
  void fixSignatures();
  void shareSearch();
  void takeWhole(FoundPlan plan);
  PlanFile asFile() const;
  void giveWords();
  std::vector<std::string> signatures() const;
  const PlannedLayer* plannedAt(const std::string& path) const;
  void compareWithStaying();
  FoundPlan planThatStays(const std::vector<UnfoldedNode>& nodes,
                          const std::vector<Form>& forms) const;
  Layout firstUse() const;
  void noteNodes();
  std::vector<const Layer*> layersInOrder() const;
  std::vector<ComparedPhase> compared() const;
  std::string worstText(std::vector<ComparedPhase> rows) const;
  static std::string titleOf(const Layer& network);
  std::string describe(const PlannedNode& node, const LayerCost& most) const;
  Ref<Layer> compile(const Layout& input) const;

  Ref<Layer> network_, compiled_;
  std::optional<Layout> input_, output_;
  std::optional<FoundPlan> searched_; // before it was compared with staying
  bool stays_ = false;
  double stayed_ = 0, moved_ = 0; // predicted seconds, where the input is the caller's
  std::vector<PlannedNode> nodes_;
  std::unique_ptr<Measurement> measurement_;
};

} // namespace tenon
