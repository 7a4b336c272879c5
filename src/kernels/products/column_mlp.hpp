// SPDX-License-Identifier: BSD-2-Clause
// A multilayer perceptron of the channels at each point:  h_l+1 = f(W_l h_l + b_l), the last layer without
// f. Points are taken in blocks whose hidden layers stay in the first-level cache; arrays are read
// and written in place, with any strides. The adjoint computes the hidden layers again.
//
// A block holds a layer as [channel, point], and the sums over channels are those of direct
// convolution; for fewer points than a vector has lanes the lanes are channels of the output
// instead. Without vector instructions plain loops multiply. On the device the layers are matrix
// products of many points (column_mlp_device.hpp).
//
// On the host the results at a point (y, its tangent, dx) are the same bit by bit whichever points
// are beside it and however many: so those of a list do not depend on how it is divided among
// ranks.
#pragma once

#include "kernels/convolution/direct_kernels.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/walks/block.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace tenon {

// The points of a tensor: a box of the dimensions that are not channels.
struct PointBox {
  int rank = 0;
  Index extent[kMaxBlockRank];
  Index count() const;
};

// The array of a tensor: the first channel of the first point, and the strides of points and
// channels.
template <class T>
struct PointArray {
  T* first;
  Index strides[kMaxBlockRank]; // of the box
  Index channel;
};

// The numbers of a layer: weights [out,in], and biases [out] or null.
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

  // To be called before the first evaluation, and whenever the numbers have changed; they are used
  // in place, so the arrays must stay.
  void setLayer(int layer, const LayerNumbers<const T>& numbers);

  void forward(const PointBox& box, const PointArray<const T>& x, const PointArray<T>& y);
  // Tangents of x and of layers may be null.
  void tangent(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dx,
               const std::vector<LayerNumbers<const T>>& dLayers, const PointArray<T>& dy);
  // Adds to the layers' gradients, except those that are null; overwrites dx, which may be null.
  void adjoint(const PointBox& box, const PointArray<const T>& x, const PointArray<const T>& dy,
               const PointArray<T>& dx, const std::vector<LayerNumbers<T>>& gradients);

private:
  // The weights of a layer as the sums read them: in blocks of output channels; in blocks of input
  // channels, for the adjoint; and for few points the biases, then for each input channel its
  // weights, as padded rows of output channels.
  struct Packed {
    LayerNumbers<const T> numbers;
    std::vector<T> blocks, transposed, rows;
    std::vector<Index> rowOffsets;
  };
  struct Block {
    Index first, count, padded; // in points
  };
  // The arrays of one block on one thread.
  struct Space {
    T* numbers;
    Index* offsets; // of the points, in the array that is loaded or stored
  };

  Index in(int layer) const { return widths_[layer]; }
  Index out(int layer) const { return widths_[layer + 1]; }
  int layers() const { return static_cast<int>(widths_.size()) - 1; }
  bool isHidden(int layer) const { return layer + 1 < layers(); }
  Index padded(Index count) const { return (count + lanes_ - 1) / lanes_ * lanes_; }
  // The arrays of a block: value(l) is the input of layer l, or the output after the last;
  // before(l) is value(l) before its function; spare() are two more.
  T* value(const Space& space, int level) const { return space.numbers + valueAt_[level]; }
  T* before(const Space& space, int level) const { return space.numbers + beforeAt_[level]; }
  T* spare(const Space& space, int which) const { return space.numbers + spareAt_[which]; }

  Space spaceOf(int thread) {
    return {context_->scratch<T>(space_, thread), context_->scratch<Index>(indices_, thread)};
  }
  Index blocks(Index count) const { return (count + points_ - 1) / points_; }
  Block blockOf(Index count, Index number) const {
    const Index first = number * points_, here = std::min(points_, count - first);
    return {first, here, padded(here)};
  }
  template <class Body>
  void eachBlock(const PointBox& box, const Body& body);
  void packBlocks(const T* w, Index outputs, Index inputs, Index stepOut, Index stepIn,
                  std::vector<T>& packed) const;
  void pack(int layer, const LayerNumbers<const T>& numbers, Packed& packed) const;
  // z = W h + b, or z += W h with `accumulate`; and h = W^T z.
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
  Index lanes_, points_; // a block has points_ at most, and is padded to a multiple of lanes_
  std::vector<Packed> packed_;
  std::vector<Packed> dPacked_;                    // of the tangents
  std::vector<OutputVector> vectors_;              // whole ones
  std::vector<std::vector<Index>> offsets_;        // of channels, by vectors of a block
  std::vector<Index> valueAt_, beforeAt_, sumsAt_; // sumsAt_: of a layer's gradients
  Index spareAt_[2], sums_ = 0;
  ThreadScratch space_, indices_;
  Index partsAt_ = 0;
  std::unique_ptr<DeviceColumnMlp<T>> device_; // null on the host
};

} // namespace tenon
