// SPDX-License-Identifier: BSD-2-Clause
// The object behind the public handle: a network, what is asked of its plan, and the plan once it
// was searched. A change of what is asked drops the plan.
#pragma once

#include "machine/machine.hpp"
#include "planner/papers/published_costs.hpp"
#include "planner/prices/declared_network.hpp"
#include "planner/prices/own_model.hpp"
#include "planner/search/plan_search.hpp"
#include "sys/options/settable_object.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace tenon {

class NetworkPlan : public SettableObject {
public:
  static constexpr const char* kClass = "Plan";

  // Throws TENON_ERR_ARG unless the batch is at least 1.
  NetworkPlan(NetworkSource network, Index batch);

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
  void pinInput(PinnedEnd layout);
  void pinOutput(PinnedEnd layout);
  void fix(const std::string& layer, const std::string& word);

  virtual const FoundPlan& search();
  // What is asked, and the words of the layers once they were searched.
  std::string describe() const override;
  // Throws TENON_ERR_STATE before a search.
  const FoundPlan& found() const;
  const PlannedLayer& layer(Index index) const;
  const PlannedLayer& layerNamed(const std::string& name) const;

  // Seconds by an equation of papers/published_costs.hpp.
  double publishedSeconds(const std::string& equation, const PaperGrid& grid,
                          const PaperGrid& convolutions) const;

protected:
  // With the settings of plans of a kind.
  NetworkPlan(NetworkSource network, Index batch, std::span<const OptionSpec> own);
  void takeOver(Settings after, const Settings::Names& names) override;
  FineGrid grid() const;
  Index processes() const noexcept { return processes_; }
  Index batch() const noexcept { return batch_; }
  bool wasSearched() const noexcept { return found_.has_value(); }
  // Takes a plan that was found elsewhere, and fits what is asked here.
  void take(FoundPlan found) { found_ = std::move(found); }
  // All grids that a search may look at, whatever the settings; the one of all processes first.
  std::vector<FineGrid> grids() const { return grids(true, true, true); }
  bool hasPinnedEnds() const noexcept { return inputEnd_ || outputEnd_; }
  // The pinned layouts, or none where an end is free.
  std::optional<Layout> pinnedInput(const DeclaredNetwork& network) const;
  std::optional<Layout> pinnedOutput(const DeclaredNetwork& network) const;
  // The network with an input of a batch of samples. Throws TENON_ERR_STATE without a shape.
  virtual DeclaredNetwork layers() const;
  Shape inputShape() const;
  OwnRates rates() const;

private:
  KernelRates kernels() const;
  std::unique_ptr<CostModel> model(const FineGrid& grid) const;
  std::vector<FineGrid> grids(bool fewer, bool outer, bool inner) const;
  Layout pinned(const PinnedEnd& end, const Shape& shape, const char* which) const;
  FoundPlan bestOf(const std::vector<FineGrid>& grids) const;
  void checkModel() const;
  void checkShape(const Shape& shape) const;
  const NetworkTable& table(const std::string& who) const;

  NetworkSource network_;
  Index batch_;
  Settings settings_;
  Shape input_; // of a sample; empty: it is not set
  Index processes_ = 1;
  std::string model_;
  T1Link link_;
  std::optional<Machine> machine_;
  Space space_ = Space::Host;
  std::optional<double> flops_, memory_; // as they were set
  std::optional<OwnRates> fitted_;
  Index elementBytes_ = 4; // of tables and network files; layers have a data type of their own
  std::optional<bool> inputChannels_; // none: as the model does by itself
  double memoryLimit_ = 0;
  std::string objective_, placement_;
  Index every_ = 1; // steps of a solver for each evaluation
  bool fewerProcesses_ = false;
  double overlap_ = 0; // the share of communication that goes on beside computation
  PinnedEnd inputEnd_, outputEnd_;
  FixedWords fixed_;
  std::optional<FoundPlan> found_;
};

} // namespace tenon
