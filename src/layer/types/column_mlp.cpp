// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the column MLP: a perceptron (a sequence of dense layers with activations) that
// is applied to the channels at each point, independently of the other points. For x [batch, 4,
// height, width] and widths {4, 16, 2}, each of the batch * height * width vectors of 4 channels is
// mapped to 2 channels through 16 hidden ones.
//
// One fused kernel (ColumnMlp in kernels/products/column_mlp.hpp) computes all dense layers, also
// on strided arrays. It stores a packed copy of the weights, which is updated only when the weights
// have changed. This file translates between the tensors of the library and the arrays of that
// kernel.
#include "layer/types/column_mlp.hpp"

#include "declaration/core/types.hpp"
#include "declaration/types/pointwise.hpp"
#include "layer/core/layer_types.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <numeric>

namespace tenon {

namespace {

constexpr int kChannels = 1; // dimension of x

// The box of the points: all dimensions of x [batch, channels, space...] except the channels.
PointBox boxOf(const DTensor& x) {
  PointBox box;
  for (int d = 0; d < x.rank(); ++d)
    if (d != kChannels)
      box.extent[box.rank++] = x.extent()[d];
  return box;
}

// A tensor's array, which can be strided, as points and channels.
template <class T>
PointArray<T> arrayOf(T* first, const DTensor& x) {
  PointArray<T> array{first, {}, x.strides()[kChannels]};
  int pointDim = 0;
  for (int d = 0; d < x.rank(); ++d)
    if (d != kChannels)
      array.strides[pointDim++] = x.strides()[d];
  return array;
}
// The same for reading; with a null address if the tensor is null.
template <class T>
PointArray<const T> reading(const DTensor* x) {
  return x ? arrayOf<const T>(x->data<T>(), *x) : PointArray<const T>{};
}

// The tangent of a parameter, or null if it is zero.
template <class T>
const T* tangentOf(const std::unique_ptr<ParameterUse>& use) {
  const DTensor* tangent = use->tangent();
  return tangent ? tangent->data<T>() : nullptr;
}

} // namespace

LocalColumnMlp::LocalColumnMlp(const std::vector<Index>& widths, bool hasBiases,
                               const PointwiseFunction& function, TenonDataType type,
                               const KernelContextPtr& context)
    : kernel_(type,
              [&]<class T>() { return std::make_unique<ColumnMlp<T>>(widths, function, context); }),
      inputs_(widths.front()), outputs_(widths.back()),
      layers_(static_cast<int>(widths.size()) - 1), hasBiases_(hasBiases),
      space_(context->space()) {
  for (int l = 0; l < layers_; ++l)
    flops_.push_back(2.0 * double(widths[l] * widths[l + 1]));
}

template <class T>
void LocalColumnMlp::forwardAt(const PointBox& box, const PointArray<const T>& x, ParameterUses& p,
                               const PointArray<T>& y) {
  updateWeights<T>(p);
  kernel_.get<T>().forward(box, x, y);
  logFlops(double(box.count()) * allFlops());
}

template <class T>
void LocalColumnMlp::tangentAt(const PointBox& box, const PointArray<const T>& x,
                               const PointArray<const T>& dx, ParameterUses& p,
                               const PointArray<T>& dy) {
  updateWeights<T>(p);
  auto& tangents = std::get<ParameterArrays<T>>(parameterArrays_).tangents;
  tangents.resize(layers_);
  for (int l = 0; l < layers_; ++l)
    tangents[l] = {tangentOf<T>(p[weight(l)]), hasBiases_ ? tangentOf<T>(p[bias(l)]) : nullptr};
  kernel_.get<T>().tangent(box, x, dx, tangents, dy);
}

template <class T>
void LocalColumnMlp::adjointAt(const PointBox& box, const PointArray<const T>& x,
                               const PointArray<const T>& dy, ParameterUses& p,
                               const PointArray<T>& dx) {
  updateWeights<T>(p);
  auto& gradients = std::get<ParameterArrays<T>>(parameterArrays_).gradients;
  gradients.resize(layers_);
  for (int l = 0; l < layers_; ++l)
    gradients[l] = {p[weight(l)]->gradientContributions().mutableData<T>(),
                    hasBiases_ ? p[bias(l)]->gradientContributions().mutableData<T>() : nullptr};
  kernel_.get<T>().adjoint(box, x, dy, dx, gradients);
  // Operations of the adjoint: the forward pass again up to the last hidden layer (its values are
  // not saved), the cotangents of the hidden layers, the gradients of all weights, and the
  // cotangent of the input if it is requested.
  const double forward = allFlops(), toInput = flops_.front();
  const double again = forward - flops_.back(), hidden = forward - toInput, weights = forward;
  logFlops(double(box.count()) * (again + hidden + weights + (dx.first ? toInput : 0)));
}

void LocalColumnMlp::forward(const DTensor& x, ParameterUses& p, DTensor& y, Buffer*) {
  visitFloating(x.dataType(), [&]<class T>(T) {
    forwardAt<T>(boxOf(x), reading<T>(&x), p, arrayOf(y.mutableData<T>(), y));
  });
}

void LocalColumnMlp::tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& p,
                             DTensor& dy) {
  visitFloating(dy.dataType(), [&]<class T>(T) {
    tangentAt<T>(boxOf(dy), reading<T>(point.x), reading<T>(dx), p,
                 arrayOf(dy.mutableData<T>(), dy));
  });
}

