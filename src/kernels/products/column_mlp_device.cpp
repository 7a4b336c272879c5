// SPDX-License-Identifier: BSD-2-Clause
// The multilayer perceptron at each point of a box (column_mlp.hpp), on the device. The forward
// pass of narrow layers is one kernel, with the values between layers in the shared memory of
// thread blocks, for arrays with any strides. Otherwise the box is divided into parts of at most
// kMaxPoints points. For each part, every layer is a matrix product followed by the activation. For
// derivatives the scratch memory stores the values before and after each activation for one part;
// the adjoint first computes the hidden layers again, for narrow layers by the kernel, which then
// takes the cotangents through them. The forward pass needs the values of two
// layers only, so its parts are larger. Forward pass and adjoint read and write arrays in place if
// the points of a channel are adjacent.
#include "kernels/products/column_mlp_device.hpp"

#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tenon {

namespace {

// Points of a part: enough for a matrix product to occupy the device, within 64 MiB of scratch, or
// 128 MiB for narrow layers, of which a part makes few launches.
constexpr Index kMaxPoints = Index(1) << 16, kMaxBytes = Index(1) << 26;
// Thread blocks of a multiprocessor, whose shared memory has four times 35 KB.
constexpr Index kBlocksEach = 4;

Index offsetOf(const Index* index, const Index* strides, int rank) {
  Index offset = 0;
  for (int d = 0; d < rank; ++d)
    offset += index[d] * strides[d];
  return offset;
}

// The box [channels, points], with its strides in the scratch (packed) and in a tensor's array.
struct ChannelBlock {
  Index extent[kMaxBlockRank], packed[kMaxBlockRank], strided[kMaxBlockRank];
};
// The block of a part with these channels; the strides of `array` are the strided ones.
template <class T>
ChannelBlock blockOf(const PointBox& box, const PointArray<T>& array, Index channels) {
  ChannelBlock block;
  Index step = 1;
  for (int d = box.rank; d > 0; --d) {
    block.extent[d] = box.extent[d - 1];
    block.packed[d] = std::exchange(step, step * box.extent[d - 1]);
    block.strided[d] = array.strides[d - 1];
  }
  block.extent[0] = channels;
  block.packed[0] = step;
  block.strided[0] = array.channel;
  return block;
}

// The address of a part's first element in an array.
template <class Part, class T>
T* addressIn(const Part& part, const PointArray<T>& array) {
  return array.first + offsetOf(part.first, array.strides, part.box.rank);
}

// Whether the array is a matrix [channel, point]: the points of a channel are adjacent.
template <class T>
bool isMatrix(const PointBox& box, const PointArray<T>& array) {
  Index step = 1;
  for (int d = box.rank; d > 0; --d)
    if (box.extent[d - 1] > 1 &&
        array.strides[d - 1] != std::exchange(step, step * box.extent[d - 1]))
      return false;
  return array.channel >= step;
}

} // namespace

template <class T>
DeviceColumnMlp<T>::DeviceColumnMlp(std::vector<Index> widths, const PointwiseFunction& activation,
                                    KernelContext& context)
    : widths_(std::move(widths)), activation_(activation), context_(context),
      layers_(widths_.size() - 1) {
  Index channels = 0;
  const auto take = [&](Index count) { return std::exchange(channels, channels + count); };
  for (int l = 0; l < layers(); ++l) { // the input, and the hidden layers
    valueAt_.push_back(take(in(l)));
    beforeAt_.push_back(l > 0 ? take(in(l)) : 0);
  }
  const Index widest = *std::max_element(widths_.begin(), widths_.end());
  for (Index& spare : spareAt_)
    spare = take(widest);
  const auto pointsFor = [](Index numbers, Index maxBytes = kMaxBytes) {
    return std::clamp<Index>(maxBytes / (numbers * Index(sizeof(T))), 1, kMaxPoints);
  };
  points_ = pointsFor(channels);
  // Each hidden layer has values, cotangents, and for some activations their arguments.
  Index saved = widths_.front() + widths_.back();
  for (int l = 1; l < layers(); ++l)
    saved += (readsArgument() ? 3 : 2) * in(l);
  narrowPoints_ = pointsFor(saved, 2 * kMaxBytes);
  forwardPoints_ = isNarrow() ? 0 : pointsFor(2 * widest);
  levelElements_ = forwardPoints_ * widest;
  ScratchPlan plan;
  scratch_ = plan.add<T>(
      std::max({channels * points_, 2 * levelElements_, isNarrow() ? saved * narrowPoints_ : 0}));
  context_.reserve(plan);
  prepareGemm(context_);
}

