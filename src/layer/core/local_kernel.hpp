// SPDX-License-Identifier: BSD-2-Clause
// The local arithmetic of a layer on one rank, for one set-up, on contiguous arrays.
#pragma once

#include "declaration/core/form.hpp"
#include "declaration/core/map_list.hpp"
#include "declaration/core/window_layout.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/data_type.hpp"
#include "dtensor/dtensor.hpp"
#include "kernels/base/autotuner.hpp"
#include "kernels/convolution/window.hpp"
#include "layer/core/parameter.hpp"
#include "sys/memory/memory.hpp"

#include <memory>
#include <span>

namespace tenon {

// Tensors of a layer's inputs, in their order. Null is zero in a tangent, and "not wanted" in an
// adjoint.

using Inputs = std::span<const DTensor* const>;
using InputCotangents = std::span<DTensor* const>;
// Of outputs, of which only networks have several. A null cotangent is zero.
using Outputs = std::span<DTensor* const>;
using OutputCotangents = std::span<const DTensor* const>;

// A kernel object in the one data type that its layer has.

template <template <class> class Kernel>
class TypedKernel {
public:
  // make.template operator()<T>() gives the kernel of the type.
  template <class Make>
  TypedKernel(TenonDataType type, Make&& make) {
    visitFloating(type, [&]<class T>(T) { slot<T>() = make.template operator()<T>(); });
  }

  template <class T>
  Kernel<T>& get() {
    return *slot<T>();
  }
  // Calls f(kernel) with the kernel that there is.
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

// The window of arrays that hold a box of the input, of extents `shape`, and a box of the output.
WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out);

class BoundMaps;
struct PointwiseFunction;
using ParameterUses = std::vector<std::unique_ptr<ParameterUse>>;

// What the kernel kept of an Apply. Tensors that it does not keep must not be read.
struct KernelPoint {
  const DTensor* x = nullptr; // the first input
  const DTensor* y = nullptr;
  Buffer* workspace = nullptr;
  Inputs inputs = {};
  bool adds = false; // the adjoint adds to the cotangent, where the kernel's entry says that it can
};

// What it keeps, and where its adjoint adds to gradients, its entry in the list says. Its
// parameters are pUse in the order in which the layer type declared them.
class LocalKernel {
public:
  virtual ~LocalKernel() = default;
  // `workspace` is null in inference.
  virtual void forwardMany(Inputs x, ParameterUses& parameters, DTensor& y, Buffer* workspace) = 0;
  // y = f(what forwardMany() gives), for kernels whose entry says that they apply functions.
  // Returns false if f is left to applyFunction(), which is called next. expect() names the
  // function in advance, before ways are measured; for a layer that is several nodes, that of the
  // last.
  virtual bool forwardThen(Inputs x, ParameterUses& parameters, const PointwiseFunction& /*f*/,
                           DTensor& y) {
    forwardMany(x, parameters, y, nullptr);
    return false;
  }
  // y = f(y). To be overridden by kernels that own a part of y alone.
  virtual void applyFunction(const PointwiseFunction& f, DTensor& y);
  virtual void expect(const PointwiseFunction& /*f*/) {}
  // A tangent may be null: it is zero.
  virtual void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& parameters,
                           DTensor& dy) = 0;
  // A cotangent may be null: nobody wants it. With Gradients::Apart the parameters are left to
  // adjointParameters(), which is called while cotangents are on their way to other ranks.
  virtual void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& parameters,
                           InputCotangents dx) = 0;
  virtual void adjointParameters(const KernelPoint&, const DTensor& /*dy*/, ParameterUses&) {}
  virtual std::string describe() const = 0;
  // Whether it can work on the arrays of a device.
  virtual bool runsOnDevice() const { return false; }
  // Whether a call on the same arrays gives the device the same work each time, without waiting for
  // it: no number of the host's goes into it that may differ.
  virtual bool isRepeatable() const { return true; }
  // Memory for values and for what they keep, for views.
  virtual Index bytes() const { return 0; }
  // The ways among which a measurement chooses before the first call; null: there is one way.
  virtual Autotuner* autotuner() { return nullptr; }
  // The function of each element that it applies; null: it is another kernel.
  virtual const PointwiseFunction* function() const { return nullptr; }
  // The maps that it runs within itself, with parameters of their own; null: none.
  virtual const BoundMaps* inner() const { return nullptr; }
};

// With one input, whose tangent or cotangent may be null.
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

// A linear kernel without parameters, which is its own tangent.

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

// A kernel y = B(x, w) + b that is linear in each of its two factors. The second one, w, is the
// second input; where there is one input, w is the first parameter, and b, a bias, the second if
// there is one. A type gives the product, its adjoint by each factor, and the operations that a
// product takes. The rest follows: the tangent is B(dx, w) + B(x, dw) + db, and each adjoint takes
// as many operations as the product.

class BilinearKernel : public LocalKernel {
protected:
  explicit BilinearKernel(double flops) : flops_(flops) {}

  // y = B(x, w) + b, or y += B(x, w) where it `adds`. b is null where there is none on this rank.
  virtual void product(const DTensor& x, const DTensor& w, const DTensor* b, bool adds,
                       DTensor& y) = 0;
  // y = f(B(x, w) + b). Returns false, and does nothing, where that is no faster than one after the
  // other.
  virtual bool productThen(const DTensor& /*x*/, const DTensor& /*w*/, const DTensor* /*b*/,
                           const PointwiseFunction& /*f*/, DTensor& /*y*/) {
    return false;
  }
  // dx = B(., w)* dy
  virtual void adjointX(const DTensor& w, const DTensor& dy, DTensor& dx) = 0;
  // B(x, .)* dy and the sums of dy that belong to b: written to the cotangent of an input, added to
  // the gradients of parameters. db is null as b is.
  virtual void adjointW(const DTensor& x, const DTensor& dy, DTensor& dw, DTensor* db) = 0;
  // y = b, or 0 without it. To be overridden by kernels with a bias, and by those that own a part
  // of y alone.
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

// A kernel that nothing differentiates: a maximum, a statistic.

class FixedKernel : public LocalKernel {
public:
  void tangentMany(const KernelPoint&, Inputs, ParameterUses&, DTensor&) final {}
  void adjointMany(const KernelPoint&, const DTensor&, ParameterUses&, InputCotangents) final {}
};

} // namespace tenon