void LocalColumnMlp::adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses& p,
                             DTensor* dx) {
  visitFloating(dy.dataType(), [&]<class T>(T) {
    adjointAt<T>(boxOf(dy), reading<T>(point.x), reading<T>(&dy), p,
                 dx ? arrayOf(dx->mutableData<T>(), *dx) : PointArray<T>{});
  });
}

std::string LocalColumnMlp::describe() const {
  return space_ == Space::Device ? "matrix products"
                                 : fmt::format("fused over blocks of points ({})",
                                               instructionSetName(instructionSet()));
}

double LocalColumnMlp::allFlops() const {
  return std::accumulate(flops_.begin(), flops_.end(), 0.0);
}

// Passes weights that have changed to the kernel. A rank without points can be without weights, and
// needs none.
template <class T>
void LocalColumnMlp::updateWeights(ParameterUses& p) {
  if (p.front()->value().localElements() == 0)
    return;
  packedStates_.resize(p.size(), 0);
  for (int l = 0; l < layers_; ++l) {
    const DTensor& w = p[weight(l)]->value();
    const DTensor* b = hasBiases_ ? &p[bias(l)]->value() : nullptr;
    const bool changed = packedStates_[weight(l)] != w.state() + 1 ||
                         (b && packedStates_[bias(l)] != b->state() + 1);
    if (!changed)
      continue;
    kernel_.get<T>().setLayer(l, {w.data<T>(), b ? b->data<T>() : nullptr});
    packedStates_[weight(l)] = w.state() + 1;
    if (b)
      packedStates_[bias(l)] = b->state() + 1;
  }
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void LocalColumnMlp::forwardAt<T>(const PointBox&, const PointArray<const T>&,          \
                                             ParameterUses&, const PointArray<T>&);                \
  template void LocalColumnMlp::tangentAt<T>(const PointBox&, const PointArray<const T>&,          \
                                             const PointArray<const T>&, ParameterUses&,           \
                                             const PointArray<T>&);                                \
  template void LocalColumnMlp::adjointAt<T>(const PointBox&, const PointArray<const T>&,          \
                                             const PointArray<const T>&, ParameterUses&,           \
                                             const PointArray<T>&);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeColumnMlpKernel(const KernelSite& at) {
  const Declaration& declaration = at.layer.declaration();
  return std::make_unique<LocalColumnMlp>(
      declaration.value<std::vector<Index>>("widths"), declaration.value<bool>("bias"),
      pointwiseFunction(declaration.value<std::string>("activation"), declaration),
      at.layer.dataType(), at.context);
}

} // namespace tenon