// Halves the longest dimension until a part fits the scratch. Each part is thus a box.
template <class T>
template <class Body>
void DeviceColumnMlp<T>::eachPart(const Part& part, Index maxPoints, const Body& body) const {
  if (part.points <= maxPoints)
    return body(part);
  int longest = 0;
  for (int d = 0; d < part.box.rank; ++d)
    if (part.box.extent[d] > part.box.extent[longest])
      longest = d;
  Part low = part, high = part;
  const Index half = low.box.extent[longest] /= 2;
  high.box.extent[longest] -= half;
  high.first[longest] += half;
  low.points = low.box.count();
  high.points = high.box.count();
  eachPart(low, maxPoints, body);
  eachPart(high, maxPoints, body);
}

template <class T>
template <class Body>
void DeviceColumnMlp<T>::eachPart(const PointBox& box, Index maxPoints, const Body& body) const {
  const Part part{box, {}, box.count()};
  if (part.points > 0)
    eachPart(part, maxPoints, body);
}

template <class T>
void DeviceColumnMlp<T>::load(const Part& part, const PointArray<const T>& from, Index channels,
                              T* to) const {
  const ChannelBlock block = blockOf(part.box, from, channels);
  blockCombine(context_, Combine::Copy, part.box.rank + 1, block.extent, addressIn(part, from),
               block.strided, to, block.packed);
}

template <class T>
void DeviceColumnMlp<T>::store(const T* from, const Part& part, const PointArray<T>& to,
                               Index channels) const {
  const ChannelBlock block = blockOf(part.box, to, channels);
  blockCombine(context_, Combine::Copy, part.box.rank + 1, block.extent, from, block.packed,
               addressIn(part, to), block.strided);
}

template <class T>
void DeviceColumnMlp<T>::apply(int layer, const LayerNumbers<const T>& numbers, Rows<const T> h,
                               Index points, bool adds, Rows<T> z) const {
  const Index extent[] = {out(layer), points}, biasStrides[] = {1, 0}, rowStrides[] = {z.step, 1};
  // The biases are first broadcast to all points; the product then adds to them.
  if (numbers.biases)
    blockCombine(context_, adds ? Combine::Add : Combine::Copy, 2, extent, numbers.biases,
                 biasStrides, z.first, rowStrides);
  if (numbers.weights)
    gemm<T>(context_, Backend::Auto, /*transA=*/false, /*transB=*/false, out(layer), points,
            in(layer), /*alpha=*/T(1), numbers.weights, in(layer), h.first, h.step,
            /*beta=*/T(adds || numbers.biases ? 1 : 0), z.first, z.step);
}

template <class T>
auto DeviceColumnMlp<T>::rowsOf(const Part& part, const PointArray<const T>& from, Index channels,
                                T* copy) const -> Rows<const T> {
  if (isMatrix(part.box, from))
    return {addressIn(part, from), from.channel};
  load(part, from, channels, copy);
  return {copy, part.points};
}

template <class T>
void DeviceColumnMlp<T>::addGradients(int layer, Rows<const T> h, Rows<const T> dz, Index points,
                                      const LayerNumbers<T>& gradients) const {
  const Index extent[] = {out(layer), points}, biasStrides[] = {1, 0}, rowStrides[] = {dz.step, 1};
  if (gradients.weights)
    gemm<T>(context_, Backend::Auto, /*transA=*/false, /*transB=*/true, out(layer), in(layer),
            points, /*alpha=*/T(1), dz.first, dz.step, h.first, h.step, /*beta=*/T(1),
            gradients.weights, in(layer));
  if (gradients.biases)
    blockMultiplyAdd<T>(context_, 2, extent, T(1), nullptr, nullptr, dz.first, rowStrides,
                        gradients.biases, biasStrides);
}

template <class T>
auto DeviceColumnMlp<T>::computeHidden(const Part& part, const PointArray<const T>& x) const
    -> Rows<const T> {
  const Rows<const T> input = rowsOf(part, x, in(0), value(0));
  Rows<const T> h = input;
  for (int l = 0; isHidden(l); ++l) {
    apply(l, layers_[l], h, part.points, /*adds=*/false, {before(l + 1), part.points});
    pointwiseForward<T>(context_, activation_, out(l) * part.points, before(l + 1), value(l + 1));
    h = {value(l + 1), part.points};
  }
  return input;
}

template <class T>
bool DeviceColumnMlp<T>::isNarrow() const {
  return layers() <= Tiles::kMaxLayers && std::ranges::max(widths_) <= Tiles::kMaxWidth &&
         functors::SelectedActivation::has(activation_.kind);
}

template <class T>
bool DeviceColumnMlp<T>::readsArgument() const {
  return functors::SelectedActivation{activation_.kind}.readsArgument();
}

