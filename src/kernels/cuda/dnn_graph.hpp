// SPDX-License-Identifier: BSD-2-Clause
// A convolution or one of its adjoints as a graph of cuDNN's graph API, through the C functions of
// the library:
//     y <- conv(x, w) + beta y,    dx <- conv*(w, dy) + beta dx,    dw <- conv*(x, dy) + beta dw,
// or y <- f(conv(x, w) + b), with a bias b per channel, where f is a rectifier or the identity.
//
// cuDNN's terms: a graph describes operations and arrays, an engine is one of the library's
// implementations of a graph, a plan is an engine prepared for this device, and each of them is a
// descriptor with attributes. A ConvolutionGraph is turned into a ConvolutionPlan, which all
// kernels with equal graphs share, and a ConvolutionRun executes it (dnn_plan.hpp).
//
// Arrays can have any strides; a window that crops its input uses a smaller box of the same array.
#pragma once

#include "kernels/cuda/handles.hpp"
#include "sys/types.hpp"

#include <compare>
#include <cstddef>
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

// Identifiers of the arrays in a graph. The last two are intermediate (virtual) arrays between two
// operations.
enum GraphArray : Index { kX = 1, kW, kY, kBias, kSum, kBiasedSum };

// The bytes of an element of the graph's arrays.
Index bytesOfElement(const ConvolutionGraph& g);
// What the graph computes, for messages: "the convolution".
const char* textOf(ConvolutionKind kind);

// The graph as the library describes it. A graph with copies is described on the copies.
Descriptor graphDescriptor(const ConvolutionGraph& graph);

// The handle for creating plans. The handles of contexts, which execute the plans, are destroyed
// with their communicators, but all contexts share the plans.
cudnnHandle_t planningHandle();

} // namespace tenon::cuda
