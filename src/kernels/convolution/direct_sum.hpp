// SPDX-License-Identifier: BSD-2-Clause
// The one kind of sum that direct convolution (direct.cpp) computes, forward and in the adjoint
// with respect to the data:
//     out[k,o] = b[k] + sum over c and taps t of  w(k,c,t) in[c, o step + shift_t],
// where k and c are an output and an input channel, o is an output position, and elements outside
// `in` are zero. The forward pass is one such sum. The adjoint is one sum per residue of the input
// position modulo the stride, since all inputs of a residue are read by the same taps.
//
// The file has the description of a sum (DirectSum), its construction from a convolution
// (forwardSum(), adjointSums()), and Bands, the division of its outputs into blocks for the cache.
#pragma once

#include "kernels/convolution/convolution.hpp"
#include "kernels/convolution/direct_kernels.hpp"

#include <vector>

namespace tenon {

// Storage of an array with three spatial dimensions, or of every n-th element of one.
struct ImageView {
  std::array<Index, kMaxSpatial> extent;
  ImageStrides strides;
  Index first = 0; // offset of the first element
};

struct DirectSum {
  struct Tap {
    std::array<Index, kMaxSpatial> shift; // position of the input that output 0 reads by this tap
    Index weight; // offset of the tap among the weights of a pair of channels
  };
  Index batch, groups, inChannels, outChannels; // channels per group
  ImageView in, out;
  std::array<Index, kMaxSpatial> step; // 1 in the last dimension
  std::vector<Tap> taps;
  Index weightIn, weightOut, weightGroup; // strides between the weights of channels and groups
};

DirectSum forwardSum(const ConvolutionShape& shape);
// The sums that together are the adjoint in the data: `in` is dy and `out` is a part of dx.
std::vector<DirectSum> adjointSums(const ConvolutionShape& shape);

// Splits the outputs of a direct sum into bands (blocks of outputs) whose input fits a cache.
// load() copies a band's input with its padding, each row extended to whole vectors of outputs. The
// vector loops (direct_kernels.hpp) then read the input of each tap from this copy in place. Use:
//     for each band b:  bands.load(b, x, padded);  compute the outputs bands.vectors(b.shape)
class Bands {
public:
  // `lanes` is the number of outputs per vector, `elements` the target size of a band's padded
  // input.
  Bands(const DirectSum& sum, int lanes, Index elements);

  // One band of one image and group.
  struct Band {
    Index image, group;
    Position first; // position of the first output
    Position extent;
    // Bit d is set if the band is the last in dimension d, which can be smaller than the others.
    // Bands of one shape have the same vectors.
    int shape;
  };
  static constexpr int kShapes = 1 << kMaxSpatial;

  // Number of bands for one group of an image.
  Index perImage() const { return pieces_[0] * pieces_[1] * pieces_[2]; }
  Band band(Index image, Index group, Index piece) const; // piece < perImage()
  const std::vector<OutputVector>& vectors(int shape) const { return vectors_[shape]; }

  // The padded input of a band: its number of elements, and the offset of each column (input
  // channel c, tap t), from the first input that an output reads by any tap.
  Index elements() const { return sum_.inChannels * channelStride_; }
  const std::vector<Index>& offsets() const { return offsets_; }
  template <class T>
  void load(const Band& band, const T* in, T* padded) const;

  // Offset of the band's first output of channel k (of the group) in the array of outputs.
  Index firstOutput(const Band& band, Index k) const;

private:
  void planExtents(Index elements);
  void planInput();
  void planVectors();
  Position extentOf(int shape) const;
  Index lengthOf(int d, Index outputs) const { // extent of the input that these outputs read
    return (outputs - 1) * sum_.step[d] + high_[d] - low_[d] + 1;
  }
  Index rowLength(Index outputs) const { return lengthOf(2, ceilDivide(outputs, lanes_) * lanes_); }
  template <class T>
  void loadRow(const T* in, Index begin, Index length, T* row) const;

  DirectSum sum_;
  int lanes_;
  Position low_{}, high_{};      // smallest and largest shift of the taps
  Position extent_{}, pieces_{}; // the usual extent of a band, and the number of bands
  // Strides of the padded input [channel, plane, row, element].
  Index rowStride_ = 0, planeStride_ = 0, channelStride_ = 0;
  std::vector<Index> offsets_;
  std::array<std::vector<OutputVector>, kShapes> vectors_;
};

} // namespace tenon
