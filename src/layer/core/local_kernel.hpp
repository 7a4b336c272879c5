// SPDX-License-Identifier: BSD-2-Clause
// Interfaces of local kernels. A local kernel is the arithmetic of a layer on the arrays of one
// rank, without communication, for one list of input layouts. Before and after it the layer
// redistributes the arrays: it exchanges halos, or sums contributions over ranks. Arrays are
// contiguous unless the kernel's entry in the map list (the layer as a short program of exchanges
// and kernels) accepts any strides. The interfaces, from which the kernel of a type chooses:
//
//   LocalKernel      any number of inputs; its own tangent (derivative in a direction) and adjoint
//   OneInputKernel   the same with one input
//   LinearKernel     one input, linear: map() and mapAdjoint()
//   BilinearKernel   a product of input and weights, plus a bias: product(), adjointX(), adjointW()
//   FixedKernel      not differentiated
#pragma once

#include "declaration/core/form.hpp"
#include "declaration/core/map_list.hpp"
#include "declaration/core/window_layout.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"
#include "kernels/base/autotuner.hpp"
#include "kernels/convolution/window.hpp"
#include "layer/core/parameter.hpp"
#include "sys/data_type.hpp"
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

// A kernel object Kernel<float> or Kernel<double>, for the data type of its layer. Only one of the
// two pointers is set.
template <template <class> class Kernel>
class TypedKernel {
public:
  // make.template operator()<T>() creates the kernel for type T.
  template <class Make>
  TypedKernel(TenonDataType type, Make&& make) {
    visitFloating(type, [&]<class T>(T) { slot<T>() = make.template operator()<T>(); });
  }

  template <class T>
  Kernel<T>& get() {
    return *slot<T>();
  }
  // Calls f(kernel) with the existing kernel.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return single_ ? f(*single_) : f(*double_);
  }

private:
  template <class T>
  std::unique_ptr<Kernel<T>>& slot() {
    if constexpr (std::is_same_v<T, float>)
      return single_;
    else
      return double_;
  }

  std::unique_ptr<Kernel<float>> single_;
  std::unique_ptr<Kernel<double>> double_;
};

// The sliding window in the indices of local arrays. `in` and `out` are the boxes of the input and
// of the output on this rank, in global indices; `shape` is the global shape of the input.
WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out);

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
//   Forward             forwardMany(), or forwardThen() and, if it returns false, applyFunction()
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

// A linear kernel without parameters: its tangent is the kernel itself.
class LinearKernel : public OneInputKernel {
public:
  virtual void map(const DTensor& x, DTensor& y) = 0;
  virtual void mapAdjoint(const DTensor& dy, DTensor& dx) = 0;

private:
  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) final { map(x, y); }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses&, DTensor& dy) final {
    if (dx)
      map(*dx, dy);
    else
      scaleArray(0, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) final {
    if (dx)
      mapAdjoint(dy, *dx);
  }
};

// A kernel y = B(x, w) + b that is linear in x and in w, such as a matrix product or a convolution.
// With one input, w is parameter 0 and the bias b is parameter 1, if there is one. With two inputs,
// w is the second input. A derived class implements the product and its adjoint with respect to
// each factor, and passes the operation count of one product. This class then computes the tangent
// B(dx, w) + B(x, dw) + db, and counts each adjoint as many operations as the product.
class BilinearKernel : public LocalKernel {
protected:
  explicit BilinearKernel(double flops) : flops_(flops) {}

  // y = B(x, w) + b, or y += B(x, w) if `adds`. b is null if this rank has no bias.
  virtual void product(const DTensor& x, const DTensor& w, const DTensor* b, bool adds,
                       DTensor& y) = 0;
  // y = f(B(x, w) + b) in one step. Returns false, and leaves y unchanged, if separate steps are as
  // fast.
  virtual bool productThen(const DTensor& /*x*/, const DTensor& /*w*/, const DTensor* /*b*/,
                           const PointwiseFunction& /*f*/, DTensor& /*y*/) {
    return false;
  }
  // dx = B(., w)* dy
  virtual void adjointX(const DTensor& w, const DTensor& dy, DTensor& dx) = 0;
  // dw = B(x, .)* dy, and db = dy summed over all elements to which an element of b is added.
  // Overwrites dw if it is the cotangent of an input; adds to dw and db if they are gradients of
  // parameters. db is null if this rank has no bias.
  virtual void adjointW(const DTensor& x, const DTensor& dy, DTensor& dw, DTensor* db) = 0;
  // y = b, or 0 without b. Overridden by kernels with a bias, and by those that write only a part
  // of y.
  virtual void fill(const DTensor* b, DTensor& y);

private:
  void forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer*) final;
  bool forwardThen(Inputs x, ParameterUses& p, const PointwiseFunction& f, DTensor& y) final;
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& p, DTensor& dy) final;
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& p,
                   InputCotangents dx) final;
  void adjointParameters(const KernelPoint& point, const DTensor& dy, ParameterUses& p) final;

  double flops_;
};

// A kernel that is not differentiated, such as a maximum or a statistic.
class FixedKernel : public LocalKernel {
public:
  void tangentMany(const KernelPoint&, Inputs, ParameterUses&, DTensor&) final {}
  void adjointMany(const KernelPoint&, const DTensor&, ParameterUses&, InputCotangents) final {}
};

} // namespace tenon
