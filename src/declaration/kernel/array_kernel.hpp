// SPDX-License-Identifier: BSD-2-Clause
// Interfaces of the kernels of layer types. A kernel is the arithmetic of a layer on the arrays of
// one rank, without communication, for one list of input layouts. Before and after it the layer
// redistributes the arrays: it exchanges halos, or sums contributions over ranks. Arrays are
// contiguous unless the kernel's entry in the map list (the layer as a short program of exchanges
// and kernels) accepts any strides. The interfaces, from which the kernel of a type chooses:
//
//   ArrayKernel      any number of inputs; its own tangent (derivative in a direction) and adjoint
//   SymmetricKernel  one input, with a symmetric Jacobian: derivative()
//   LinearKernel     one input, linear: map() and mapAdjoint()
//   BilinearKernel   a product of input and weights, plus a bias: product(), adjointX(), adjointW()
//   FixedKernel      not differentiated
//
// A kernel needs no process and no layer: a test calls it with arrays on the stack.
#pragma once

#include "kernels/base/local_array.hpp"

#include <memory>
#include <string>

namespace tenon {

class Autotuner;
struct PointwiseFunction;

// Whether the channels of an image, dimension 1, are last in memory, next to each other. (With one
// channel, or one element in space, both orders are the same.)
bool isChannelsLast(const LocalArray& x);

// y = 0
void setZero(LocalArray& y);
// y = x, or y += x if `adds`; arrays of equal extents.
void copyArray(const LocalArray& x, LocalArray& y, bool adds = false);

// The arrays of a kernel's inputs or their tangents, in order; and of cotangents of the inputs. An
// absent tangent counts as zero; an absent cotangent is not computed.
using Arrays = std::span<const LocalArray>;
using WrittenArrays = std::span<LocalArray>;

// A parameter in the layout in which the kernel uses it, with the arrays that a call needs.
struct KernelParameter {
  LocalArray value;        // in all calls but adjointParameters()
  LocalArray tangent;      // in tangent(); absent: zero
  LocalArray gradient;     // to which the adjoint adds; absent if the layer is frozen
  std::uint64_t state = 0; // a counter that grows with every write to the value
};
using KernelParameters = std::span<KernelParameter>;

// The point of differentiation: the values that Apply has saved, and the kernel's own data of this
// Apply, such as indices of maxima. A kernel may only read the values that its entry in the map
// list declares as saved.
struct SavedArrays {
  Arrays inputs = {};
  LocalArray output = {};
  Buffer* workspace = nullptr;
  bool adds = false; // the adjoint must add to dx (only if the entry has addsCotangent)
};

// What a kernel applies to its output in inference: for each channel, dimension 1, a factor and a
// summand, null for none; then a function of each element, null for none.
struct Finish {
  const float *scale = nullptr, *shift = nullptr;
  const PointwiseFunction* function = nullptr;
};

// The orders in memory of the images that a kernel takes in inference. First: row-major. Same: all
// in one order, with channels first or last. Any: each in either order.
enum class ChannelOrders { First, Same, Any };

// A kernel. Its entry in the map list (KernelEntry) declares the values that it saves and when its
// adjoint adds to gradients. Parameters are in the order of the layer's form.
class ArrayKernel {
public:
  virtual ~ArrayKernel() = default;
  // y = kernel(x). `workspace` is null in inference, when nothing is saved.
  virtual void forward(Arrays x, KernelParameters parameters, LocalArray& y, Buffer* workspace) = 0;
  // y = f(kernel(x)), for kernels whose entry says that they can apply a function of each element
  // (an epilogue). If it returns false, y = kernel(x) and the caller calls applyFunction() next.
  // expect() announces f before autotuning; if the layer is several nodes, the f after the last
  // node is announced.
  virtual bool forwardThen(Arrays x, KernelParameters parameters, const PointwiseFunction& /*f*/,
                           LocalArray& y) {
    forward(x, parameters, y, nullptr);
    return false;
  }
  // For inference, in which no derivative follows and parameters seldom change:
  //
  //   infer()            y = f(scale kernel(x) + shift), with the finish of the call, by a faster
  //                      implementation, whose result can differ from that of forward() by
  //                      rounding. Returns false, and does nothing, if there is none.
  //   foldsChannels()    whether infer() applies such a scale and shift for each channel
  //   channelOrders()    the orders in memory of its images, [batch, channel, space...]
  virtual bool infer(Arrays /*x*/, KernelParameters /*parameters*/, const Finish& /*finish*/,
                     LocalArray& /*y*/) {
    return false;
  }
  virtual bool foldsChannels() { return false; }
  virtual ChannelOrders channelOrders() { return ChannelOrders::First; }
  // y = f(y). Overridden by kernels that write only a part of y.
  virtual void applyFunction(const PointwiseFunction& f, LocalArray& y);
  virtual void expect(const PointwiseFunction& /*f*/) {}
  // dy = derivative of the kernel in the direction dx, at the point.
  virtual void tangent(const SavedArrays& point, Arrays dx, KernelParameters parameters,
                       LocalArray& dy) = 0;
  // dx = adjoint of that derivative applied to dy; also adds to the gradients of parameters.
  // Kernels with Gradients::Separate compute the gradients in adjointParameters() instead, which
  // overlaps with the exchange of cotangents.
  virtual void adjoint(const SavedArrays& point, const LocalArray& dy, KernelParameters parameters,
                       WrittenArrays dx) = 0;
  virtual void adjointParameters(const SavedArrays&, const LocalArray& /*dy*/, KernelParameters) {}
  virtual std::string describe() const = 0;
  // Whether a call with the same arrays queues the same work on the device each time, without
  // waiting and without numbers from the host that can change (needed for CUDA graphs).
  virtual bool isRepeatable() const { return true; }
  // Bytes of the kernel's own memory.
  virtual Index bytes() const { return 0; }
  // The candidates among which autotuning chooses before the first call; null if there is only one.
  virtual Autotuner* autotuner() { return nullptr; }
  // The elementwise function that the kernel applies; null for other kernels.
  virtual const PointwiseFunction* function() const { return nullptr; }
};

// A kernel without parameters whose Jacobian in the first input is symmetric, and which has no
// other derivative: tangent and adjoint are the same map of a direction.
class SymmetricKernel : public ArrayKernel {
protected:
  virtual void derivative(const SavedArrays& point, const LocalArray& direction,
                          LocalArray& result) = 0;

private:
  void tangent(const SavedArrays& point, Arrays dx, KernelParameters, LocalArray& dy) final {
    if (dx[0])
      derivative(point, dx[0], dy);
    else
      setZero(dy);
  }
  void adjoint(const SavedArrays& point, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) final {
    if (dx[0])
      derivative(point, dy, dx[0]);
  }
};

// A linear kernel with one input and without parameters: its tangent is the kernel itself.
class LinearKernel : public ArrayKernel {
public:
  virtual void map(const LocalArray& x, LocalArray& y) = 0;
  virtual void mapAdjoint(const LocalArray& dy, LocalArray& dx) = 0;

private:
  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) final { map(x[0], y); }
  void tangent(const SavedArrays&, Arrays dx, KernelParameters, LocalArray& dy) final {
    if (dx[0])
      map(dx[0], dy);
    else
      setZero(dy);
  }
  void adjoint(const SavedArrays&, const LocalArray& dy, KernelParameters, WrittenArrays dx) final {
    if (dx[0])
      mapAdjoint(dy, dx[0]);
  }
};

