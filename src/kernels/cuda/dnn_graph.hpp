// SPDX-License-Identifier: BSD-2-Clause
// A convolution or one of its adjoints as a plan of cuDNN's graph API, through the C functions of
// the library:
//     y <- conv(x, w) + beta y,    dx <- conv*(w, dy) + beta dx,    dw <- conv*(x, dy) + beta dw,
// or y <- f(conv(x, w) + b), with a bias b per channel, where f is a rectifier or the identity.
//
// cuDNN's terms: a graph describes operations and arrays, an engine is one of the library's
// implementations of a graph, a plan is an engine prepared for this device, and each of them is a
// descriptor with attributes. A ConvolutionGraph is turned into a ConvolutionPlan, which all
// kernels with equal graphs share; a ConvolutionRun executes it. convolution_cudnn.cpp uses this
// file:
//     ConvolutionRun run(graph);
//     reserve run.workspaceBytes() of scratch;  run.run(context, x, w, y, workspace);
//
// Arrays can have any strides; a window that crops its input uses a smaller box of the same array.
// The library's tensor-core engines read arrays with channels last, and transpose other arrays in
// their workspace. Staging does this outside of the library instead, optionally with rounding to
// bfloat16: float32 arrays are copied into the workspace, the library computes (with sums in
// float32), and the result is copied back.
#pragma once

#include "kernels/cuda/handles.hpp"
#include "sys/types.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cuda {

// RAII wrapper of a cuDNN backend descriptor.
class Descriptor {
public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Descriptor();

  cudnnBackendDescriptor_t get() const noexcept { return handle_; }
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::size_t count, const void* values);
  Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<Index>& values);
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other);
  // `what` is the name of the descriptor in an error.
  void finalize(const char* what);

private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

// An array for the library: batch, channel, space; or output channel, input channel, taps.
struct ArrayBox {
  std::vector<Index> extent, strides;
  auto operator<=>(const ArrayBox&) const = default;
};

// The three products of a convolution.
enum class ConvolutionKind { Forward, AdjointData, AdjointWeights };

// Operation that follows a forward convolution, which then has beta = 0.
enum class Epilogue { None, Bias, BiasAndRelu };

// Form of the arrays for the library: in place, or copies with channels last, in float32 or rounded
// to bfloat16. Copies require float32 and beta 0 or 1; bfloat16 excludes an epilogue.
enum class Staging { None, ChannelsLast, BFloat16 };

// A convolution or an adjoint, in at least two spatial dimensions. x, w and y have the roles of the
// forward convolution.
struct ConvolutionGraph {
  ConvolutionKind kind;
  cudnnDataType_t type;
  ArrayBox x = {}, w = {}, y = {};
  std::vector<Index> padLow = {}, padHigh = {}, stride = {}, dilation = {}; // paddings are >= 0
  double beta = 0;
  Epilogue epilogue = Epilogue::None;
  Staging staging = Staging::None;
  // Allowed properties of engines.
  bool mayUseTf32 = false, mayBeNondeterministic = false;
  // Alignment of the arrays in bytes; 0 means the size of an element. Some tensor-core engines
  // require 16.
  Index alignment = 0;

  auto operator<=>(const ConvolutionGraph&) const = default;
};

// Whether the graph allows an engine with this numerical note.
bool allows(const ConvolutionGraph& graph, cudnnBackendNumericalNote_t note);

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

// Bytes of the copies in the workspace, or 0 if the arrays are used in place.
Index stagedBytes(const ConvolutionGraph& graph);

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
