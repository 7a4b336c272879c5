// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of transpose and of pixel shuffle. Both move elements and are a single strided copy
// on each rank (blockCombine): it loops over the elements of y, with strides of x that are permuted
// to match. Arrays of the user can have any strides and need not be made contiguous first.
//
//   transpose       dimension d of y is dimension inputDims[d] of x: {2,0,1} maps x [A,B,C] to
//                   y [C,A,B]
//   pixel shuffle   described at its kernel below
#include "layer/types/transpose.hpp"

#include "declaration/core/window_layout.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

// Both directions loop over the extents of y, in the order of its dimensions.
class LocalTranspose final : public LinearKernel {
public:
  explicit LocalTranspose(std::vector<Index> inputDims) : inputDims_(std::move(inputDims)) {}

  void map(const DTensor& x, DTensor& y) override {
    copy(x, inOrderOfY(x), y, y.strides(), y.extent());
  }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override {
    copy(dy, dy.strides(), dx, inOrderOfY(dx), dy.extent());
  }
  std::string describe() const override { return "local copy"; }
  bool runsOnDevice() const override { return true; }

private:
  // The strides of x, one for each dimension of y.
  Strides inOrderOfY(const DTensor& x) const {
    Strides strides{};
    for (std::size_t d = 0; d < inputDims_.size(); ++d)
      strides[d] = x.strides()[inputDims_[d]];
    return strides;
  }
  static void copy(const DTensor& from, const Strides& read, DTensor& to, const Strides& write,
                   const Shape& extent) {
    if (to.localElements() == 0)
      return;
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockCombine(to.context(), Combine::Copy, static_cast<int>(extent.size()), extent.data(),
                   from.data<T>(), read.data(), to.mutableData<T>(), write.data());
    });
  }

  std::vector<Index> inputDims_; // for each dimension of y, the dimension of x
};

} // namespace

std::unique_ptr<LocalKernel> makeTransposition(std::vector<Index> inputDims) {
  return std::make_unique<LocalTranspose>(std::move(inputDims));
}

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeTransposeKernel(const KernelSite& at) {
  return makeTransposition(at.layer.declaration().value<std::vector<Index>>("permutation"));
}

// Local kernel of pixel shuffle, which distributes f^d channels of x over blocks of f x ... x f
// elements of y (f: upscaling factor, d: number of spatial dimensions). It is a single strided
// copy, in which each spatial dimension of y is split into two: the number of the block, and the
// offset within the block. For one spatial dimension:
//
//   y[n, c, i f + o] = x[n, c f + o, i],   0 <= o < f
//
// For example f = 2 maps x [N,6,10] to y [N,3,20].

namespace {

class LocalPixelShuffle final : public LinearKernel {
public:
  LocalPixelShuffle(const Box& y, Index factor) : factor_(factor) {
    extent_ = {y[0].size(), y[1].size()};
    for (std::size_t d = kFirstSpatial; d < y.size(); ++d) {
      extent_.push_back(y[d].size() / factor);
      extent_.push_back(factor);
      offsets_ *= factor;
    }
  }

  void map(const DTensor& x, DTensor& y) override { copy(x, ofInput(x), y, ofOutput(y)); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override {
    copy(dy, ofOutput(dy), dx, ofInput(dx));
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "local copy"; }

private:
  // Strides of x and of y for the dimensions of the copy: [batch, output channels, blocks, offsets,
  // blocks, offsets, ...], with one pair (blocks, offsets) per spatial dimension.
  Strides ofInput(const DTensor& x) const {
    Strides strides{x.strides()[0], x.strides()[1] * offsets_};
    // In x the offsets are consecutive channels, with the offset of the last dimension fastest.
    Index step = x.strides()[1] * offsets_;
    for (std::size_t k = 2; k < extent_.size(); k += 2) {
      step /= factor_;
      strides[k] = x.strides()[kFirstSpatial + (k - 2) / 2];
      strides[k + 1] = step;
    }
    return strides;
  }
  Strides ofOutput(const DTensor& y) const {
    Strides strides{y.strides()[0], y.strides()[1]};
    for (std::size_t k = 2; k < extent_.size(); k += 2) {
      strides[k + 1] = y.strides()[kFirstSpatial + (k - 2) / 2];
      strides[k] = strides[k + 1] * factor_;
    }
    return strides;
  }
  void copy(const DTensor& from, const Strides& read, DTensor& to, const Strides& write) const {
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockCombine(to.context(), Combine::Copy, static_cast<int>(extent_.size()), extent_.data(),
                   from.data<T>(), read.data(), to.mutableData<T>(), write.data());
    });
  }

  Index factor_, offsets_ = 1; // offsets_: the elements of a block, factor^d
  Shape extent_;               // of the dimensions of the copy
};

} // namespace

std::unique_ptr<LocalKernel> makePixelShuffleKernel(const KernelSite& at) {
  return std::make_unique<LocalPixelShuffle>(at.outputs(),
                                             at.layer.declaration().value<Index>("upscale"));
}

} // namespace tenon
