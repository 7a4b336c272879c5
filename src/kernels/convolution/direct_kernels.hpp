// SPDX-License-Identifier: BSD-2-Clause
// The innermost loops of direct convolution (direct.cpp) and of the perceptron of each point
// (products/column_mlp.cpp), compiled once for each vector instruction set. For each pair (input
// channel, tap), called a column here, im2col would copy the inputs that the outputs read to a
// contiguous list. Here a column is read in place: the input for column j and output o is x[o +
// offsets[j]], where o is the offset of the first input that the output reads. Example in one
// dimension, 3 taps, vectors of 4 outputs: the offsets are 0, 1, 2, and
//     y[0..3] = w0 x[0..3] + w1 x[1..4] + w2 x[2..5].
// A vector holds consecutive outputs of a row; the sums for a few channels and vectors stay in
// registers until they are complete.
#pragma once

#include "kernels/base/instruction_set.hpp"
#include "sys/types.hpp"

namespace tenon {

// A vector of outputs: the offset x of its first input, the offset y of its first output, and the
// number of lanes (elements of the vector) in use.
struct OutputVector {
  Index x, y, count;
};

// y[k,o] (+)= b[k] + sum over j of  w[j,k] x[o + offsets[j]], or y[k,o] = max(0, that sum).
template <class T>
struct OutputSums {
  const T* x; // the input with its padding, readable beyond the last output to whole vectors
  const Index* offsets;
  Index columns;
  const T* w; // [columns, channels]
  const T* b; // can be null
  T* y;
  Index yChannel, yStep; // strides between channels, and between the outputs of a vector
  bool accumulate;
  bool rectifies = false; // applies max(0, .); excludes accumulate
};

// dw[k,j] += sum over o of  dy[k,o] x[o + offsets[j]]
template <class T>
struct WeightSums {
  const T* x; // as in OutputSums
  const Index* offsets;
  Index columns;
  const T* dy; // whole vectors, with zeros in unused lanes
  Index dyChannel;
  T* dw;
  Index dwChannel;
};

// The loops of one instruction set, as functions that the caller selects once at run time.
// `channels` is the number of output channels of a block; each function splits the vectors and the
// columns into tiles whose sums fit the registers.
template <class T>
struct DirectKernels {
  int lanes;
  int maxChannels; // a block has this number of channels, or 1 to 4
  void (*outputs)(int channels, const OutputSums<T>& sums, const OutputVector* vectors,
                  Index count);
  void (*weights)(int channels, const WeightSums<T>& sums, const OutputVector* vectors,
                  Index count);
  // db[k] += sum over o of dy[k,o]
  void (*biases)(int channels, const T* dy, Index dyChannel, const OutputVector* vectors,
                 Index count, T* db);
};

// Loops for a set above the baseline, which the processor must support.
template <class T>
const DirectKernels<T>& directKernels(InstructionSet set);

// Loops of each set, compiled in separate files.
template <class T>
const DirectKernels<T>& directKernelsNeon();
template <class T>
const DirectKernels<T>& directKernelsAvx2();
template <class T>
const DirectKernels<T>& directKernelsAvx512();

// The output channels are divided into blocks, whose sums are computed together: as many blocks of
// `maxPerBlock` channels as there are, then blocks of at most 4. Returns the number of channels of
// the next block if `left` channels remain.
inline int channelsOfBlock(Index left, int maxPerBlock) {
  return left >= maxPerBlock ? maxPerBlock : static_cast<int>(left < 4 ? left : 4);
}

} // namespace tenon