// A kernel y = B(x, w) + b that is linear in x and in w, such as a matrix product or a convolution.
// With one input, w is parameter 0 and the bias b is parameter 1, if there is one. With two inputs,
// w is the second input. A derived class implements the product and its adjoint with respect to
// each factor, and passes the operation count of one product. This class then computes the tangent
// B(dx, w) + B(x, dw) + db, and counts each adjoint as many operations as the product.
class BilinearKernel : public ArrayKernel {
protected:
  explicit BilinearKernel(double flops) : flops_(flops) {}

  // y = B(x, w) + b, or y += B(x, w) if `adds`. b is absent if this rank has no bias.
  virtual void product(const LocalArray& x, const LocalArray& w, const LocalArray& b, bool adds,
                       LocalArray& y) = 0;
  // y = f(B(x, w) + b) in one step. Returns false, and leaves y unchanged, if separate steps are as
  // fast.
  virtual bool productThen(const LocalArray& /*x*/, const LocalArray& /*w*/,
                           const LocalArray& /*b*/, const PointwiseFunction& /*f*/,
                           LocalArray& /*y*/) {
    return false;
  }
  // dx = B(., w)* dy
  virtual void adjointX(const LocalArray& w, const LocalArray& dy, LocalArray& dx) = 0;
  // dw = B(x, .)* dy, and db = dy summed over all elements to which an element of b is added.
  // Overwrites dw if it is the cotangent of an input; adds to dw and db if they are gradients of
  // parameters. db is absent if this rank has no bias.
  virtual void adjointW(const LocalArray& x, const LocalArray& dy, LocalArray& dw,
                        LocalArray& db) = 0;
  // y = b, or 0 without b. Overridden by kernels with a bias, and by those that write only a part
  // of y.
  virtual void fill(const LocalArray& /*b*/, LocalArray& y) { setZero(y); }

private:
  void forward(Arrays x, KernelParameters p, LocalArray& y, Buffer*) final;
  bool forwardThen(Arrays x, KernelParameters p, const PointwiseFunction& f, LocalArray& y) final;
  void tangent(const SavedArrays& point, Arrays dx, KernelParameters p, LocalArray& dy) final;
  void adjoint(const SavedArrays& point, const LocalArray& dy, KernelParameters p,
               WrittenArrays dx) final;
  void adjointParameters(const SavedArrays& point, const LocalArray& dy, KernelParameters p) final;

  double flops_;
};

// A kernel that is not differentiated, such as a maximum or a statistic.
class FixedKernel : public ArrayKernel {
public:
  void tangent(const SavedArrays&, Arrays, KernelParameters, LocalArray&) final {}
  void adjoint(const SavedArrays&, const LocalArray&, KernelParameters, WrittenArrays) final {}
};

// Kernel<float> or Kernel<double>, made from the arguments.
template <template <class> class Kernel, class... Arguments>
std::unique_ptr<ArrayKernel> makeTyped(TenonDataType type, Arguments&&... arguments) {
  return visitFloating(type, [&]<class T>(T) -> std::unique_ptr<ArrayKernel> {
    return std::make_unique<Kernel<T>>(std::forward<Arguments>(arguments)...);
  });
}

} // namespace tenon
