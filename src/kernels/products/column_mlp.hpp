// SPDX-License-Identifier: BSD-2-Clause
// A multilayer perceptron (MLP) of the channels at each point of a box: the column of channels at a
// point is the input vector h_0, the same weights are used at all points, and
//     h_{l+1} = f(W_l h_l + b_l),    without the activation f in the last layer.
// With widths = {3, 64, 2}, each point maps 3 channels to 64 hidden values and these to 2 channels.
// The layer type columnmlp uses it, and the networks on the edges of meshes. Points are
// independent, so no MPI is needed. Arrays are read and written in place, with any strides. The
// adjoint recomputes the hidden layers instead of storing them.
//
// On the host, points are processed in blocks whose hidden layers stay in the first-level cache. A
// block stores a layer as [channel, point], and uses the sums of direct convolution
// (convolution/direct_kernels.hpp). If there are fewer points than lanes of a vector, the lanes are
// output channels instead. Without vector instructions, plain loops compute the products. On the
// device, narrow layers are one kernel; others are matrix products over many points
// (column_mlp_device.hpp).
//
// On the host the results at a point (y, its tangent, dx) do not depend on the other points: they
// are bitwise identical for every partition.
#pragma once

#include "kernels/convolution/direct_kernels.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/walks/block.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace tenon {

// The points of a tensor: a box in the dimensions other than channels.
struct PointBox {
  int rank = 0;
  Index extent[kMaxBlockRank];
  Index count() const;
};

// The array of a tensor: address of the first channel of the first point, and strides of points and
// channels.
template <class T>
struct PointArray {
  T* first;
  Index strides[kMaxBlockRank]; // one per dimension of the box
  Index channel;
};

// Parameters of a layer: weights [out,in], and biases [out], which can be null.
template <class T>
struct LayerNumbers {
  T* weights = nullptr;
  T* biases = nullptr;
};

template <class T>
class DeviceColumnMlp; // column_mlp_device.hpp

// The perceptron on the points of a block, with its derivatives.
template <class T>
class ColumnMlp {
public:
  ColumnMlp(std::vector<Index> widths, const PointwiseFunction& activation,
            KernelContextPtr context);
  ~ColumnMlp();

  // Whether one kernel of the device evaluates all layers.
  bool isFusedOnDevice() const;
  // Must be called before the first evaluation, and after each change of the values. The arrays are
  // used in place and must remain valid.
  void setLayer(int layer, const LayerNumbers<const T>& numbers);

  // x and y must not overlap, and neither dx and the other arrays of the adjoint.
  void forward(const PointBox& box, const PointArray<const T>& x, const PointArray<T>& y);
  // Tangents of x and of layers can be null.
  void tangent(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dx,
               const std::vector<LayerNumbers<const T>>& dLayers, const PointArray<T>& dy);
  // Adds to the layers' gradients, except null ones; overwrites dx, which can be null.
  void adjoint(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dy,
               const PointArray<T>& dx, const std::vector<LayerNumbers<T>>& gradients);

private:
  // The weights of a layer, and copies of them in the order in which the sums read them.
  struct Packed {
    LayerNumbers<const T> numbers;
    std::vector<T> blocks;     // in blocks of output channels, for W h
    std::vector<T> transposed; // in blocks of input channels, for W^T dz
    // For few points, rows of output channels, padded to vectors: the biases, then the weights of
    // each input channel. The second list has the offsets of the rows.
    std::vector<T> rows;
    std::vector<Index> rowOffsets;
  };
  // The points first, ..., first + count - 1, padded to a multiple of lanes_.
  struct Block {
    Index first, count, padded;
  };
  // Scratch of one thread for a block: the values of all layers, and the offsets of the points in
  // the array that is loaded or stored.
  struct Space {
    T* values;
    Index* offsets;
  };

  Index in(int layer) const { return widths_[layer]; }
  Index out(int layer) const { return widths_[layer + 1]; }
  int layers() const { return static_cast<int>(widths_.size()) - 1; }
  bool isHidden(int layer) const { return layer + 1 < layers(); }
  Index padded(Index count) const { return (count + lanes_ - 1) / lanes_ * lanes_; }
  // Arrays of a block: value(l) is the input of layer l, or the output after the last layer;
  // before(l) is value(l) before the activation; spare() are two temporary arrays.
  T* value(const Space& space, int level) const { return space.values + valueAt_[level]; }
  T* before(const Space& space, int level) const { return space.values + beforeAt_[level]; }
  T* spare(const Space& space, int index) const { return space.values + spareAt_[index]; }

  Space spaceOf(int thread) {
    return {context_->scratch<T>(space_, thread), context_->scratch<Index>(indices_, thread)};
  }
  // Number of blocks of `count` points, and the block with this number.
  Index blocks(Index count) const { return (count + points_ - 1) / points_; }
  Block blockOf(Index count, Index number) const {
    const Index first = number * points_, points = std::min(points_, count - first);
    return {first, points, padded(points)};
  }
  template <class Body>
  void eachBlock(const PointBox& box, const Body& body);
  void packBlocks(const T* w, Index outputs, Index inputs, Index stepOut, Index stepIn,
                  std::vector<T>& packed) const;
  void pack(int layer, const LayerNumbers<const T>& numbers, Packed& packed) const;
  // z = W h + b, or z += W h if `accumulate`; and h = W^T z.
  void apply(int layer, const Packed& packed, const T* h, Index points, T* z, bool accumulate);
  void applyTransposed(int layer, const T* z, Index points, T* h);
  // sums += dz h^T, followed by the sums of dz over the points: the gradients of W and b.
  void addGradients(int layer, const T* dz, const T* h, Index points, T* sums);
  void compute(const Space& space, Index points); // all layers, from value(space, 0)
  void forwardFew(const PointBox& box, const Space& space, const PointArray<const T>& x,
                  const PointArray<T>& y, const Block& block);
  void adjointOf(const PointBox& box, const Space& space, const Block& block,
                 const PointArray<const T>& x, const PointArray<const T>& dy,
                 const PointArray<T>& dx, T* sums);

  std::vector<Index> widths_; // channels of the input and of the output of each layer
  PointwiseFunction activation_;
  KernelContextPtr context_;
  const DirectKernels<T>* kernels_; // null: plain loops
  Index lanes_, points_; // a block has at most points_ points, padded to a multiple of lanes_
  std::vector<Packed> packed_;
  std::vector<Packed> dPacked_;       // weights of the tangents
  std::vector<OutputVector> vectors_; // full vectors
  // offsets_[v]: the offsets of the channels in a block of v vectors.
  std::vector<std::vector<Index>> offsets_;
  std::vector<Index> valueAt_, beforeAt_; // offsets of the layers in Space::values
  Index spareAt_[2];
  std::vector<Index> sumsAt_; // offsets of the layers' gradients in the sums of a part
  Index sums_ = 0;            // number of parameters, hence of sums
  ThreadScratch space_, indices_;
  Index partsAt_ = 0;                          // offset in the scratch of the sums of all parts
  std::unique_ptr<DeviceColumnMlp<T>> device_; // null on the host
};

} // namespace tenon
