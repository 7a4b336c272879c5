// SPDX-License-Identifier: BSD-2-Clause
// What is asked of the plan of a network, and the plan once it was searched. A change of what is
// asked drops the plan. The kinds of plans say where the network comes from: the object behind the
// public handle is a plan of layers that will run (plan/layer_plan.hpp), and the command `tenon
// plan network` has plans of networks by name, by the papers' models too (papers/named_plan.hpp).
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

// "computed again for the adjoint, in 1.5 ms of these: relu1, conv2", of a plan that recomputes.
std::string recomputedText(const FoundPlan& plan);
// "halos are computed by the layers before, which saves 1.5 ms: conv2, conv3", of a plan that
// shares halos.
std::string sharedText(const FoundPlan& plan);

class NetworkPlan : public SettableObject {
public:
  static constexpr const char* kClass = "Plan";

  // The settings say what is asked of the plan. A change drops the plan that was found.
  const Settings& settings() const noexcept override { return settings_; }
  // The machine whose levels are those of the fine grid, and whose links have the prices.
  void setMachine(const Machine& machine);
  // The space of the arrays of a network of layers. Throws TENON_ERR_ARG if the machine was
  // measured with arrays in another.
  void setSpace(Space space);
  // Replaces the rates of the machine file and of the settings by rates that were fitted to
  // measurements. A rate that is set afterwards counts again.
  void setRates(const OwnRates& rates);
  // The layouts of the network's input and output, for given shapes and the number of processes.
  using PinnedEnd = std::function<Layout(const Shape&, Index processes)>;
  void pinInput(int input, PinnedEnd layout);
  void pinInput(PinnedEnd layout) { pinInput(0, std::move(layout)); }
  void pinOutput(PinnedEnd layout);
  void fix(const std::string& layer, const std::string& parallelization);

  virtual const FoundPlan& search();
  // What is asked, and the parallelizations of the layers once they were searched.
  std::string describe() const override;
  // Throws TENON_ERR_STATE before a search.
  const FoundPlan& found() const;
  const PlannedLayer& layerAt(Index index) const;
  const PlannedLayer& layerNamed(const std::string& name) const;

protected:
  // `network` names it in views, and `own` are the settings of this kind of plans, beside those of
  // all. Throws TENON_ERR_ARG unless the batch is at least 1.
  NetworkPlan(std::string network, Index batch, std::span<const OptionSpec> own);
  void takeOver(Settings after, const Settings::Names& names) override;
  FineGrid grid() const;
  Index processes() const noexcept { return processes_; }
  Index batch() const noexcept { return batch_; }
  bool wasSearched() const noexcept { return found_.has_value(); }
  // Takes a plan that was found elsewhere, and fits what is asked here.
  void take(FoundPlan found) { found_ = std::move(found); }
  // All grids that a search may look at, whatever the settings; the one of all processes first.
  std::vector<FineGrid> grids() const;
  bool hasPinnedEnds() const noexcept { return !inputEnds_.empty() || everyInput_ || outputEnd_; }
  // The pinned layouts, or none where an end is free.
  std::optional<Layout> pinnedInput(const DeclaredNetwork& network, int input = 0) const;
  std::optional<Layout> pinnedOutput(const DeclaredNetwork& network) const;
  // The network with an input of a batch of samples.
  virtual DeclaredNetwork layers() const = 0;
  // What its kernels take by turns, where they are known.
  virtual ScratchOf scratch() const { return {}; }
  // What moves within a node without messages.
  virtual SharedByNode shared() const { return {}; }
  // The bytes of gradients that are reduced together, as the predicted latency wants them.
  virtual Index bucketBytes() const;
  // The shapes of its inputs. Throws TENON_ERR_STATE where they were not set.
  std::vector<Shape> inputShapes() const;
  // Of the whole batch, or of the rows of a field on edges.
  void setFurtherShape(int input, Shape shape);
  // The prices of parallelizations on a grid: by default Tenon's own, of the network's layers.
  virtual std::unique_ptr<CostModel> prices(const FineGrid& grid) const;
  // Throws what does not fit together. The settings come one by one, so that a search asks when all
  // are there.
  virtual void checkTogether() const;
  OwnRates rates() const;
  // The rates of the link of each process, as they were set.
  const LinkRates& link() const noexcept { return link_; }
  std::optional<bool> inputChannels() const noexcept { return inputChannels_; }
  bool asksForTrainingAlone() const {
    return objective_ == "training" && !hasPinnedEnds() && overlap_ == 0;
  }

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
      samples_; // of the inputs as the settings say, without the batch; empty: not set
  std::map<int, Shape> further_; // of inputs but the first, as their layouts say, with the batch
  Index processes_ = 1;
  LinkRates link_;
  std::optional<Machine> machine_;
  Space space_ = Space::Host;
  std::optional<double> flops_, memory_; // as they were set
  std::optional<OwnRates> fitted_;
  std::optional<bool> inputChannels_; // none: as the model does by itself
  double memoryLimit_ = 0;
  bool mayRecompute_ = true;
  Index haloDepth_ = 1;
  std::string objective_, placement_;
  Index optimizerStates_ = 2;
  Index every_ = 1; // steps of a solver for each evaluation
  bool fewerProcesses_ = false;
  bool savesRounded_ = false;          // whatever the network says, to see whether that would fit
  double overlap_ = 0;                 // the share of communication that goes on beside computation
  PinnedEnd everyInput_, outputEnd_;   // as the settings say, or the output's layout
  std::map<int, PinnedEnd> inputEnds_; // layouts of inputs
  FixedParallelizations fixed_;
  std::optional<FoundPlan> found_;
};

} // namespace tenon
