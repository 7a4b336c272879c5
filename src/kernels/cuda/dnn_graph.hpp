// SPDX-License-Identifier: BSD-2-Clause
// A convolution or one of its adjoints as a plan of cuDNN's graph API, by its C functions alone:
//     y <- conv(x, w) + beta y,    dx <- conv*(w, dy) + beta dx,    dw <- conv*(x, dy) + beta dw,
// or y <- f(conv(x, w) + b) with a bias by channel, where f is a rectifier or nothing. Arrays may
// have any strides, so that a window that crops its input is a smaller box of the same array. The
// library's engines with tensor cores read their channels last, and bring other arrays there and
// back in their workspace. A graph can do that for them, and round to bfloat16 on the way: its
// arrays of float32 are copied into the workspace, where the library sums in float32, and the
// result is brought back.
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

// A descriptor of the library.
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
  // `what` names the descriptor in the error.
  void finalize(const char* what);

private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

struct ArrayBox {
  std::vector<Index> extent, strides; // batch, channel, space; or output, input channel, taps
  auto operator<=>(const ArrayBox&) const = default;
};

enum class ConvolutionKind { Forward, AdjointData, AdjointWeights };

// What is done to the result of a forward convolution without beta.
enum class Epilogue { None, Bias, BiasAndRelu };

// In what form the library gets the arrays: as they lie, or as copies with the channels last, in
// their type or rounded. Copies are of float32, with a beta of 0 or 1, and those that are rounded
// have no epilogue.
enum class Staging { None, ChannelsLast, BFloat16 };

// A convolution or an adjoint, in at least two dimensions of space. x, w and y are named as in the
// forward convolution.
struct ConvolutionGraph {
  ConvolutionKind kind;
  cudnnDataType_t type;
  ArrayBox x = {}, w = {}, y = {};
  std::vector<Index> padLow = {}, padHigh = {}, stride = {},
                     dilation = {}; // no padding is negative
  double beta = 0;
  Epilogue epilogue = Epilogue::None;
  Staging staging = Staging::None;
  // Properties of engines that are allowed.
  bool mayUseTf32 = false, mayBeNondeterministic = false;
  // Of which the arrays' addresses are multiples, in bytes; 0: the size of an element. Some engines
  // with tensor cores want 16.
  Index alignment = 0;

  auto operator<=>(const ConvolutionGraph&) const = default;
};

// Whether the graph allows an engine with this note.
bool allows(const ConvolutionGraph& graph, cudnnBackendNumericalNote_t note);

class ConvolutionPlan {
public:
  // The first engine of the library's heuristics that the graph allows. TENON_ERR_SUPPORT if none
  // is left, TENON_ERR_LIBRARY with the library's text if the graph is malformed.
  explicit ConvolutionPlan(const ConvolutionGraph& graph);

  Index workspaceBytes() const noexcept { return workspaceBytes_; }
  cudnnBackendDescriptor_t get() const noexcept { return plan_.get(); }
  // The plan's place in the list of all plans of the graph.
  int place() const noexcept { return place_; }
  // The library's number of the engine.
  Index engine() const noexcept { return engine_; }

private:
  friend struct PlanList;
  ConvolutionPlan(Descriptor plan, Index workspaceBytes, int place, Index engine)
      : plan_(std::move(plan)), workspaceBytes_(workspaceBytes), place_(place), engine_(engine) {}

  Descriptor plan_;
  Index workspaceBytes_ = 0;
  int place_ = 0;
  Index engine_ = -1;
};
using ConvolutionPlanPtr = std::shared_ptr<const ConvolutionPlan>;

// Of the copies in the workspace; 0 where the arrays are read as they lie.
Index stagedBytes(const ConvolutionGraph& graph);

// A larger workspace is taken only where there is no other way.
constexpr Index kEnoughWorkspace = Index(1) << 30;

// The plans of all engines that the graph allows, in the order of the library's heuristics:
// benchmarks compare the one that is taken with them.
std::vector<ConvolutionPlanPtr> allPlans(const ConvolutionGraph& graph);
// The first plans of that many engines, or of all that there are, without those that need more
// workspace. The first of these is planOf(graph).
std::vector<ConvolutionPlanPtr> plansOfEngines(const ConvolutionGraph& graph, std::size_t most);
// The plan of a graph, which is shared while somebody holds it.
ConvolutionPlanPtr planOf(const ConvolutionGraph& graph);

// A plan with the arrays of its last run, which are often those of the next.
class ConvolutionRun {
public:
  ConvolutionRun() = default;
  explicit ConvolutionRun(const ConvolutionGraph& graph);
  explicit ConvolutionRun(ConvolutionPlanPtr plan) : tight_{.plan = std::move(plan)} {}

  const ConvolutionGraph& graph() const { return *tight_.graph; }
  const ConvolutionPlan& plan() const noexcept { return *tight_.plan; }
  // Takes another plan of the graph, whose place no other takes if it is only tried.
  void take(ConvolutionPlanPtr plan, bool isTried) {
    tight_.plan = std::move(plan);
    tight_.hasRun = isTried;
  }
  Index workspaceBytes() const noexcept;
  // Queues the run on the context's stream. The kind says which of the arrays is written. If the
  // library cannot execute the plan of a graph, which only a first run shows, the next plan of the
  // list takes its place.
  void run(KernelContext& context, const void* x, const void* w, const void* y, void* workspace,
           const void* bias = nullptr);

private:
  struct Prepared {
    std::optional<ConvolutionGraph> graph = {};
    ConvolutionPlanPtr plan = {};
    bool hasRun = false;
  };

  void runStaged(KernelContext& context, const std::array<const void*, 4>& arrays,
                 std::byte* workspace);
  void execute(KernelContext& context, const std::array<const void*, 5>& arrays);

  // For arrays that are aligned as the graph says, and for others.
  Prepared tight_;
  std::optional<Prepared> loose_;
  std::array<const void*, 5> arrays_{}; // x, w, y, the bias and the workspace
  Descriptor pack_{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
};

} // namespace tenon::cuda
