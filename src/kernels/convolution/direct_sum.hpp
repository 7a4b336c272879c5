// SPDX-License-Identifier: BSD-2-Clause
// The sum that direct convolution computes, forward and in its adjoint:
//     out[k,o] = b[k] + sum over c and taps t of  w(k,c,t) in[c, o step + shift_t],
// where elements outside `in` are zero. Forward is one such sum. The adjoint in the data is one for
// each residue of the input's position modulo the stride, since inputs of a residue are read by the
// same taps.
#pragma once

#include "kernels/convolution/convolution.hpp"
#include "kernels/convolution/direct_kernels.hpp"

#include <vector>

namespace tenon {

// How an array of three spatial dimensions, or every n-th element of one, is stored.
struct ImageView {
  std::array<Index, kMaxSpatial> extent;
  ImageStrides strides;
  Index first = 0; // offset of the first element
};

struct DirectSum {
  struct Tap {
    std::array<Index, kMaxSpatial> shift;
    Index weight; // the tap's place among the weights of a pair of channels
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
  // Vectors have `lanes` outputs; the padded input of a band has about `elements` elements at most.
  Bands(const DirectSum& sum, int lanes, Index elements);

  // One image of one group in one band.
  struct Band {
    Index image, group;
    Position first; // output
    Position extent;
    int shape; // below kShapes; bands of one shape have the same vectors
  };
  static constexpr int kShapes = 8; // in each dimension the extent of most bands, or of the last

  // How many bands the outputs of one group of an image fall into.
  Index perImage() const { return pieces_[0] * pieces_[1] * pieces_[2]; }
  Band band(Index image, Index group, Index piece) const;
  const std::vector<OutputVector>& vectors(int shape) const { return vectors_[shape]; }

  // The padded input of a band: the number of its elements, and where its column (c, t) begins.
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
  Index lengthOf(int d, Index outputs) const { // of the input that these outputs read
    return (outputs - 1) * sum_.step[d] + high_[d] - low_[d] + 1;
  }
  Index rowLength(Index outputs) const { return lengthOf(2, ceilDivide(outputs, lanes_) * lanes_); }
  template <class T>
  void loadRow(const T* in, Index begin, Index length, T* row) const;

  DirectSum sum_;
  int lanes_;
  Position low_{}, high_{};                 // of the taps' shifts
  Position extent_{}, pieces_{};            // the extent of most bands, and how many there are
  Index row_ = 0, plane_ = 0, channel_ = 0; // distances in the padded input
  std::vector<Index> offsets_;
  std::array<std::vector<OutputVector>, kShapes> vectors_;
};

} // namespace tenon