// Runs the kernel of narrow layers: `tiles` has the layers and copyOfX already.
template <class T>
void DeviceColumnMlp<T>::runTiles(const Part& part, const PointArray<const T>& x,
                                  const PointArray<T>& y, Tiles tiles) const {
  // Smaller tiles if there are few points, to occupy the device.
  const Index blocks = kBlocksEach * Device::get().multiprocessors(),
              fits = Tiles::kNumbers / std::ranges::max(widths_);
  Index tile = Tiles::kMaxTile;
  while (tile > Tiles::kMinTile && (tile > fits || part.points < blocks * tile))
    tile /= 2;
  const PointBox& box = part.box;
  // Neighbouring threads access the elements that are closest to each other.
  const auto sideOf = [&](const auto& array) {
    const bool isByChannel =
        box.rank > 0 && std::abs(array.channel) < std::abs(array.strides[box.rank - 1]);
    return typename Tiles::Side{array.channel, isByChannel};
  };
  tiles.activation = {activation_.kind};
  tiles.points = {box.rank, box.extent, {x.strides, y.first ? y.strides : x.strides}};
  tiles.tiles = (part.points + tile - 1) / tile;
  tiles.tile = static_cast<std::uint32_t>(tile);
  tiles.x = addressIn(part, x);
  tiles.ofX = sideOf(x);
  if (y.first) {
    tiles.y = addressIn(part, y);
    tiles.ofY = sideOf(y);
  }
  const Index grid = std::min(tiles.tiles, blocks);
  tiles.rounds = static_cast<std::int32_t>((tiles.tiles + grid - 1) / grid);
  if constexpr (kHasDevice)
    device::eachThreadBlock(context_.stream(), grid, tiles);
}

template <class T>
auto DeviceColumnMlp<T>::valuesOf(int layer) const -> typename Tiles::Layer {
  return {.weights = layers_[layer].weights,
          .biases = layers_[layer].biases,
          .before = nullptr,
          .after = nullptr,
          .at = nullptr,
          .terms = static_cast<std::uint32_t>(in(layer)),
          .rows = static_cast<std::uint32_t>(out(layer)),
          .stepOfTerms = 1,
          .stepOfRows = static_cast<std::uint32_t>(in(layer)),
          .function = isHidden(layer) ? Tiles::Layer::Value : Tiles::Layer::None};
}

template <class T>
auto DeviceColumnMlp<T>::cotangentsOf(int layer) const -> typename Tiles::Layer {
  return {.weights = layers_[layer].weights,
          .biases = nullptr,
          .before = nullptr,
          .after = nullptr,
          .at = nullptr,
          .terms = static_cast<std::uint32_t>(out(layer)),
          .rows = static_cast<std::uint32_t>(in(layer)),
          .stepOfTerms = static_cast<std::uint32_t>(in(layer)),
          .stepOfRows = 1,
          .function = layer > 0 ? Tiles::Layer::Derivative : Tiles::Layer::None};
}

// One kernel computes the hidden layers again, and saves them; one takes the cotangents through the
// layers, and saves those of the hidden ones. The gradients are products of the two.
template <class T>
void DeviceColumnMlp<T>::adjointNarrow(const Part& part, const PointArray<const T>& x,
                                       const PointArray<const T>& dy, const PointArray<T>& dx,
                                       const std::vector<LayerNumbers<T>>& gradients) const {
  const int last = layers() - 1;
  T* next = context_.scratch<T>(scratch_);
  const auto take = [&](Index channels) {
    return std::exchange(next, next + channels * part.points);
  };
  std::vector<Rows<const T>> h(layers()), dz(layers()); // inputs, and cotangents of outputs
  Tiles values{}, cotangents{};
  // A copy of the array if it is not a matrix.
  const auto rowsOrCopy = [&](const PointArray<const T>& array, Index channels, T*& copy) {
    if (isMatrix(part.box, array))
      return Rows<const T>{addressIn(part, array), array.channel};
    copy = take(channels);
    return Rows<const T>{copy, part.points};
  };
  h[0] = rowsOrCopy(x, in(0), values.copyOfX);
  dz[last] = rowsOrCopy(dy, out(last), cotangents.copyOfX);
  for (int l = 0; l < last; ++l) {
    typename Tiles::Layer& layer = values.layers[values.count++] = valuesOf(l);
    layer.after = take(out(l));
    layer.before = readsArgument() ? take(out(l)) : nullptr;
    h[l + 1] = {layer.after, part.points};
  }
  runTiles(part, x, {}, values);
  for (int l = last; l >= (dx.first ? 0 : 1); --l) {
    typename Tiles::Layer& layer = cotangents.layers[cotangents.count++] = cotangentsOf(l);
    if (l == 0)
      continue;
    layer.at = readsArgument() ? values.layers[l - 1].before : values.layers[l - 1].after;
    layer.after = take(in(l));
    dz[l - 1] = {layer.after, part.points};
  }
  runTiles(part, dy, dx, cotangents);
  for (int l = last; l >= 0; --l)
    addGradients(l, h[l], dz[l], part.points, gradients[l]);
}

