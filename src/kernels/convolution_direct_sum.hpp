// SPDX-License-Identifier: BSD-2-Clause
// What direct convolution computes, whichever way it is read:
//     out[k,o] = b[k] + sum over c and taps t of  w(k,c,t) in[c, o step + shift_t],
// where cells outside `in` are zero. Forward is one such sum. The adjoint in the data is one for each
// residue of the input's position modulo the stride: these cells are read by the same taps.
#pragma once

#include "kernels/convolution.hpp"

#include <vector>

namespace tenon {

// How an array of three spatial dimensions lies.
struct Cells {
  std::array<Index, kMaxSpatial> extent;
  ImageStrides strides;
  Index first = 0; // the cell at which it begins
};

struct DirectSum {
  struct Tap {
    std::array<Index, kMaxSpatial> shift;
    Index weight; // where it is among the weights of a pair of channels
  };
  Index batch, groups, inChannels, outChannels; // channels of a group
  Cells in, out;
  std::array<Index, kMaxSpatial> step; // 1 in the last dimension
  std::vector<Tap> taps;
  Index weightIn, weightOut, weightGroup; // steps between the weights of channels and groups
};

DirectSum forwardSum(const ConvolutionShape& shape);
std::vector<DirectSum> adjointSums(const ConvolutionShape& shape);

} // namespace tenon
