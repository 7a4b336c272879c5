// SPDX-License-Identifier: BSD-2-Clause
// The perceptron of column_mlp.hpp on the device: at each point of a box, h_{l+1} = f(W_l h_l +
// b_l) for the layers l. Narrow layers with a usual activation are evaluated by one kernel
// (functors/column_mlp.hpp), and so are their cotangents. Otherwise, and for gradients and
// tangents, the box is divided into parts that fit into the scratch memory, and each layer is a
// matrix product over the points of a part. The adjoint recomputes the hidden layers. ColumnMlp
// calls this class with its own arguments if its
// context is on the device.
#pragma once

#include "kernels/functors/column_mlp.hpp"
#include "kernels/products/column_mlp.hpp"

namespace tenon {

template <class T>
class DeviceColumnMlp {
public:
  DeviceColumnMlp(std::vector<Index> widths, const PointwiseFunction& activation,
                  KernelContext& context);

  // Whether one kernel evaluates all layers.
  bool isNarrow() const;
  void setLayer(int layer, const LayerNumbers<const T>& numbers) { layers_[layer] = numbers; }
  void forward(const PointBox& box, const PointArray<const T>& x, const PointArray<T>& y);
  void tangent(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dx,
               const std::vector<LayerNumbers<const T>>& dLayers, const PointArray<T>& dy);
  void adjoint(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dy,
               const PointArray<T>& dx, const std::vector<LayerNumbers<T>>& gradients);

private:
  // A sub-box of the points, and the position of its first point.
  struct Part {
    PointBox box;
    Index first[kMaxBlockRank];
    Index points;
  };
  // A matrix [channel, point]: points are adjacent, channels `step` elements apart.
  template <class U>
  struct Rows {
    U* first;
    Index step;
  };

  int layers() const { return static_cast<int>(layers_.size()); }
  Index in(int layer) const { return widths_[layer]; }
  Index out(int layer) const { return widths_[layer + 1]; }
  bool isHidden(int layer) const { return layer + 1 < layers(); }
  // Arrays [channel, point]: value(l) is the input of layer l; before(l), l > 0, is value(l) before
  // the activation; spare() are two temporary arrays.
  T* value(int level) const { return context_.scratch<T>(scratch_) + points_ * valueAt_[level]; }
  T* before(int level) const { return context_.scratch<T>(scratch_) + points_ * beforeAt_[level]; }
  T* spare(int index) const { return context_.scratch<T>(scratch_) + points_ * spareAt_[index]; }

  // Calls body(part) for parts of at most maxPoints points that make up the box.
  template <class Body>
  void eachPart(const Part& all, Index maxPoints, const Body& body) const;
  template <class Body>
  void eachPart(const PointBox& box, Index maxPoints, const Body& body) const;
  // Copy the part of a tensor's array to an array [channel, point], and back.
  void load(const Part& part, const PointArray<const T>& from, Index channels, T* to) const;
  void store(const T* from, const Part& part, const PointArray<T>& to, Index channels) const;
  // The part of an array as rows: in place if the points of a channel are adjacent, otherwise
  // a copy at `copy`.
  Rows<const T> rowsOf(const Part& part, const PointArray<const T>& from, Index channels,
                       T* copy) const;
  // For the kernel of narrow layers: whether the adjoint needs the arguments of activations; a
  // layer that computes values, and one that computes the cotangents of its inputs.
  using Tiles = functors::ColumnMlpTiles<T>;
  bool readsArgument() const;
  typename Tiles::Layer valuesOf(int layer) const;
  typename Tiles::Layer cotangentsOf(int layer) const;
  void runTiles(const Part& part, const PointArray<const T>& x, const PointArray<T>& y,
                Tiles tiles) const;
  void adjointNarrow(const Part& part, const PointArray<const T>& x, const PointArray<const T>& dy,
                     const PointArray<T>& dx, const std::vector<LayerNumbers<T>>& gradients) const;
  // z = W h + b, or z += W h + b if `adds`; b can be null.
  void apply(int layer, const LayerNumbers<const T>& numbers, Rows<const T> h, Index points,
             bool adds, Rows<T> z) const;
  // Adds dz h^T to the gradient of W, and the sums of dz over the points to that of b.
  void addGradients(int layer, Rows<const T> h, Rows<const T> dz, Index points,
                    const LayerNumbers<T>& gradients) const;
  // Computes the hidden layers of a part, after which value() and before() have their values.
  // Returns the rows of x.
  Rows<const T> computeHidden(const Part& part, const PointArray<const T>& x) const;

  std::vector<Index> widths_;
  PointwiseFunction activation_;
  KernelContext& context_;
  std::vector<LayerNumbers<const T>> layers_;
  std::vector<Index> valueAt_, beforeAt_; // offsets in channels of points_ elements each
  Index spareAt_[2];
  Index points_ = 0; // maximum number of points of a part
  // The same for the forward pass by products, whose scratch are the values of two layers, and
  // their size.
  Index forwardPoints_ = 0, levelElements_ = 0;
  Index narrowPoints_ = 0; // the same for the adjoint of narrow layers
  Index scratch_ = 0;      // offset of these arrays in the context's scratch
};

} // namespace tenon
