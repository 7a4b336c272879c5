// SPDX-License-Identifier: BSD-2-Clause
// The kernels that a map list calls, on tensors. Most are an ArrayKernel of the layer's declaration
// (declaration/kernel/array_kernel.hpp), which onTensors() calls with this rank's arrays. The
// others need more than arrays: operators that they apply themselves, states, targets, functions of
// the user, or the lists of a mesh. They derive from one of these:
//
//   LocalKernel         any number of inputs; its own tangent (derivative in a direction), adjoint
//   OneInputKernel      the same with one input
//   FixedTensorKernel   not differentiated
#pragma once

#include "declaration/core/form.hpp"
#include "declaration/core/map_list.hpp"
#include "declaration/kernel/array_kernel.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"
#include "kernels/base/autotuner.hpp"
#include "layer/core/parameter.hpp"
#include "sys/memory/memory.hpp"

#include <memory>
#include <span>

namespace tenon {

// Tensors of a layer's inputs or their tangents, and of cotangents of the inputs, in order. A null
// tangent counts as zero; a null cotangent is not computed.
using Inputs = std::span<const DTensor* const>;
using InputCotangents = std::span<DTensor* const>;
// Tensors of outputs or their tangents (several only for networks), and of cotangents of the
// outputs. A null cotangent of an output counts as zero.
using Outputs = std::span<DTensor* const>;
using OutputCotangents = std::span<const DTensor* const>;

class BoundMaps;
struct PointwiseFunction;
using ParameterUses = std::vector<std::unique_ptr<ParameterUse>>;

// The point of differentiation: the values that Apply has saved. A kernel may only read the values
// that its entry in the map list declares as saved.
struct KernelPoint {
  const DTensor* x = nullptr;  // the first input
  const DTensor* y = nullptr;  // the output
  Buffer* workspace = nullptr; // the kernel's own data of this Apply, such as indices of maxima
  Inputs inputs = {};          // all inputs
  bool adds = false;           // the adjoint must add to dx (only if the entry has addsCotangent)
};

// A local kernel. Its entry in the map list (KernelEntry) declares the values that it saves and
// when its adjoint adds to gradients. Its parameters are in their use layouts, in the order of the
// layer type. The runner of a pass (an Apply, tangent or adjoint) calls, for each step:
//
//   Forward             forwardMany(), or forwardThen() and, if it returns false, applyFunction();
//                       in inference infer(), and these if it returns false
//   Tangent             tangentMany()
//   Adjoint             adjointMany()
//   AdjointParameters   adjointParameters(), for kernels with Gradients::Separate
class LocalKernel {
public:
  virtual ~LocalKernel() = default;
  // y = kernel(x). `workspace` is null in inference, when nothing is saved.
  virtual void forwardMany(Inputs x, ParameterUses& parameters, DTensor& y, Buffer* workspace) = 0;
  // y = f(kernel(x)), for kernels whose entry says that they can apply a function of each element
  // (an epilogue). If it returns false, y = kernel(x) and the runner calls applyFunction() next.
  // expect() announces f before autotuning; if the layer is several nodes, the f after the last
  // node is announced.
  virtual bool forwardThen(Inputs x, ParameterUses& parameters, const PointwiseFunction& /*f*/,
                           DTensor& y) {
    forwardMany(x, parameters, y, nullptr);
    return false;
  }
  // For inference, as those of ArrayKernel.
  virtual bool infer(Inputs, ParameterUses&, const Finish&, DTensor&) { return false; }
  virtual bool foldsChannels() { return false; }
  virtual ChannelOrders channelOrders() { return ChannelOrders::First; }
  // Whether the kernel multiplies each channel by a factor and adds a summand, both of which do not
  // depend on its first input. channelScaling() returns them, and needs no array of this input.
  virtual bool scalesChannels() const { return false; }
  virtual void channelScaling(Inputs, ParameterUses&, std::span<float> /*scale*/,
                              std::span<float> /*shift*/) {}
  // y = f(y). Overridden by kernels that write only a part of y.
  virtual void applyFunction(const PointwiseFunction& f, DTensor& y);
  virtual void expect(const PointwiseFunction& /*f*/) {}
  // dy = derivative of the kernel in the direction dx, at the point. A null tangent is zero.
  virtual void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& parameters,
                           DTensor& dy) = 0;
  // dx = adjoint of that derivative applied to dy; also adds to the gradients of parameters. A null
  // cotangent is not computed. Kernels with Gradients::Separate compute the gradients in
  // adjointParameters() instead, which overlaps with the exchange of cotangents.
  virtual void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& parameters,
                           InputCotangents dx) = 0;
  virtual void adjointParameters(const KernelPoint&, const DTensor& /*dy*/, ParameterUses&) {}
  virtual std::string describe() const = 0;
  // Whether the kernel can work on arrays of the device.
  virtual bool runsOnDevice() const { return false; }
  // Whether a call with the same arrays queues the same work on the device each time, without
  // waiting and without numbers from the host that can change (needed for CUDA graphs).
  virtual bool isRepeatable() const { return true; }
  // Bytes of the kernel's own memory, for views.
  virtual Index bytes() const { return 0; }
  // The candidates among which autotuning chooses before the first call; null if there is only one.
  virtual Autotuner* autotuner() { return nullptr; }
  // The elementwise function that the kernel applies; null for other kernels.
  virtual const PointwiseFunction* function() const { return nullptr; }
  // The kernel on arrays that this one calls; null if there is none.
  virtual std::shared_ptr<ArrayKernel> onArrays() const { return nullptr; }
  // The maps that the kernel runs itself, with their own parameters; null if it has none.
  virtual const BoundMaps* inner() const { return nullptr; }
};

// A kernel with one input. The pointers dx can be null: a tangent that is zero, or a cotangent that
// is not needed.
class OneInputKernel : public LocalKernel {
public:
  virtual void forward(const DTensor& x, ParameterUses& parameters, DTensor& y,
                       Buffer* workspace) = 0;
  virtual void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& parameters,
                       DTensor& dy) = 0;
  virtual void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses& parameters,
                       DTensor* dx) = 0;

private:
  void forwardMany(Inputs x, ParameterUses& parameters, DTensor& y, Buffer* workspace) final {
    forward(*x[0], parameters, y, workspace);
  }
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& parameters,
                   DTensor& dy) final {
    tangent(point, dx[0], parameters, dy);
  }
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& parameters,
                   InputCotangents dx) final {
    adjoint(point, dy, parameters, dx[0]);
  }
};

// A kernel that is not differentiated, such as a maximum or a statistic.
class FixedTensorKernel : public LocalKernel {
public:
  void tangentMany(const KernelPoint&, Inputs, ParameterUses&, DTensor&) final {}
  void adjointMany(const KernelPoint&, const DTensor&, ParameterUses&, InputCotangents) final {}
};

// The kernel of a declaration, called with the arrays of tensors. `entry` is its entry in the list.
std::unique_ptr<LocalKernel> onTensors(std::unique_ptr<ArrayKernel> kernel,
                                       const KernelEntry& entry);

} // namespace tenon
