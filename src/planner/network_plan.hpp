// SPDX-License-Identifier: BSD-2-Clause
// The request for the plan of a network (plan_request.hpp, a machine, pinned layouts), and after
// search() the plan: a parallelization for each layer. A changed request discards the plan.
// Derived classes supply the network:
//   plan/layer_plan.hpp      layers that will run; the public handle TenonPlan
//   studies/named_plan.hpp   networks by name, also with the cost models of papers, for the command
//                            `tenon plan network`
//
// Calls: settings and pinInput() or pinOutput(), then search(), then found() or layerAt(). A pinned
// end is an input or output of the network whose layout the user has fixed.
#pragma once

#include "machine/machine.hpp"
#include "planner/plan_request.hpp"
#include "planner/prices/own_model.hpp"
#include "planner/search/plan_search.hpp"
#include "sys/options/settable_object.hpp"

#include <map>
#include <memory>
#include <optional>

namespace tenon {

// A request and its plan; see above.
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
  Index processes() const noexcept { return request_.processes; }
  Index batch() const noexcept { return batch_; }
  bool wasSearched() const noexcept { return found_.has_value(); }
  // Stores a plan that fulfils the request but was found by other means than search().
  void take(FoundPlan found) { found_ = std::move(found); }
  // All grids that a search can use under any settings; the grid of all processes is first.
  std::vector<FineGrid> grids() const;
  bool hasPinnedEnds() const noexcept {
    return !inputEnds_.empty() || request_.everyInput || outputEnd_;
  }
  // The pinned layouts, or none if an end is free.
  std::optional<Layout> pinnedInput(const DeclaredNetwork& network, int input = 0) const;
  std::optional<Layout> pinnedOutput(const DeclaredNetwork& network) const;
  // The network for an input of one batch of samples.
  virtual DeclaredNetwork layers() const = 0;
  // Scratch memory that the kernels of the network share, if known.
  virtual ScratchOf scratch() const { return {}; }
  // The ranks of a node that exchange data through shared memory instead of messages.
  virtual SharedByNode shared() const { return {}; }
  // What decides how conversions are carried out. By default all ranks are on one node, unless
  // options say that the machine has levels.
  virtual MovementTarget movementTarget() const {
    return MovementTarget::fromOptions(static_cast<int>(processes()), processes(), space_);
  }
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
  const LinkRates& link() const noexcept { return request_.link; }
  std::optional<bool> inputChannels() const noexcept { return request_.inputChannels; }
  // Whether the plan is for training; otherwise it is for evaluations without derivatives.
  bool trains() const { return request_.trains(); }
  // Whether the request is for training, with free ends and no overlap.
  bool asksForTrainingAlone() const {
    return trains() && !hasPinnedEnds() && request_.overlap == 0;
  }

private:
  KernelRates kernels() const;
  std::vector<FineGrid> grids(bool fewerProcesses, const std::string& placement) const;
  Layout pinned(const PinnedEnd& end, const Shape& shape, const char* which) const;
  OwnTask task(const DeclaredNetwork& network) const;
  FoundPlan pricedPlan(const FineGrid& grid) const;
  FoundPlan bestOf(const std::vector<FineGrid>& grids) const;
  // For the error of a request that no plan fulfils within its memory limit: changes of the request
  // that have a plan.
  std::string whatFits();
  struct Alternative; // a changed request
  std::string bytesOfFitting(const Alternative& alternative);

  std::string network_;
  Index batch_;
  Settings settings_;
  PlanRequest request_;
  std::map<int, Shape> further_; // shapes of further inputs with the batch, from their layouts
  std::optional<Machine> machine_;
  Space space_ = Space::Host;
  std::optional<OwnRates> fitted_;
  bool savesRounded_ = false;          // set while whatFits() tests this change
  PinnedEnd outputEnd_;                // from the settings, or the output's layout
  std::map<int, PinnedEnd> inputEnds_; // layouts of single inputs
  FixedParallelizations fixed_;
  std::optional<FoundPlan> found_;
};

} // namespace tenon
