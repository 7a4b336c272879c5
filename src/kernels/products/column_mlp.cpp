// SPDX-License-Identifier: BSD-2-Clause
// A multilayer perceptron of the channels at each point of a box (column_mlp.hpp), on the host:
// h_{l+1} = f(W_l h_l + b_l), its tangent and its adjoint. In a context of the device every call is
// passed to DeviceColumnMlp. The points are divided into blocks, and a block is computed through
// all layers before the next block, so the values of hidden layers stay in the cache:
//
//   load() a block of x [point, channel] to [channel, point], padded to whole vectors
//   apply() each layer: z = W h + b, then the activation
//   store() the block of y
//
// The products with the weights use the loops of direct convolution (DirectKernels): a block
// [channel, point] has the same memory layout as an image, and a layer is a convolution with a 1x1
// kernel. In the names below, h is the input of a layer and z its output before the activation.
#include "kernels/products/column_mlp.hpp"

#include "kernels/products/column_mlp_device.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenon {

namespace {

// Number of points of a block: full vectors, few enough for the hidden layers to stay in the
// first-level cache, and enough to fill the tiles of the sums. Without vector kernels, a number
// from which BLAS computes the gradients of a block efficiently.
constexpr Index kVectorsOfBlock = 6;
constexpr Index kPointsOfBaseline = 64;
// The points are divided into this number of parts, and the gradients of the weights are summed
// separately in each part. The number does not depend on the number of threads, so the result does
// not either.
constexpr Index kMaxParts = 16;

// Computes the offsets in an array of `count` points of the box, beginning at `first`. Returns
// whether the points are contiguous.
template <class T>
bool findOffsets(const PointBox& box, const PointArray<T>& array, Index first, Index count,
                 Index* offsets) {
  Index position[kMaxBlockRank], offset = 0;
  for (int d = box.rank - 1; d >= 0; --d) {
    position[d] = first % box.extent[d];
    first /= box.extent[d];
    offset += position[d] * array.strides[d];
  }
  bool areContiguous = true;
  for (Index p = 0; p < count; ++p) {
    offsets[p] = offset;
    areContiguous &= offset == offsets[0] + p;
    for (int d = box.rank - 1; d >= 0; --d) {
      offset += array.strides[d];
      if (++position[d] < box.extent[d])
        break;
      offset -= box.extent[d] * array.strides[d];
      position[d] = 0;
    }
  }
  return areContiguous;
}

// to[c,p] = channel c of the array at point first + p. Points from `count` on are zero or, with
// `repeats`, copies of the last point: functions of the padding then raise no other floating-point
// exceptions. `offsets` is scratch for the offsets of the points.
template <class T>
void load(const PointBox& box, const PointArray<const T>& array, Index first, Index channels,
          Index count, Index padded, Index* offsets, T* to, bool repeats = false) {
  const bool areContiguous = findOffsets(box, array, first, count, offsets);
  for (Index c = 0; c < channels; ++c, to += padded) {
    const T* from = array.first + c * array.channel;
    if (areContiguous)
      std::copy_n(from + offsets[0], count, to);
    else
      for (Index p = 0; p < count; ++p)
        to[p] = from[offsets[p]];
    std::fill(to + count, to + padded, repeats ? to[count - 1] : T(0));
  }
}

// The inverse of load(): writes the `count` points, without the padding.
template <class T>
void store(const T* from, const PointBox& box, const PointArray<T>& array, Index first,
           Index channels, Index count, Index padded, Index* offsets) {
  const bool areContiguous = findOffsets(box, array, first, count, offsets);
  for (Index c = 0; c < channels; ++c, from += padded) {
    T* to = array.first + c * array.channel;
    if (areContiguous)
      std::copy_n(from, count, to + offsets[0]);
    else
      for (Index p = 0; p < count; ++p)
        to[offsets[p]] = from[p];
  }
}

// z[k,p] += sum of w(k,i) h[i,p] over i, in order, for processors without vector kernels, where
// w(k,i) = w[k stepOut + i stepIn]. BLAS is not used since on some processors its order of addition
// depends on the position of a point in the block.
template <class T>
void addProducts(const T* w, Index stepOut, Index stepIn, Index outputs, Index inputs, const T* h,
                 Index points, T* z) {
  for (Index k = 0; k < outputs; ++k, z += points)
    for (Index i = 0; i < inputs; ++i) {
      const T weight = w[k * stepOut + i * stepIn];
      const T* from = h + i * points;
      for (Index p = 0; p < points; ++p)
        z[p] += weight * from[p];
    }
}

} // namespace

