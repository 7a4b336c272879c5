// SPDX-License-Identifier: BSD-2-Clause
// What direct convolution computes, whichever way it is read:
//     out[k,o] = b[k] + sum over c and taps t of  w(k,c,t) in[c, o step + shift_t],
// where elements outside `in` are zero. Forward is one such sum. The adjoint in the data is one for each
// residue of the input's position modulo the stride: these elements are read by the same taps.
#pragma once

#include "kernels/convolution/convolution.hpp"
#include "kernels/convolution/direct_kernels.hpp"

#include <vector>

namespace tenon {

// How an array of three spatial dimensions lies.
struct ImageView {
  std::array<Index, kMaxSpatial> extent;
  ImageStrides strides;
  Index first = 0; // the element at which it begins
};

struct DirectSum {
  struct Tap {
    std::array<Index, kMaxSpatial> shift;
    Index weight; // where it is among the weights of a pair of channels
  };
  Index batch, groups, inChannels, outChannels; // channels of a group
  ImageView in, out;
  std::array<Index, kMaxSpatial> step; // 1 in the last dimension
  std::vector<Tap> taps;
  Index weightIn, weightOut, weightGroup; // steps between the weights of channels and groups
};

DirectSum forwardSum(const ConvolutionShape& shape);
std::vector<DirectSum> adjointSums(const ConvolutionShape& shape);

// The outputs of a direct sum cut into bands, small enough for the cache to keep what they read: a
// band's input is copied with its padding, each row with room for whole vectors of outputs, and its
// columns are then read in place.

class Bands {
public:
  // For vectors of `lanes` outputs; the padded input of a band has about `elements` elements at most.
  Bands(const DirectSum& sum, int lanes, Index elements);

  // One image of one group in one band.
  struct Band {
    Index image, group;
    Position first; // output
    Position extent;
    int shape; // below kShapes: equal ones have equal vectors
  };
  static constexpr int kShapes = 8; // each extent that of most bands, or that of the last

  // How many bands the outputs of one group of an image fall into.
  Index perImage() const { return pieces_[0] * pieces_[1] * pieces_[2]; }
  Band band(Index image, Index group, Index piece) const;
  const std::vector<OutputVector>& vectors(int shape) const { return vectors_[shape]; }

  // The padded input: its elements, and where its column (c, t) begins.
  Index elements() const { return sum_.inChannels * channel_; }
  const std::vector<Index>& offsets() const { return offsets_; }
  template <class T>
  void load(const Band& band, const T* in, T* padded) const;

  // Where the band's outputs of the group's channel k begin, in the array of outputs.
  Index firstOutput(const Band& band, Index k) const;

private:
  void planExtents(Index elements);
  void planInput();
  void planVectors();
  Position extentOf(int shape) const;
  Index lengthOf(int d, Index outputs) const { // of the input that they read
    return (outputs - 1) * sum_.step[d] + high_[d] - low_[d] + 1;
  }
  Index rowLength(Index outputs) const { return lengthOf(2, ceilDivide(outputs, lanes_) * lanes_); }
  template <class T>
  void loadRow(const T* in, Index begin, Index length, T* row) const;

  DirectSum sum_;
  int lanes_;
  Position low_{}, high_{};                 // of the taps' shifts
  Position extent_{}, pieces_{};            // of most bands; how many bands
  Index row_ = 0, plane_ = 0, channel_ = 0; // distances in the padded input
  std::vector<Index> offsets_;
  std::array<std::vector<OutputVector>, kShapes> vectors_;
};

} // namespace tenon
