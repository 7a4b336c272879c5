// SPDX-License-Identifier: BSD-2-Clause
// The canonical graph of a network at given extents: few operators, which both formats come down
// to. A value is what one of them computes, or an input, or a constant.
#pragma once

#include "import/canonical/model_constant.hpp"

#include <deque>

namespace tenon {

enum class ModelOp {
  Input,
  Constant,
  Zeros,   // into parts of which something is written, without numbers in memory
  Refused, // it stands for what cannot be imported, so that one error lists all of it
  Unary,   // `function` of each element
  Affine,  // scale x + shift; numbers, or one for each index of `dim`
  Add,
  Subtract,
  Multiply,
  Divide,
  Compare, // `function` is the relation
  Where,   // condition, and what is taken where it holds and where not
  PRelu,
  Expand, // extents of 1, and dimensions that are put in front, grow
  Transpose,
  Reshape,
  Slice,
  Pad, // of one dimension
  Concatenate,
  Convolution,
  Linear, // of the last dimension; weight [out, in]
  Matmul,
  // Queries, keys, values [..., sequence, features], a mask or none; scale[0]; `isCausal`.
  Attention,
  Pooling,
  AdaptivePooling,
  Reduce, // `function` (mean, sum, max) over `dims`, which stay with extent 1
  Resize,
  BatchNorm, // with fixed statistics: x, weight, bias, mean, variance
  InstanceNorm,
  GroupNorm,
  LayerNorm,     // of the last `count` dimensions
  DimensionNorm, // of one dimension, without weights
  Softmax,
  PixelShuffle,
  Spectral,
  // Parts of a spectral convolution, as PyTorch writes it.
  Fourier, // `function`: its norm
  Complex,
  Modes
};

struct ModelValue;
using ModelValues = std::vector<const ModelValue*>;

struct ModelValue {
  ModelOp op = ModelOp::Input;
  ModelValues inputs = {};
  Shape shape = {};
  std::string label = {}, where = {}; // of the operation in the file
  std::optional<ModelConstant> constant = {};

  std::string function = {}; // Unary, Compare, Reduce
  std::vector<std::pair<std::string, double>> parameters =
      {};                                     // of the function: slope, alpha, low, high
  std::vector<double> scale = {}, shift = {}; // Affine: one number, or one for each index of dim
  int dim = -1; // Affine (-1: numbers), Slice, Pad, Concatenate, DimensionNorm, Softmax
  std::vector<int> dims = {};         // Reduce; the permutation of Transpose
  Index begin = 0, end = 0, step = 1; // Slice
  // Windows; Pad has low and high of one dimension, and its mode.
  std::vector<Index> kernel = {}, stride = {}, dilation = {}, low = {}, high = {},
                     outputPadding = {};
  std::vector<std::string> modes = {};
  std::optional<double> padValue = {};
  Index groups = 1;
  bool isCausal = false;
  bool isTransposed = false, ceil = false, includesPadding = true, isMaximum = false;
  bool alignsCorners = false, isLinear = false; // Resize
  double epsilon = 0;
  int count = 0;                     // LayerNorm
  Index factor = 1;                  // PixelShuffle
  std::vector<Index> modeCount = {}; // Spectral

  // Of what is computed of parameters of the model alone: these, by name.
  std::vector<std::string> parametersRead = {};

  bool isConstant() const noexcept { return constant.has_value(); }
  // Throws TENON_ERR_INTERNAL if it is none.
  const ModelConstant& asConstant() const;
  // A constant whose numbers may be computed with, since no training changes them.
  bool isKnown() const noexcept { return constant && !constant->isTrained(); }
  bool isOfParameters() const noexcept { return !parametersRead.empty(); }
  int rank() const noexcept { return static_cast<int>(shape.size()); }
};

// What cannot be imported, of what shapes, and what would work.
struct ModelRefusal {
  std::string label, where, what, advice;
  std::vector<Shape> inputs = {};
  std::vector<std::string> parameters = {}; // of which they are computed
};

struct ModelGraph {
  std::deque<ModelValue> values; // each after what it reads
  ModelValues inputs, outputs;
  std::vector<std::string> inputNames, outputNames;
  std::vector<ModelRefusal> refusals;
};

// Throws TENON_ERR_SUPPORT with a list of all refusals, if there are any.
void checkRefusals(const ModelGraph& graph, const std::string& file, std::size_t operators);

} // namespace tenon