Index PointBox::count() const {
  return std::accumulate(extent, extent + rank, Index(1), std::multiplies<>());
}

template <class T>
ColumnMlp<T>::ColumnMlp(std::vector<Index> widths, const PointwiseFunction& activation,
                        KernelContextPtr context)
    : widths_(std::move(widths)), activation_(activation), context_(std::move(context)),
      kernels_(instructionSet() == InstructionSet::Baseline ? nullptr
                                                            : &directKernels<T>(instructionSet())),
      lanes_(kernels_ ? kernels_->lanes : kPointsOfBaseline),
      points_(kernels_ ? kVectorsOfBlock * lanes_ : lanes_), packed_(layers()), dPacked_(layers()) {
  if (isOnDevice(*context_)) {
    device_ = std::make_unique<DeviceColumnMlp<T>>(widths_, activation_, *context_);
    return;
  }
  const Index widest = *std::max_element(widths_.begin(), widths_.end());
  Index elements = 0;
  // The offset of the next array [channels, points] in the scratch of a thread.
  const auto take = [&](Index channels) {
    return std::exchange(elements, elements + channels * points_);
  };
  for (Index width : widths_) {
    valueAt_.push_back(take(width));
    beforeAt_.push_back(take(width));
  }
  for (Index& at : spareAt_)
    at = take(widest);
  for (int l = 0; l < layers(); ++l)
    sumsAt_.push_back(std::exchange(sums_, sums_ + (in(l) + 1) * out(l)));
  ScratchPlan plan;
  space_ = plan.addForThreads<T>(context_->threads(), elements);
  indices_ = plan.addForThreads<Index>(context_->threads(), points_);
  partsAt_ = plan.add<T>(kMaxParts * sums_);
  context_->reserve(plan);
  // The sums of direct convolution require lists of vectors and offsets. These are regular and
  // shared by all layers: vector v begins at v lanes, and channel c at c times the points of a
  // block.
  for (Index v = 0; v < std::max(points_, padded(widest)) / lanes_; ++v)
    vectors_.push_back({.x = v * lanes_, .y = v * lanes_, .count = lanes_});
  for (Index v = 0; v <= points_ / lanes_; ++v) {
    offsets_.emplace_back();
    for (Index c = 0; c < widest; ++c)
      offsets_.back().push_back(c * v * lanes_);
  }
}

template <class T>
ColumnMlp<T>::~ColumnMlp() = default;

// Packs a matrix in the order in which the sums of direct convolution read it: by blocks of output
// channels, and within a block by input channel.
template <class T>
void ColumnMlp<T>::packBlocks(const T* w, Index outputs, Index inputs, Index stepOut, Index stepIn,
                              std::vector<T>& packed) const {
  packed.clear();
  for (Index k = 0; k < outputs;) {
    const int block = channelsOfBlock(outputs - k, kernels_->maxChannels);
    for (Index i = 0; i < inputs; ++i)
      for (int j = 0; j < block; ++j)
        packed.push_back(w[(k + j) * stepOut + i * stepIn]);
    k += block;
  }
}

template <class T>
void ColumnMlp<T>::pack(int layer, const LayerNumbers<const T>& numbers, Packed& packed) const {
  packed.numbers = numbers;
  if (!kernels_)
    return; // plain loops read the weights in place
  const Index inputs = in(layer), outputs = out(layer), row = padded(outputs);
  packBlocks(numbers.weights, outputs, inputs, /*stepOut=*/inputs, /*stepIn=*/1, packed.blocks);
  packBlocks(numbers.weights, inputs, outputs, /*stepOut=*/1, /*stepIn=*/inputs, packed.transposed);
  // The biases are the weights of an additional input of value 1, the first, since sums begin with
  // the bias.
  packed.rows.assign((1 + inputs) * row, T(0));
  packed.rowOffsets.clear();
  for (Index i = 0; i <= inputs; ++i)
    packed.rowOffsets.push_back(i * row);
  for (Index k = 0; k < outputs; ++k) {
    packed.rows[k] = numbers.biases ? numbers.biases[k] : T(0);
    for (Index i = 0; i < inputs; ++i)
      packed.rows[(1 + i) * row + k] = numbers.weights[k * inputs + i];
  }
}

