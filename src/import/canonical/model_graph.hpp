// SPDX-License-Identifier: BSD-2-Clause
// The canonical graph of an imported network, for fixed extents of its inputs. PyTorch's and ONNX's
// hundreds of operators are reduced to the few of ModelOp. A value of the graph is an input, a
// constant, or the result of one operator; an operator with several results (Split) becomes several
// values (Slice).
#pragma once

#include "import/canonical/model_constant.hpp"

#include <deque>
#include <set>

namespace tenon {

// What batch normalisation and dropout do when the imported network is trained. Files contain
// networks for inference; Training gives the layers what PyTorch's train() would change in them.
enum class ModelMode {
  Inference, // statistics are those of the file, and nothing is dropped
  Training   // statistics of the batch, which the running ones follow, and random masks
};

// Where the Legendre functions of spherical harmonic transforms come from. Files have tables of
// them, in float32 as a rule. Layers compute them; with the tables of the file the transforms are
// products with constants, as the file says, which is slower, but gives its own results in float64.
enum class ModelTables { Computed, OfFile };

// The canonical operators; comments name the attributes and inputs of a ModelValue that they use.
enum class ModelOp {
  Input,
  Constant,
  Zeros,   // zeros that are overwritten in part, without storage
  Refused, // placeholder for an operator that cannot be imported; one error lists all of them
  Unary,   // `function` of each element
  Affine,  // scale x + shift; one number each, or one per index of `dim`
  Add,
  Subtract,
  Multiply,
  Divide,
  Compare, // `function` is the relation
  Where,   // condition, value if true, value if false
  PRelu,
  Expand, // broadcasts extents of 1 and leading dimensions
  Transpose,
  Reshape,
  Slice,
  Pad, // pads one dimension
  Concatenate,
  Convolution,
  Linear, // product along the last dimension; weight [out, in]
  Matmul,
  // Inputs: queries, keys, values [..., sequence, features], and optionally a mask; scale[0];
  // isCausal.
  Attention,
  Pooling,
  AdaptivePooling,
  Reduce, // `function` (mean, sum, max) over `dims`, which keep extent 1
  Resize,
  BatchNorm, // inputs: x, weight, bias, mean and variance, which are fixed without a momentum
  InstanceNorm,
  GroupNorm,
  LayerNorm,     // over the last `count` dimensions
  DimensionNorm, // over one dimension, without weights
  Softmax,
  PixelShuffle,
  Spectral,
  // Parts of a spectral convolution: transform, product of the lowest modes with complex weights,
  // inverse transform. PyTorch writes these as separate operations.
  Fourier, // `function`: normalisation; `dims`
  Complex,
  Modes,
  Contraction, // of a complex value and a constant: `function` is the equation
  // The parts [..., 2] of such a value, as long as nothing has computed them. Only the builder has
  // these.
  Pairs,
  // Spherical harmonics (`sphere`): a field [n, c, rows, columns] to coefficients [n, c, orders,
  // degrees, 2], orders folded; back; both, with a weight in between (inputs: x, weight)
  HarmonicTransform,
  InverseHarmonicTransform,
  SphericalConvolution,
  // A discrete-continuous convolution on the sphere (`filter`, groups; inputs: x, and weight and
  // bias). Without a weight each channel is mapped by itself to one for each basis function, or if
  // it is transposed, those of a channel to it.
  Filter
};

// Settings of the layers with spherical harmonics. `size` and `outputGrid` are those of the field
// that is computed.
struct ModelSphere {
  Index degrees = 0, orders = 0;
  std::string grid = {}, outputGrid = {};
  bool isSchmidt = false, hasSign = true, southFirst = false;
  std::vector<Index> size = {};
  std::string weights = {}; // degree, mode, shared
};

// Settings of the layers of discrete-continuous convolutions, and by how much their filters differ
// from those in the file, relative to the largest value.
struct ModelFilter {
  bool isTransposed;
  Index functions;
  std::vector<Index> kernel, size;
  std::string basis, normalisation, grid, outputGrid;
  double cutoff, difference;
};

struct ModelValue;
using ModelValues = std::vector<const ModelValue*>;

// One value: the operator that computes it, its inputs, and the attributes that the operator uses.
struct ModelValue {
  ModelOp op = ModelOp::Input;
  ModelValues inputs = {};
  Shape shape = {};
  std::string label = {}, where = {}; // operation of the file, and its source line
  std::optional<ModelConstant> constant = {};

  std::string function = {}; // Unary, Compare, Reduce
  std::vector<std::pair<std::string, double>> parameters =
      {}; // Parameters of the function: slope, alpha, low, high.
  std::vector<double> scale = {}, shift = {}; // Affine: one number, or one per index of dim
  int dim = -1; // Affine (-1: one number), Slice, Pad, Concatenate, DimensionNorm, Softmax
  std::vector<int> dims = {};         // Reduce; the permutation of Transpose
  Index begin = 0, end = 0, step = 1; // Slice
  // Sliding windows. Pad uses low, high and modes, for one dimension.
  std::vector<Index> kernel = {}, stride = {}, dilation = {}, low = {}, high = {},
                     outputPadding = {};
  std::vector<std::string> modes = {};
  std::optional<double> padValue = {};
  Index groups = 1;
  bool isCausal = false;
  bool isTransposed = false, ceil = false, includesPadding = true, isMaximum = false;
  bool alignsCorners = false, isLinear = false; // Resize
  double epsilon = 0;
  std::optional<double> momentum = {}; // BatchNorm
  int count = 0;                       // LayerNorm
  Index factor = 1;                    // PixelShuffle
  std::vector<Index> modeCount = {};   // Spectral
  std::optional<ModelSphere> sphere = {};
  std::optional<ModelFilter> filter = {};

  // Names of the model's parameters from which the value is computed; empty if it also depends on
  // an input.
  std::vector<std::string> parametersRead = {};

  // Operations on complex numbers (Fourier, Complex, Modes, and others on their results) that
  // follow each other up to this value; 0 if its numbers are real.
  int complexDepth = 0;

  bool isComplex() const noexcept { return complexDepth > 0; }
  bool isConstant() const noexcept { return constant.has_value(); }
  // Throws TENON_ERR_INTERNAL if the value is not a constant.
  const ModelConstant& asConstant() const;
  // Whether it is a constant that training does not change, so its numbers can be used at import.
  bool isKnown() const noexcept { return constant && !constant->isTrained(); }
  bool isOfParameters() const noexcept { return !parametersRead.empty(); }
  int ndim() const noexcept { return static_cast<int>(shape.size()); }
};

// An operator that cannot be imported: its place in the file, the reason, and what to use instead.
struct ModelRefusal {
  std::string label, where, what, advice;
  std::vector<Shape> inputs = {};
  std::vector<std::string> parameters = {}; // parameters from which its inputs are computed
};

// The graph of a network, and the operators that could not be imported.
struct ModelGraph {
  std::deque<ModelValue> values; // values in order: each after its inputs
  ModelValues inputs, outputs;
  std::vector<std::string> inputNames, outputNames;
  std::vector<ModelRefusal> refusals;
};

// The values that an output depends on.
std::set<const ModelValue*> neededValues(const ModelGraph& graph);

// Throws TENON_ERR_SUPPORT with a list of all refusals, if there are any.
void checkRefusals(const ModelGraph& graph, const std::string& file, std::size_t operators);

} // namespace tenon
