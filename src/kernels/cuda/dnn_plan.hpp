// SPDX-License-Identifier: BSD-2-Clause
// Plans of cuDNN for a convolution graph (dnn_graph.hpp), and their execution. A plan is an engine
// of the library prepared for this device. convolution_cudnn.cpp uses this file:
//     ConvolutionRun run(graph);
//     reserve run.workspaceBytes() of scratch;  run.run(context, x, w, y, workspace);
#pragma once

#include "kernels/cuda/dnn_graph.hpp"

#include <array>
#include <memory>
#include <optional>

namespace tenon::cuda {

// A plan of cuDNN, which can be executed by several runs.
class ConvolutionPlan {
public:
  // Creates a plan of the first engine in the library's heuristics that the graph allows. Throws
  // TENON_ERR_SUPPORT if there is none, and TENON_ERR_LIBRARY with the library's text if the graph
  // is malformed.
  explicit ConvolutionPlan(const ConvolutionGraph& graph);

  Index workspaceBytes() const noexcept { return workspaceBytes_; }
  cudnnBackendDescriptor_t get() const noexcept { return plan_.get(); }
  // Position of the plan in the list of all plans of the graph, counted from 1.
  int position() const noexcept { return position_; }
  // The library's number of the engine.
  Index engine() const noexcept { return engine_; }

private:
  friend struct PlanList;
  ConvolutionPlan(Descriptor plan, Index workspaceBytes, int position, Index engine)
      : plan_(std::move(plan)), workspaceBytes_(workspaceBytes), position_(position),
        engine_(engine) {}

  Descriptor plan_;
  Index workspaceBytes_ = 0;
  int position_ = 0;
  Index engine_ = -1;
};
using ConvolutionPlanPtr = std::shared_ptr<const ConvolutionPlan>;

// A plan with a larger workspace is used only if no other plan exists.
constexpr Index kEnoughWorkspace = Index(1) << 30;

// Plans of all allowed engines, in the order of the library's heuristics, for benchmarks of the
// selection.
std::vector<ConvolutionPlanPtr> allPlans(const ConvolutionGraph& graph);
// The first plans with distinct engines and at most kEnoughWorkspace, maxPlans at most. The first
// is planOf(graph).
std::vector<ConvolutionPlanPtr> plansOfEngines(const ConvolutionGraph& graph, std::size_t maxPlans);
// The plan of a graph, shared by all holders of a reference.
ConvolutionPlanPtr planOf(const ConvolutionGraph& graph);

// A plan together with the argument list of its last run, which the next run often reuses.
class ConvolutionRun {
public:
  ConvolutionRun() = default;
  explicit ConvolutionRun(const ConvolutionGraph& graph);
  explicit ConvolutionRun(ConvolutionPlanPtr plan) : tight_{.plan = std::move(plan)} {}

  const ConvolutionGraph& graph() const { return *tight_.graph; }
  const ConvolutionPlan& plan() const noexcept { return *tight_.plan; }
  // Selects another plan of the graph. A plan that is only tried (isTried) is not replaced by the
  // next one if it fails.
  void take(ConvolutionPlanPtr plan, bool isTried) {
    tight_.plan = std::move(plan);
    tight_.mayReplace = !isTried;
  }
  Index workspaceBytes() const noexcept;
  // Queues the run on the context's stream. The kind of the graph determines which of x, w and y is
  // written, although all three are const here. Some plans fail at their first execution only; the
  // next plan of the list then replaces them.
  void run(KernelContext& context, const void* x, const void* w, const void* y, void* workspace,
           const void* bias = nullptr);

private:
  struct Prepared {
    std::optional<ConvolutionGraph> graph = {}; // if known
    ConvolutionPlanPtr plan = {};
    // Whether the next plan replaces this one if it fails: until it has run without an error.
    bool mayReplace = true;
  };

  void runStaged(KernelContext& context, const std::array<const void*, 4>& arrays,
                 std::byte* workspace);
  void execute(KernelContext& context, const std::array<const void*, 5>& arrays);

  // Plans for arrays with the graph's alignment, and for other arrays.
  Prepared tight_;
  std::optional<Prepared> loose_;
  std::array<const void*, 5> arrays_{}; // x, w, y, the bias and the workspace
  Descriptor pack_{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
};

} // namespace tenon::cuda