template <class T>
void ColumnMlp<T>::setLayer(int layer, const LayerNumbers<const T>& numbers) {
  if (device_)
    device_->setLayer(layer, numbers);
  else
    pack(layer, numbers, packed_[layer]);
}

// Calls body(scratch of the thread, block) for all blocks of points, on several threads.
template <class T>
template <class Body>
void ColumnMlp<T>::eachBlock(const PointBox& box, const Body& body) {
  const Index count = box.count();
  parallelPieces(context_->threads(space_), blocks(count), sums_ * points_,
                 [=, this, &body](int thread, Index begin, Index end) {
                   const Space space = spaceOf(thread);
                   for (Index i = begin; i < end; ++i)
                     body(space, blockOf(count, i));
                 });
}

template <class T>
void ColumnMlp<T>::apply(int layer, const Packed& packed, const T* h, Index points, T* z,
                         bool accumulate) {
  const Index inputs = in(layer), outputs = out(layer);
  const T* b = packed.numbers.biases;
  if (!kernels_) {
    for (Index k = 0; k < outputs; ++k)
      if (!accumulate)
        std::fill_n(z + k * points, points, b ? b[k] : T(0));
    return addProducts(packed.numbers.weights, inputs, 1, outputs, inputs, h, points, z);
  }
  for (Index k = 0; k < outputs;) {
    const int block = channelsOfBlock(outputs - k, kernels_->maxChannels);
    kernels_->outputs(block,
                      {.x = h,
                       .offsets = offsets_[points / lanes_].data(),
                       .columns = inputs,
                       .w = packed.blocks.data() + k * inputs,
                       .b = b && !accumulate ? b + k : nullptr,
                       .y = z + k * points,
                       .yChannel = points,
                       .yStep = 1,
                       .accumulate = accumulate},
                      vectors_.data(), points / lanes_);
    k += block;
  }
}

template <class T>
void ColumnMlp<T>::applyTransposed(int layer, const T* z, Index points, T* h) {
  const Index inputs = in(layer), outputs = out(layer);
  const Packed& packed = packed_[layer];
  if (!kernels_) {
    std::fill_n(h, inputs * points, T(0));
    return addProducts(packed.numbers.weights, 1, inputs, inputs, outputs, z, points, h);
  }
  for (Index i = 0; i < inputs;) {
    const int block = channelsOfBlock(inputs - i, kernels_->maxChannels);
    kernels_->outputs(block,
                      {.x = z,
                       .offsets = offsets_[points / lanes_].data(),
                       .columns = outputs,
                       .w = packed.transposed.data() + i * outputs,
                       .b = nullptr,
                       .y = h + i * points,
                       .yChannel = points,
                       .yStep = 1,
                       .accumulate = false},
                      vectors_.data(), points / lanes_);
    i += block;
  }
}

// Adds to `sums`: those of the weights [out,in], followed by those of the biases. Padding
// contributes nothing, since load() has set its dz to zero.
template <class T>
void ColumnMlp<T>::addGradients(int layer, const T* dz, const T* h, Index points, T* sums) {
  const Index inputs = in(layer), outputs = out(layer);
  T* biases = sums + outputs * inputs;
  if (!kernels_) {
    gemm<T>(*context_, Backend::Blas, false, true, outputs, inputs, points, 1, dz, points, h,
            points, 1, sums, inputs);
    for (Index k = 0; k < outputs; ++k)
      biases[k] += std::accumulate(dz + k * points, dz + (k + 1) * points, T(0));
    return;
  }
  for (Index k = 0; k < outputs;) {
    const int block = channelsOfBlock(outputs - k, kernels_->maxChannels);
    const T* from = dz + k * points;
    kernels_->weights(block,
                      {.x = h,
                       .offsets = offsets_[points / lanes_].data(),
                       .columns = inputs,
                       .dy = from,
                       .dyChannel = points,
                       .dw = sums + k * inputs,
                       .dwChannel = inputs},
                      vectors_.data(), points / lanes_);
    kernels_->biases(block, from, points, vectors_.data(), points / lanes_, biases + k);
    k += block;
  }
}

