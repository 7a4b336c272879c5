// SPDX-License-Identifier: BSD-2-Clause
// A multilayer perceptron of the channels at each point,
//     h_{l+1} = f(W_l h_l + b_l),    without f in the last layer.
// Points are processed in blocks whose hidden layers stay in the first-level cache. Arrays are read
// and written in place, with any strides. The adjoint recomputes the hidden layers.
//
// A block stores a layer as [channel, point], and uses the sums of direct convolution
// (convolution/direct_kernels.hpp). If there are fewer points than lanes of a vector, the lanes are
// output channels instead. Without vector instructions, plain loops compute the products. On the
// device, a layer is a matrix product over many points (column_mlp_device.hpp).
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

template <class T>
class ColumnMlp {
public:
  ColumnMlp(std::vector<Index> widths, const PointwiseFunction& activation,
            KernelContextPtr context);
  ~ColumnMlp();

  // Must be called before the first evaluation, and after each change of the values. The arrays are
  // used in place and must remain valid.
  void setLayer(int layer, const LayerNumbers<const T>& numbers);

  void forward(const PointBox& box, const PointArray<const T>& x, const PointArray<T>& y);
  // Tangents of x and of layers can be null.
  void tangent(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dx,
               const std::vector<LayerNumbers<const T>>& dLayers, const PointArray<T>& dy);
  // Adds to the layers' gradients, except null ones; overwrites dx, which can be null.
  void adjoint(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dy,
               const PointArray<T>& dx, const std::vector<LayerNumbers<T>>& gradients);

private:
  // The weights of a layer, packed for the sums: in blocks of output channels; in blocks of input
  // channels, for the adjoint; and for few points as rows of output channels, padded to vectors:
  // the biases, then the weights of each input channel.
  struct Packed {
    LayerNumbers<const T> numbers;
    std::vector<T> blocks, transposed, rows;
    std::vector<Index> rowOffsets;
  };
  struct Block {
    Index first, count, padded; // numbers of points
  };
  // Scratch of one thread for a block.
  struct Space {
    T* numbers;
    Index* offsets; // offsets of the points in the array to load or store
  };

  Index in(int layer) const { return widths_[layer]; }
  Index out(int layer) const { return widths_[layer + 1]; }
  int layers() const { return static_cast<int>(widths_.size()) - 1; }
  bool isHidden(int layer) const { return layer + 1 < layers(); }
  Index padded(Index count) const { return (count + lanes_ - 1) / lanes_ * lanes_; }
  // Arrays of a block: value(l) is the input of layer l, or the output after the last layer;
  // before(l) is value(l) before the activation; spare() are two temporary arrays.
  T* value(const Space& space, int level) const { return space.numbers + valueAt_[level]; }
  T* before(const Space& space, int level) const { return space.numbers + beforeAt_[level]; }
  T* spare(const Space& space, int index) const { return space.numbers + spareAt_[index]; }

  Space spaceOf(int thread) {
    return {context_->scratch<T>(space_, thread), context_->scratch<Index>(indices_, thread)};
  }
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
  void addGradients(int layer, const T* dz, const T* h, Index points, T* sums);
  void compute(const Space& space, Index points);
  void forwardFew(const PointBox& box, const Space& space, const PointArray<const T>& x,
                  const PointArray<T>& y, const Block& block);
  void adjointOf(const PointBox& box, const Space& space, const Block& block,
                 const PointArray<const T>& x, const PointArray<const T>& dy,
                 const PointArray<T>& dx, T* sums);

  std::vector<Index> widths_;
  PointwiseFunction activation_;
  KernelContextPtr context_;
  const DirectKernels<T>* kernels_; // null: plain loops
  Index lanes_, points_; // a block has at most points_ points, padded to a multiple of lanes_
  std::vector<Packed> packed_;
  std::vector<Packed> dPacked_;       // weights of the tangents
  std::vector<OutputVector> vectors_; // full vectors
  // Of channels, indexed by the number of vectors of a block.
  std::vector<std::vector<Index>> offsets_;
  std::vector<Index> valueAt_, beforeAt_, sumsAt_; // sumsAt_: offsets of the layers' gradients
  Index spareAt_[2], sums_ = 0;
  ThreadScratch space_, indices_;
  Index partsAt_ = 0;
  std::unique_ptr<DeviceColumnMlp<T>> device_; // null on the host
};

} // namespace tenon
