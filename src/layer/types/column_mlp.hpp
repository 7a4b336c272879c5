// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the column MLP: a perceptron (dense layers with activations between them) that is
// applied to the channels at each point. The layer calls forward(), tangent() and adjoint() with
// tensors. The kernel that fuses the operations on the edges of a mesh
// (layer/mesh/edge_network.cpp) instead calls forwardAt(), tangentAt() and adjointAt() for points
// in its own arrays.
#pragma once

#include "kernels/products/column_mlp.hpp"
#include "layer/core/local_kernel.hpp"

#include <tuple>

namespace tenon {

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

class LocalColumnMlp final : public OneInputKernel {
public:
  LocalColumnMlp(const std::vector<Index>& widths, bool hasBiases,
                 const PointwiseFunction& function, TenonDataType type,
                 const KernelContextPtr& context);

  void forward(const DTensor& x, ParameterUses& p, DTensor& y, Buffer*) override;
  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& p, DTensor& dy) override;
  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses& p, DTensor* dx) override;
  std::string describe() const override;
  bool runsOnDevice() const override { return true; }

  Index inputs() const noexcept { return inputs_; }
  Index outputs() const noexcept { return outputs_; }
  // Apply, tangent and adjoint at points in arrays of the caller: the box enumerates the points,
  // and each PointArray has the strides of points and channels. dx.first can be null.
  template <class T>
  void forwardAt(const PointBox& box, const PointArray<const T>& x, ParameterUses& p,
                 const PointArray<T>& y);
  template <class T>
  void tangentAt(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dx,
                 ParameterUses& p, const PointArray<T>& dy);
  template <class T>
  void adjointAt(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dy,
                 ParameterUses& p, const PointArray<T>& dx);

private:
  // Addresses of the parameters' tangents and gradients, one element per dense layer. They are set
  // in each call; the lists are members to avoid an allocation per call.
  template <class T>
  struct ParameterArrays {
    std::vector<LayerNumbers<const T>> tangents;
    std::vector<LayerNumbers<T>> gradients;
  };

  // Index of the weights and of the biases of a layer in the list of parameters, which is W0, b0,
  // W1, b1, ... or, without biases, W0, W1, ...
  int weight(int layer) const { return hasBiases_ ? 2 * layer : layer; }
  static int bias(int layer) { return 2 * layer + 1; }
  double allFlops() const;
  // Passes weights that have changed since the last call to the kernel.
  template <class T>
  void updateWeights(ParameterUses& p);

  TypedKernel<ColumnMlp> kernel_;
  std::tuple<ParameterArrays<float>, ParameterArrays<double>> parameterArrays_;
  Index inputs_, outputs_;
  int layers_;
  bool hasBiases_;
  Space space_;
  std::vector<double> flops_; // operations per point, by layer
  // For each parameter, DTensor::state() (its counter of changes) + 1 when it was packed; 0 before.
  std::vector<std::uint64_t> packedStates_;
};

} // namespace tenon