// Computes all layers.
template <class T>
void ColumnMlp<T>::compute(const Space& space, Index points) {
  for (int l = 0; l < layers(); ++l) {
    T* z = isHidden(l) ? before(space, l + 1) : value(space, l + 1);
    apply(l, packed_[l], value(space, l), points, z, /*accumulate=*/false);
    if (isHidden(l))
      pointwiseForward<T>(*context_, activation_, out(l) * points, z, value(space, l + 1));
  }
}

// For fewer points than lanes of a vector: lanes are output channels, and the points take the role
// of channels in the sums. Each output is still the sum of the same products in the same order as
// in a full block, hence bitwise identical. A value is stored as [1 + channel, point] here: its
// first `points` numbers are the input of value 1 whose weights are the biases, and the channels
// follow (+ points).
template <class T>
void ColumnMlp<T>::forwardFew(const PointBox& box, const Space& space, const PointArray<const T>& x,
                              const PointArray<T>& y, const Block& block) {
  for (Index p = 0; p < block.count;) {
    const int points = channelsOfBlock(block.count - p, kernels_->maxChannels);
    load(box, x, block.first + p, in(0), points, points, space.offsets, value(space, 0) + points);
    for (int l = 0; l < layers(); ++l) {
      const Packed& packed = packed_[l];
      T *h = value(space, l), *z = value(space, l + 1) + points;
      std::fill_n(h, points, T(1));
      // The roles of weights and inputs are exchanged: the sums read the rows of weights as
      // vectors, and the inputs at the points as their factors.
      const OutputSums<T> sums{.x = packed.rows.data(),
                               .offsets = packed.rowOffsets.data(),
                               .columns = 1 + in(l),
                               .w = h,
                               .b = nullptr,
                               .y = z,
                               .yChannel = 1,
                               .yStep = points,
                               .accumulate = false};
      for (Index k = 0; k < out(l); k += lanes_) {
        const OutputVector vector{.x = k, .y = k * points, .count = std::min(lanes_, out(l) - k)};
        kernels_->outputs(points, sums, &vector, 1);
      }
      if (isHidden(l))
        pointwiseForward<T>(*context_, activation_, out(l) * points, z, z);
    }
    store(value(space, layers()) + points, box, y, block.first + p, out(layers() - 1), points,
          points, space.offsets);
    p += points;
  }
}

template <class T>
bool ColumnMlp<T>::isFusedOnDevice() const {
  return device_ && device_->isNarrow();
}

template <class T>
void ColumnMlp<T>::forward(const PointBox& box, const PointArray<const T>& x,
                           const PointArray<T>& y) {
  if (device_)
    return device_->forward(box, x, y);
  eachBlock(box, [=, this, &box](const Space& space, const Block& block) {
    if (kernels_ && block.count < lanes_)
      return forwardFew(box, space, x, y, block);
    load(box, x, block.first, in(0), block.count, block.padded, space.offsets, value(space, 0),
         /*repeats=*/true);
    compute(space, block.padded);
    store(value(space, layers()), box, y, block.first, out(layers() - 1), block.count, block.padded,
          space.offsets);
  });
}

