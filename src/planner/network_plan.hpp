// SPDX-License-Identifier: BSD-2-Clause
// The request for the plan of a network (processes, machine, memory limit, fixed layouts), and
// after search() the plan: a parallelization for each layer. A changed request discards the plan.
// Derived classes supply the network: plan/layer_plan.hpp for layers that will run, behind the
// public handle TenonPlan, and papers/named_plan.hpp for the command `tenon plan network`, which
// plans networks by name, also with the models of papers.
//
// Calls: settings and pinInput() or pinOutput(), then search(), then found() or layerAt(). A pinned
// end is an input or output of the network whose layout the user has fixed.
#pragma once

#include "machine/machine.hpp"
#include "planner/prices/declared_network.hpp"
#include "planner/prices/own_model.hpp"
#include "planner/search/plan_search.hpp"
#include "sys/options/settable_object.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace tenon {

// Text for a plan that recomputes: "computed again for the adjoint, in 1.5 ms of these: relu1,
// conv2".
std::string recomputedText(const FoundPlan& plan);
// Text for a plan with shared halos: "halos are computed by the layers before, which saves 1.5 ms:
// conv2, conv3".
std::string sharedText(const FoundPlan& plan);

class NetworkPlan : public SettableObject {
public:
  static constexpr const char* kClass = "Plan";

  // The settings of the request. A change discards the plan.
  const Settings& settings() const noexcept override { return settings_; }
  // Sets the machine: its levels define the fine grid, and its links the prices.
  void setMachine(const Machine& machine);
  // Sets the space of the arrays of a network of layers. Throws TENON_ERR_ARG if the machine was
  // measured with arrays in another space.
  void setSpace(Space space);
  // Replaces the rates of the machine file and of the settings by rates fitted to measurements. A
  // rate that is set afterwards takes precedence again.
  void setRates(const OwnRates& rates);
  // The layout of an input or output of the network, from its shape and the number of processes.
  using PinnedEnd = std::function<Layout(const Shape&, Index processes)>;
  void pinInput(int input, PinnedEnd layout);
  void pinInput(PinnedEnd layout) { pinInput(0, std::move(layout)); }
  void pinOutput(PinnedEnd layout);
  void fix(const std::string& layer, const std::string& parallelization);

  virtual const FoundPlan& search();
  // The request, and after a search the parallelizations of the layers.
  std::string describe() const override;
  // Throws TENON_ERR_STATE before a search.
  const FoundPlan& found() const;
  const PlannedLayer& layerAt(Index index) const;
  const PlannedLayer& layerNamed(const std::string& name) const;

protected:
  // `network` is its name in views; `own` lists the settings of this kind of plan in addition to
  // the common ones. Throws TENON_ERR_ARG unless the batch is at least 1.
  NetworkPlan(std::string network, Index batch, std::span<const OptionSpec> own);
  void applySettings(Settings after, const Settings::Names& names) override;
  FineGrid grid() const;
  Index processes() const noexcept { return processes_; }
  Index batch() const noexcept { return batch_; }
  bool wasSearched() const noexcept { return found_.has_value(); }
  // Accepts a plan that was found elsewhere and that fulfils the request.
  void take(FoundPlan found) { found_ = std::move(found); }
  // All grids that a search can use under any settings; the grid of all processes is first.
  std::vector<FineGrid> grids() const;
  bool hasPinnedEnds() const noexcept { return !inputEnds_.empty() || everyInput_ || outputEnd_; }
  // The pinned layouts, or none if an end is free.
  std::optional<Layout> pinnedInput(const DeclaredNetwork& network, int input = 0) const;
  std::optional<Layout> pinnedOutput(const DeclaredNetwork& network) const;
  // The network for an input of one batch of samples.
  virtual DeclaredNetwork layers() const = 0;
  // Scratch memory that the kernels of the network share, if known.
  virtual ScratchOf scratch() const { return {}; }
  // The ranks of a node that exchange data through shared memory instead of messages.
  virtual SharedByNode shared() const { return {}; }
  // Size of a bucket of gradients that are reduced together, chosen by the predicted latency.
  virtual Index bucketBytes() const;
  // The shapes of the inputs. Throws TENON_ERR_STATE if they were not set.
  std::vector<Shape> inputShapes() const;
  // Sets the shape of an input after the first: that of the whole batch, or of the rows of a field
  // on edges.
  void setFurtherShape(int input, Shape shape);
  // The cost model on a grid: by default Tenon's own prices of the network's layers.
  virtual std::unique_ptr<CostModel> prices(const FineGrid& grid) const;
  // Throws if settings contradict each other. Settings change one at a time, so a search checks
  // them when all are set.
  virtual void checkTogether() const;
  OwnRates rates() const;
  // The rates of the link of each process, as the user set them.
  const LinkRates& link() const noexcept { return link_; }
  std::optional<bool> inputChannels() const noexcept { return inputChannels_; }
  // Whether the plan is for training; otherwise it is for evaluations without derivatives.
  bool trains() const { return objective_ == "training"; }
  bool asksForTrainingAlone() const { return trains() && !hasPinnedEnds() && overlap_ == 0; }

private:
  KernelRates kernels() const;
  std::vector<FineGrid> grids(bool fewer, const std::string& placement) const;
  Layout pinned(const PinnedEnd& end, const Shape& shape, const char* which) const;
  FoundPlan pricedPlan(const FineGrid& grid) const;
  FoundPlan planWithin(const CostModel& model) const;
  FoundPlan fittingPlan(const CostModel& model) const;
  std::string whatFits();
  std::string bytesOfFitting(Index processes, bool savesRounded, bool recomputes);
  FoundPlan bestOf(const std::vector<FineGrid>& grids) const;

  std::string network_;
  Index batch_;
  Settings settings_;
  std::vector<Shape>
      samples_; // shapes of the inputs without the batch, from the settings; empty: not set
  std::map<int, Shape> further_; // shapes of further inputs with the batch, from their layouts
  Index processes_ = 1;
  LinkRates link_;
  std::optional<Machine> machine_;
  Space space_ = Space::Host;
  std::optional<double> flops_, memory_; // as the user set them
  std::optional<OwnRates> fitted_;
  std::optional<bool> inputChannels_; // none: the default of the model
  double memoryLimit_ = 0;
  bool mayRecompute_ = true;
  Index haloDepth_ = 1;
  std::string objective_, placement_;
  Index optimizerStates_ = 2;
  Index every_ = 1; // steps of a solver for each evaluation
  bool fewerProcesses_ = false;
  bool savesRounded_ = false;          // overrides the network's setting, to test whether that
                                       // would fit
  double overlap_ = 0;                 // share of communication that overlaps computation
  PinnedEnd everyInput_, outputEnd_;   // from the settings, or the output's layout
  std::map<int, PinnedEnd> inputEnds_; // layouts of single inputs
  FixedParallelizations fixed_;
  std::optional<FoundPlan> found_;
};

} // namespace tenon
