// SPDX-License-Identifier: BSD-2-Clause
// Functions shared by local kernels: the sliding window in local indices, and the tangent and
// adjoint of bilinear kernels. A grid axis can split the dimension over which a product sums; the
// ranks along this axis then compute partial sums. The bias must be added to only one of these, so
// only the first rank of the axis has bias elements, and the bias is null on the others.
#include "layer/core/local_kernel.hpp"

#include "kernels/elementwise/pointwise.hpp"
#include "sys/log/log.hpp"

namespace tenon {

// Translates a window from global indices to indices in the arrays of this rank. For example, a
// kernel of 3 elements with padding 1 on elements [4,8) of 8, with a halo of 1 below: in = [3,8),
// out = [4,8), padLow = 0 (the halo replaces the padding), padEnd = 8 + 1 - 3 = 6.
WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out) {
  WindowShape local;
  local.rank = static_cast<int>(windows.size());
  for (int s = 0; s < local.rank; ++s) {
    const int d = s + kFirstSpatial;
    const Window window = continued(windows[s], out[d], windowOutput(windows[s], shape[d], s));
    local.in[s] = in[d].size();
    local.out[s] = out[d].size();
    local.kernel[s] = windows[s].kernel;
    local.stride[s] = windows[s].stride;
    local.dilation[s] = windows[s].dilation;
    local.padLow[s] = out[d].empty() ? 0 : in[d].begin - windowInput(windows[s], out[d]).begin;
    local.padEnd[s] = shape[d] + window.padHigh - in[d].begin;
  }
  return local;
}

namespace {

// The tensor, or null if this rank has no elements of it.
template <class Tensor>
Tensor* ifAny(Tensor* tensor) {
  return tensor && tensor->localElements() > 0 ? tensor : nullptr;
}

// The bias, or null if the layer has none or this rank has no elements of it.
const DTensor* biasOf(const ParameterUses& p) {
  return p.size() > 1 ? ifAny(&p[1]->value()) : nullptr;
}

} // namespace

// Applies f to the whole array: no other kernel writes parts of y, and y is contiguous.
void LocalKernel::applyFunction(const PointwiseFunction& f, DTensor& y) {
  visitFloating(y.dataType(), [&]<class T>(T) {
    T* const values = y.mutableData<T>();
    pointwiseForward<T>(y.context(), f, y.localElements(), values, values);
  });
}

void BilinearKernel::fill(const DTensor*, DTensor& y) {
  scaleArray(0, y);
}

void BilinearKernel::forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer*) {
  product(*x[0], x.size() > 1 ? *x[1] : p[0]->value(), biasOf(p), /*adds=*/false, y);
  logFlops(flops_);
}

bool BilinearKernel::forwardThen(Inputs x, ParameterUses& p, const PointwiseFunction& f,
                                 DTensor& y) {
  if (!productThen(*x[0], x.size() > 1 ? *x[1] : p[0]->value(), biasOf(p), f, y))
    return LocalKernel::forwardThen(x, p, f, y);
  logFlops(flops_);
  return true;
}

// Computes dy = B(dx, w) + B(x, dw) + db, without the terms whose tangent is null. If there is no
// db, the first product overwrites dy, which saves setting it to zero.
void BilinearKernel::tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& p,
                                 DTensor& dy) {
  const bool hasWeights = dx.size() == 1;
  const DTensor* dw = hasWeights ? p[0]->tangent() : dx[1];
  const DTensor* db = p.size() > 1 ? ifAny(p[1]->tangent()) : nullptr;
  bool adds = db || (!dx[0] && !dw);
  if (adds)
    fill(db, dy);
  if (dx[0]) {
    product(*dx[0], hasWeights ? p[0]->value() : *point.inputs[1], /*b=*/nullptr, adds, dy);
    adds = true;
  }
  if (dw)
    product(*point.inputs[0], *dw, /*b=*/nullptr, adds, dy);
  logFlops(flops_ * ((dx[0] ? 1 : 0) + (dw ? 1 : 0)));
}

void BilinearKernel::adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& p,
                                 InputCotangents dx) {
  const bool hasWeights = dx.size() == 1;
  if (dx[0])
    adjointX(hasWeights ? p[0]->value() : *point.inputs[1], dy, *dx[0]);
  if (!hasWeights && dx[1])
    adjointW(*point.inputs[0], dy, *dx[1], /*db=*/nullptr);
  logFlops(flops_ * ((dx[0] ? 1 : 0) + (!hasWeights && dx[1] ? 1 : 0)));
}

// The call of gradientContributions() marks the gradient as pending. Ranks without bias elements
// make this call too, because the reduction of the gradient is collective.
void BilinearKernel::adjointParameters(const KernelPoint& point, const DTensor& dy,
                                       ParameterUses& p) {
  DTensor* db = p.size() > 1 ? ifAny(&p[1]->gradientContributions()) : nullptr;
  adjointW(*point.x, dy, p[0]->gradientContributions(), db);
  logFlops(flops_);
}

} // namespace tenon