template <class T>
void ColumnMlp<T>::tangent(const PointBox& box, const PointArray<const T>& x,
                           const PointArray<const T>& dx,
                           const std::vector<LayerNumbers<const T>>& dLayers,
                           const PointArray<T>& dy) {
  if (device_)
    return device_->tangent(box, x, dx, dLayers, dy);
  // Tangents of parameters change from call to call; they are packed before the threads start.
  for (int l = 0; l < layers(); ++l)
    if (dLayers[l].weights)
      pack(l, dLayers[l], dPacked_[l]);
  eachBlock(box, [&, this](const Space& space, const Block& block) {
    const Index points = block.padded;
    load(box, x, block.first, in(0), block.count, points, space.offsets, value(space, 0),
         /*repeats=*/true);
    compute(space, points);
    // d(W h + b) = W dh + dW h + db, layer by layer.
    T *dh = spare(space, 0), *dz = spare(space, 1);
    if (dx.first) {
      load(box, dx, block.first, in(0), block.count, points, space.offsets, dh);
    } else {
      std::fill_n(dh, in(0) * points, T(0));
    }
    for (int l = 0; l < layers(); ++l) {
      for (Index k = 0; k < out(l); ++k)
        std::fill_n(dz + k * points, points, dLayers[l].biases ? dLayers[l].biases[k] : T(0));
      apply(l, packed_[l], dh, points, dz, /*accumulate=*/true);
      if (dLayers[l].weights)
        apply(l, dPacked_[l], value(space, l), points, dz, /*accumulate=*/true);
      if (isHidden(l))
        pointwiseDerivative<T>(*context_, activation_, out(l) * points, before(space, l + 1),
                               value(space, l + 1), dz, dz);
      std::swap(dh, dz);
    }
    store(dh, box, dy, block.first, out(layers() - 1), block.count, points, space.offsets);
  });
}

// Backpropagation through the layers of one block: dz is the cotangent (the gradient with respect
// to it) of a layer's output before the activation, dh that of the layer's input.
template <class T>
void ColumnMlp<T>::adjointOf(const PointBox& box, const Space& space, const Block& block,
                             const PointArray<const T>& x, const PointArray<const T>& dy,
                             const PointArray<T>& dx, T* sums) {
  const Index points = block.padded;
  load(box, x, block.first, in(0), block.count, points, space.offsets, value(space, 0),
       /*repeats=*/true);
  compute(space, points);
  T *dz = spare(space, 0), *dh = spare(space, 1);
  load(box, dy, block.first, out(layers() - 1), block.count, points, space.offsets, dz);
  for (int l = layers() - 1; l >= 0; --l) {
    addGradients(l, dz, value(space, l), points, sums + sumsAt_[l]);
    if (l == 0 && !dx.first)
      return;
    applyTransposed(l, dz, points, dh);
    if (l > 0)
      pointwiseDerivative<T>(*context_, activation_, in(l)*points, before(space, l),
                             value(space, l), dh, dh);
    std::swap(dz, dh);
  }
  store(dz, box, dx, block.first, in(0), block.count, points, space.offsets);
}

// The points are divided into the same parts for any number of threads, and the sums of the parts
// are added in order.
template <class T>
void ColumnMlp<T>::adjoint(const PointBox& box, const PointArray<const T>& x,
                           const PointArray<const T>& dy, const PointArray<T>& dx,
                           const std::vector<LayerNumbers<T>>& gradients) {
  if (device_)
    return device_->adjoint(box, x, dy, dx, gradients);
  const Index count = box.count(), allBlocks = blocks(count),
              parts = std::min(allBlocks, kMaxParts);
  T* partSums = context_->scratch<T>(partsAt_);
  parallelPieces(context_->threads(space_), parts, sums_ * count,
                 [&, this](int thread, Index begin, Index end) {
                   const Space space = spaceOf(thread);
                   for (Index part = begin; part < end; ++part) {
                     T* sums = partSums + part * sums_;
                     std::fill_n(sums, sums_, T(0));
                     for (Index i = allBlocks * part / parts; i < allBlocks * (part + 1) / parts;
                          ++i)
                       adjointOf(box, space, blockOf(count, i), x, dy, dx, sums);
                   }
                 });
  for (Index part = 0; part < parts; ++part)
    for (int l = 0; l < layers(); ++l) {
      const T* sums = partSums + part * sums_ + sumsAt_[l];
      const Index weights = out(l) * in(l);
      if (T* to = gradients[l].weights)
        for (Index i = 0; i < weights; ++i)
          to[i] += sums[i];
      if (T* to = gradients[l].biases)
        for (Index k = 0; k < out(l); ++k)
          to[k] += sums[weights + k];
    }
}

template class ColumnMlp<float>;
template class ColumnMlp<double>;

} // namespace tenon
