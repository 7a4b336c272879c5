// SPDX-License-Identifier: BSD-2-Clause
// A convolution or one of its adjoints as a plan of cuDNN's graph API, by its C functions alone:
//     y <- conv(x, w) + beta y,    dx <- conv*(w, dy) + beta dx,    dw <- conv*(x, dy) + beta dw.
// Arrays may have any strides, so that a window that crops its input is a smaller box of the same array.
#pragma once

#include "kernels/cuda/handles.hpp"
#include "sys/types.hpp"

#include <array>
#include <compare>
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

// A convolution or an adjoint, in at least two dimensions of space. x, w and y are named as in the forward
// convolution.
struct ConvolutionGraph {
  ConvolutionKind kind;
  cudnnDataType_t type;
  ArrayBox x = {}, w = {}, y = {};
  std::vector<Index> padLow = {}, padHigh = {}, stride = {},
                     dilation = {}; // no padding is negative
  double beta = 0;
  // Properties of engines that are allowed.
  bool mayUseTf32 = false, mayBeNondeterministic = false;

  auto operator<=>(const ConvolutionGraph&) const = default;
};

// Whether the graph allows an engine with this note.
bool allows(const ConvolutionGraph& graph, cudnnBackendNumericalNote_t note);

class ConvolutionPlan {
public:
  // The first engine of the library's heuristics that the graph allows. TENON_ERR_SUPPORT if none is
  // left, TENON_ERR_LIBRARY with the library's text if the graph is malformed.
  explicit ConvolutionPlan(const ConvolutionGraph& graph);

  Index workspaceBytes() const noexcept { return workspaceBytes_; }
  cudnnBackendDescriptor_t get() const noexcept { return plan_.get(); }
  // The plan's place in the list of all plans of the graph.
  int place() const noexcept { return place_; }

private:
  ConvolutionPlan(Descriptor plan, Index workspaceBytes, int place)
      : plan_(std::move(plan)), workspaceBytes_(workspaceBytes), place_(place) {}
  friend std::vector<std::shared_ptr<const ConvolutionPlan>> allPlans(const ConvolutionGraph&);

  Descriptor plan_;
  Index workspaceBytes_ = 0;
  int place_ = 0;
};

// The plans of all engines that the graph allows, in the order of the library's heuristics: benchmarks
// compare the one that is taken with them.
std::vector<std::shared_ptr<const ConvolutionPlan>> allPlans(const ConvolutionGraph& graph);
// The plan of a graph, which is shared while somebody holds it.
std::shared_ptr<const ConvolutionPlan> planOf(const ConvolutionGraph& graph);

// A plan with the arrays of its last run, which are often those of the next.
class ConvolutionRun {
public:
  ConvolutionRun() = default;
  explicit ConvolutionRun(const ConvolutionGraph& graph);
  explicit ConvolutionRun(std::shared_ptr<const ConvolutionPlan> plan) : plan_(std::move(plan)) {}

  Index workspaceBytes() const noexcept { return plan_ ? plan_->workspaceBytes() : 0; }
  // Queues the run on the handles' stream. The kind says which of the arrays is written. If the library
  // cannot execute the plan of a graph, which only a first run shows, the next plan of the list takes its
  // place.
  void run(DeviceHandles& handles, const void* x, const void* w, const void* y, void* workspace);

private:
  std::optional<ConvolutionGraph> graph_;
  std::shared_ptr<const ConvolutionPlan> plan_;
  bool hasRun_ = false;
  std::array<const void*, 4> arrays_{};
  Descriptor pack_{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
};

} // namespace tenon::cuda
