// SPDX-License-Identifier: BSD-2-Clause
// A layer that is one local kernel between conversions. A layer type says its layouts and its
// kernel; everything distributed follows from the list of maps, with the input x, parameters p and
// the output y:
//
//   pUse = C(storage -> use) p,  xUse = C(x -> use) x [+ M v],  y = kernel(xUse, pUse)
//
// Parts of the output may have kernels of their own, each with its own conversion of x, which travels
// while the layer's kernel computes the rest (strips). What the caller supplies at the input's
// boundary is v, a second input or a constant (linop/boundary_op.hpp): a tensor in the use layout, or
// one number.
#pragma once

#include "layer/layer.hpp"
#include "layer/local_kernel.hpp"

namespace tenon {

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
