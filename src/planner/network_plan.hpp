// SPDX-License-Identifier: BSD-2-Clause
// The object behind the public handle: a network, what is asked of its plan, and the plan once it
// was searched. A change of what is asked drops the plan.
#pragma once

#include "machine/machine.hpp"
#include "planner/papers/published_costs.hpp"
#include "planner/prices/declared_network.hpp"
#include "planner/prices/own_model.hpp"
#include "planner/search/plan_search.hpp"
#include "sys/errors/object.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace tenon {

class NetworkPlan : public Object {
public:
  static constexpr const char* kClass = "Plan";

  // Throws TENON_ERR_ARG unless the batch is at least 1.
  NetworkPlan(NetworkSource network, Index batch);

  // The setters throw TENON_ERR_ARG for what is out of range.
  void setProcesses(Index processes);
  void setModel(const std::string& name);
  void setLink(double latency, double bandwidth);
  void setInputChannels(bool on);
  // The machine whose levels are those of the fine grid, and whose links have the prices.
  void setMachine(const Machine& machine);
  // The space of the arrays of a network of layers. Throws TENON_ERR_ARG if the machine was
  // measured with arrays in another.
  void setSpace(Space space);
  void setFlops(double flops);
  void setMemoryRate(double bytesPerSecond);
  // Replaces the rates of the machine file and of these calls by rates that were fitted to
  // measurements.
  void setRates(const OwnRates& rates);
  // The size of an element for tables; layers have a data type of their own.
  void setCellBytes(Index bytes);
  // The shape of a sample, for networks of layers.
  void setInputShape(const Shape& shape);
  void setMemoryLimit(Index bytes);
  // training, inference, or step: inference in a solver that needs it every so many steps.
  void setObjective(const std::string& name, Index every);
  // batch, space or auto: what the outermost axes of the fine grid split.
  void setPlacement(const std::string& name);
  // Whether plans that leave processes idle are searched as well.
  void setFewerProcesses(bool on);
  // The share of communication that goes on beside computation, 0 to 1.
  void setOverlap(double share);
  // The layouts of the network's input and output, for given shapes and the number of processes.
  using PinnedEnd = std::function<Layout(const Shape&, Index processes)>;
  void pinInput(PinnedEnd layout);
  void pinOutput(PinnedEnd layout);
  void fix(const std::string& layer, const std::string& word);

  virtual const FoundPlan& search();
  // Throws TENON_ERR_STATE before a search.
  const FoundPlan& found() const;
  const PlannedLayer& layer(Index index) const;
  const PlannedLayer& layerNamed(const std::string& name) const;

  // Seconds by an equation of papers/published_costs.hpp.
  double publishedSeconds(const std::string& equation, const PaperGrid& grid,
                          const PaperGrid& convolutions) const;

protected:
  FineGrid grid() const;
  Index processes() const noexcept { return processes_; }
  Index batch() const noexcept { return batch_; }
  bool wasSearched() const noexcept { return found_.has_value(); }
  // Takes a plan that was found elsewhere: its grid, and the words of its layers. Throws
  // TENON_ERR_STATE for a grid that is none of these processes, and TENON_ERR_OPTION for a word
  // that a layer cannot have.
  void take(FoundPlan found);
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
  FineGrid gridOf(const Grid& grid) const;
  Layout pinned(const PinnedEnd& end, const Shape& shape, const char* which) const;
  FoundPlan bestOf(const std::vector<FineGrid>& grids) const;
  void checkModel() const;
  const NetworkTable& table(const std::string& who) const;

  NetworkSource network_;
  Shape input_; // of a sample
  Index batch_, processes_ = 1;
  std::string model_ = "t1";
  T1Link link_;
  std::optional<Machine> machine_;
  Space space_ = Space::Host;
  std::optional<double> flops_, memory_; // as they were set
  std::optional<OwnRates> fitted_;
  Index cellBytes_ = 4;
  std::optional<bool> inputChannels_; // none: as the model does by itself
  double memoryLimit_ = 0;
  std::string objective_ = "training", placement_ = "batch";
  Index every_ = 1;
  bool fewerProcesses_ = false;
  double overlap_ = 0;
  PinnedEnd inputEnd_, outputEnd_;
  FixedWords fixed_;
  std::optional<FoundPlan> found_;
};

} // namespace tenon
