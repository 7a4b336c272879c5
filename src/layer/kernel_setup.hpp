// SPDX-License-Identifier: BSD-2-Clause
// A layer that is one local kernel between conversions. A layer type says its layouts and its
// kernel; everything distributed happens here:
//
//   Apply        xUse = C(x -> use) x,  pUse = C(storage -> use) p,  y = kernel(xUse, pUse)
//   ApplyAdjoint (dxUse, dpUse) = kernel*(dy),  dx = C* dxUse,  dpUse accumulates
//
// dxUse travels while the kernel works on dpUse. A layer whose input lies as it is used but for a halo
// may leave part of its output to strips (kernel_strips.hpp), whose halo travels while the kernel works.
//
// The kernel sees contiguous arrays only. What the caller supplies at the input's boundary is added
// between conversion and kernel: a second input, or a constant (boundary_input.hpp).
#pragma once

#include "layer/layer.hpp"
#include "layer/saved.hpp"

namespace tenon {

using ParameterUses = std::vector<std::unique_ptr<ParameterUse>>;

// What the kernel kept of an Apply. Tensors that it does not keep must not be read.
struct KernelPoint {
  const DTensor* x = nullptr;
  const DTensor* y = nullptr;
  Buffer* workspace = nullptr;
};

// The local arithmetic of a layer on one rank, for one set-up. Its parameters are pUse in the order
// in which the layer type declared them.
class LocalKernel {
public:
  virtual ~LocalKernel() = default;
  virtual Index workspaceBytes() const { return 0; }
  virtual bool keepsInput() const { return false; }
  virtual bool keepsOutput() const { return false; }
  // `workspace` is null in inference.
  virtual void forward(const DTensor& x, ParameterUses& parameters, DTensor& y,
                       Buffer* workspace) = 0;
  virtual void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& parameters,
                       DTensor& dy) = 0;
  // dx may be null. What dx does not wait for may be left to adjointParameters(), which is called
  // while dx is on its way to other ranks.
  virtual void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses& parameters,
                       DTensor* dx) = 0;
  virtual void adjointParameters(const KernelPoint&, const DTensor& /*dy*/, ParameterUses&) {}
  virtual std::string describe() const = 0;
};

// A part of the output with a kernel of its own, which reads `use` and writes its part alone.
struct KernelStrip {
  Layout use; // of the input
  std::unique_ptr<LocalKernel> kernel;
};

// What a layer type decides for one layout of the input.
struct KernelPlan {
  Signature signature;
  Layout use; // of the input
  Layout output;
  std::vector<Ref<Parameter>> parameters;
  std::vector<Layout> parameterUses;
  std::unique_ptr<LocalKernel> kernel;
  std::optional<CallersValues> callers = {};
  std::vector<KernelStrip> strips = {}; // only where the input's memory serves as `use`
};

// Makes the kernel that computes some of this rank's outputs, in global indices, from what it holds of
// the input in `use`.
using KernelMaker = std::unique_ptr<LocalKernel> (*)(Layer& layer, const Form& form,
                                                     const Layout& use, const Box& outputs);
std::unique_ptr<Setup> setUpKernel(Layer& layer, const Layouts& inputs, KernelMaker make);

} // namespace tenon
