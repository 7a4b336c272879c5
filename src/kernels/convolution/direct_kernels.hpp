// SPDX-License-Identifier: BSD-2-Clause
// The innermost loops of direct convolution, compiled once for each set of vector instructions. A
// column is a pair (input channel, tap): im2col's matrix is read in place, its column j for an
// output is stored offsets[j] after the place where the output begins to read. Outputs are taken as
// vectors: consecutive ones of a row, sums of which stay in registers for a few channels at a time.
#pragma once

#include "kernels/base/instruction_set.hpp"
#include "sys/types.hpp"

namespace tenon {

// A vector of outputs: the offsets x and y at which it begins in the input and in the output;
// `count` of its lanes are outputs.
struct OutputVector {
  Index x, y, count;
};

// y[k,o] (+)= b[k] + sum over j of  w[j,k] x[o + offsets[j]], or y[k,o] = the rectified sum
template <class T>
struct OutputSums {
  const T* x;
  const Index* offsets;
  Index columns;
  const T* w; // [columns, channels]
  const T* b; // or null
  T* y;
  Index yChannel, yStep; // between channels and between the outputs of a vector
  bool accumulate;
  bool rectifies = false; // and does not accumulate
};

// dw[k,j] += sum over o of  dy[k,o] x[o + offsets[j]]
template <class T>
struct WeightSums {
  const T* x;
  const Index* offsets;
  Index columns;
  const T* dy; // whole vectors, with zeros in lanes that are not outputs
  Index dyChannel;
  T* dw;
  Index dwChannel;
};

// `channels` are those of a block; any number of vectors or columns is cut into tiles inside.
template <class T>
struct DirectKernels {
  int lanes;
  int mostChannels; // a block has this number of channels, or 1 to 4
  void (*outputs)(int channels, const OutputSums<T>& sums, const OutputVector* vectors,
                  Index count);
  void (*weights)(int channels, const WeightSums<T>& sums, const OutputVector* vectors,
                  Index count);
  // db[k] += sum over o of dy[k,o]
  void (*biases)(int channels, const T* dy, Index dyChannel, const OutputVector* vectors,
                 Index count, T* db);
};

// The loops for a set above the baseline, which the processor must have.
template <class T>
const DirectKernels<T>& directKernels(InstructionSet set);

// The loops of each set, compiled in a file of their own.
template <class T>
const DirectKernels<T>& directKernelsNeon();
template <class T>
const DirectKernels<T>& directKernelsAvx2();
template <class T>
const DirectKernels<T>& directKernelsAvx512();

// The channels of a block that begins where `left` of them are left.
inline int channelsOfBlock(Index left, int most) {
  return left >= most ? most : static_cast<int>(left < 4 ? left : 4);
}

} // namespace tenon
