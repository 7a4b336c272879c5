// SPDX-License-Identifier: BSD-2-Clause
// What kernels have in common: the elementary operations on a LocalArray, and the tangent and
// adjoint of bilinear kernels. A grid axis can split the dimension over which a product sums; the
// ranks along this axis then compute partial sums. The bias must be added to only one of these, so
// only the first rank of the axis has bias elements, and the bias is absent on the others.
#include "declaration/kernel/array_kernel.hpp"

#include "kernels/elementwise/pointwise.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/log/log.hpp"

namespace tenon {

bool isChannelsLast(const LocalArray& x) {
  return x.ndim() > 2 && x.strides()[1] == 1 && x.strides()[x.ndim() - 1] == x.extent()[1];
}

void setZero(LocalArray& y) {
  visitFloating(y.dataType(), [&]<class T>(T) {
    blockScale(y.context(), y.ndim(), y.extent().data(), T(0), y.mutableData<T>(), y.strides());
  });
}

void copyArray(const LocalArray& x, LocalArray& y, bool adds) {
  visitFloating(y.dataType(), [&]<class T>(T) {
    blockAxpby<T, T>(y.context(), y.ndim(), y.extent().data(), T(1), x.data<T>(), x.strides(),
                     T(adds), y.mutableData<T>(), y.strides());
  });
}

namespace {

// The array, or none if this rank has no elements of it.
LocalArray ifAny(const LocalArray& array) {
  return array && array.elements() > 0 ? array : LocalArray();
}

// The bias, or none if the layer has none or this rank has no elements of it.
LocalArray biasOf(KernelParameters p) {
  return p.size() > 1 ? ifAny(p[1].value) : LocalArray();
}

} // namespace

// Applies f to the whole array: no other kernel writes parts of y, and y is contiguous.
void ArrayKernel::applyFunction(const PointwiseFunction& f, LocalArray& y) {
  visitFloating(y.dataType(), [&]<class T>(T) {
    T* const values = y.mutableData<T>();
    pointwiseForward<T>(y.context(), f, y.elements(), values, values);
  });
}

void BilinearKernel::forward(Arrays x, KernelParameters p, LocalArray& y, Buffer*) {
  product(x[0], x.size() > 1 ? x[1] : p[0].value, biasOf(p), /*adds=*/false, y);
  logFlops(flops_);
}

bool BilinearKernel::forwardThen(Arrays x, KernelParameters p, const PointwiseFunction& f,
                                 LocalArray& y) {
  if (!productThen(x[0], x.size() > 1 ? x[1] : p[0].value, biasOf(p), f, y))
    return ArrayKernel::forwardThen(x, p, f, y);
  logFlops(flops_);
  return true;
}

// Computes dy = B(dx, w) + B(x, dw) + db, without the terms whose tangent is absent. If there is no
// db, the first product overwrites dy, which saves setting it to zero. Without any term, fill()
// sets it to zero.
void BilinearKernel::tangent(const SavedArrays& point, Arrays dx, KernelParameters p,
                             LocalArray& dy) {
  const bool hasWeights = dx.size() == 1;
  const LocalArray &dw = hasWeights ? p[0].tangent : dx[1],
                   db = p.size() > 1 ? ifAny(p[1].tangent) : LocalArray();
  bool adds = db || (!dx[0] && !dw);
  if (adds)
    fill(db, dy);
  if (dx[0]) {
    product(dx[0], hasWeights ? p[0].value : point.inputs[1], /*b=*/{}, adds, dy);
    adds = true;
  }
  if (dw)
    product(point.inputs[0], dw, /*b=*/{}, adds, dy);
  logFlops(flops_ * ((dx[0] ? 1 : 0) + (dw ? 1 : 0)));
}

void BilinearKernel::adjoint(const SavedArrays& point, const LocalArray& dy, KernelParameters p,
                             WrittenArrays dx) {
  const bool hasWeights = dx.size() == 1;
  if (dx[0])
    adjointX(hasWeights ? p[0].value : point.inputs[1], dy, dx[0]);
  LocalArray noBias;
  if (!hasWeights && dx[1])
    adjointW(point.inputs[0], dy, dx[1], noBias);
  logFlops(flops_ * ((dx[0] ? 1 : 0) + (!hasWeights && dx[1] ? 1 : 0)));
}

void BilinearKernel::adjointParameters(const SavedArrays& point, const LocalArray& dy,
                                       KernelParameters p) {
  LocalArray db = p.size() > 1 ? ifAny(p[1].gradient) : LocalArray();
  adjointW(point.inputs[0], dy, p[0].gradient, db);
  logFlops(flops_);
}

} // namespace tenon