template <class T>
void DeviceColumnMlp<T>::forward(const PointBox& box, const PointArray<const T>& x,
                                 const PointArray<T>& y) {
  if (isNarrow())
    return eachPart(box, sliceElements, [&](const Part& part) {
      Tiles tiles{};
      for (int l = 0; l < layers(); ++l)
        tiles.layers[tiles.count++] = valuesOf(l);
      runTiles(part, x, y, tiles);
    });
  eachPart(box, forwardPoints_, [&](const Part& part) {
    T* const levels = context_.scratch<T>(scratch_);
    Rows<const T> h = rowsOf(part, x, in(0), levels);
    const bool writesInPlace = isMatrix(part.box, y);
    for (int l = 0; l < layers(); ++l) {
      Rows<T> z{levels + (l % 2 == 0 ? levelElements_ : 0), part.points};
      if (!isHidden(l) && writesInPlace)
        z = {addressIn(part, y), y.channel};
      apply(l, layers_[l], h, part.points, /*adds=*/false, z);
      if (isHidden(l))
        pointwiseForward<T>(context_, activation_, out(l) * part.points, z.first, z.first);
      h = {z.first, z.step};
    }
    if (!writesInPlace)
      store(h.first, part, y, out(layers() - 1));
  });
}

template <class T>
void DeviceColumnMlp<T>::tangent(const PointBox& box, const PointArray<const T>& x,
                                 const PointArray<const T>& dx,
                                 const std::vector<LayerNumbers<const T>>& dLayers,
                                 const PointArray<T>& dy) {
  eachPart(box, points_, [&](const Part& part) {
    const Rows<const T> input = computeHidden(part, x);
    // d(W h + b) = W dh + dW h + db, layer by layer.
    T *dh = spare(0), *dz = spare(1);
    const Index inputs = in(0) * part.points, adjacent = 1;
    if (dx.first)
      load(part, dx, in(0), dh);
    else
      fillBlock(context_, 1, &inputs, T(0), dh, &adjacent);
    for (int l = 0; l < layers(); ++l) {
      const Rows<T> to{dz, part.points};
      apply(l, {layers_[l].weights, nullptr}, {dh, part.points}, part.points, /*adds=*/false, to);
      const Rows<const T> h = l == 0 ? input : Rows<const T>{value(l), part.points};
      apply(l, dLayers[l], h, part.points, /*adds=*/true, to);
      if (isHidden(l))
        pointwiseDerivative<T>(context_, activation_, out(l) * part.points, before(l + 1),
                               value(l + 1), dz, dz);
      std::swap(dh, dz);
    }
    store(dh, part, dy, out(layers() - 1));
  });
}

template <class T>
void DeviceColumnMlp<T>::adjoint(const PointBox& box, const PointArray<const T>& x,
                                 const PointArray<const T>& dy, const PointArray<T>& dx,
                                 const std::vector<LayerNumbers<T>>& gradients) {
  if (isNarrow() && layers() > 1)
    return eachPart(box, std::min(narrowPoints_, sliceElements),
                    [&](const Part& part) { adjointNarrow(part, x, dy, dx, gradients); });
  eachPart(box, points_, [&](const Part& part) {
    const Rows<const T> input = computeHidden(part, x);
    // Backpropagation: dz is the cotangent of the layer's output before its activation.
    Rows<const T> dz = rowsOf(part, dy, out(layers() - 1), spare(0));
    const bool writesInPlace = dx.first && isMatrix(part.box, dx);
    for (int l = layers() - 1; l >= 0; --l) {
      addGradients(l, l == 0 ? input : Rows<const T>{value(l), part.points}, dz, part.points,
                   gradients[l]);
      if (l == 0 && !dx.first)
        return;
      Rows<T> dh{dz.first == spare(0) ? spare(1) : spare(0), part.points};
      if (l == 0 && writesInPlace)
        dh = {addressIn(part, dx), dx.channel};
      gemm<T>(context_, Backend::Auto, /*transA=*/true, /*transB=*/false, in(l), part.points,
              out(l), /*alpha=*/T(1), layers_[l].weights, in(l), dz.first, dz.step, /*beta=*/T(0),
              dh.first, dh.step);
      if (l > 0)
        pointwiseDerivative<T>(context_, activation_, in(l)*part.points, before(l), value(l),
                               dh.first, dh.first);
      dz = {dh.first, dh.step};
    }
    if (!writesInPlace)
      store(dz.first, part, dx, in(0));
  });
}

template class DeviceColumnMlp<float>;
template class DeviceColumnMlp<double>;

} // namespace tenon
