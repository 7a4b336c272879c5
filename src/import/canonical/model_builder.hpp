// SPDX-License-Identifier: BSD-2-Clause
// Builds the canonical graph (model_graph.hpp) of a network. Each method, such as binary("add"),
// appends one or a few values and returns the last. It computes the shape, and
//   - folds: an operation on constants is computed now, and becomes a constant
//   - recognises patterns that exporters write as several operators, such as GELU by the error
//     function, group norm by instance norm, periodic padding by slices: one value for all.
// The operator tables of both formats call the methods; each source file of this folder implements
// one family of them.
#pragma once

#include "import/canonical/model_graph.hpp"

#include <functional>
#include <utility>

namespace tenon {

// Bound on all computed constants together.
inline constexpr Index kMaxModelNumbers = Index(1) << 24;
inline constexpr Index kMaxModelWindow = Index(1) << 24; // kernel, stride, dilation, padding, step

// Calls, by buildModel():
//   input(name, shape)          for each input of the network
//   begin(operation, reads)     for each operation of the file, in order; then, by the operator's
//   linear(), reshape(), ...    row in a table, methods that compute the results
//   take()                      returns the graph
class ModelBuilder {
public:
  using Value = const ModelValue*;

  explicit ModelBuilder(const ModelWeights& weights) : weights_(weights) {}
  ModelGraph take() { return std::move(graph_); }
  ModelGraph& graph() noexcept { return graph_; }
  const ModelProgram& program() const noexcept { return weights_.program(); }

  // Starts an operation; `reads` are its inputs, for messages.
  void begin(const ModelOperation& operation, const ModelValues& reads);
  // Throws TENON_ERR_FORMAT naming the operation.
  [[noreturn]] void fail(const std::string& why) const;
  // Reports a shape error that can follow from the extents of the run: TENON_ERR_SHAPE if the file
  // leaves extents free, otherwise as fail().
  [[noreturn]] void misfit(const std::string& why) const;
  // Counts arithmetic operations on constants. Throws TENON_ERR_SUPPORT if their sum exceeds a
  // bound, because a small file could request arbitrarily long computations.
  void spend(Index operations);
  void check(bool holds, const char* why) const {
    if (!holds)
      fail(why);
  }
  // Records that the operation cannot be imported, and returns a placeholder of that shape.
  Value refuse(const std::string& what, const std::string& advice, Shape shape);

  Value input(const std::string& name, const Shape& shape);
  Value constant(ModelConstant constant);
  // Returns x; if x is a computed constant, its numbers are rounded to PyTorch's type number
  // `type`.
  Value rounded(Value x, Index type);
  Value number(double value, bool isInteger = false);
  Value integers(const std::vector<Index>& values);
  // Returns the numbers of a constant that is not trained; throws for any other value.
  ModelConstant numbersOf(Value value, const char* what) const;
  std::vector<Index> integersOf(Value value, const char* what) const;

  // Returns function(x), element by element; parameters by name, such as "slope".
  Value unary(const std::string& function, Value x,
              std::vector<std::pair<std::string, double>> parameters = {});
  // Returns scale x + shift, with one number each or one per index of `dim`.
  Value affine(Value x, std::vector<double> scale, std::vector<double> shift, int dim = -1);
  // Functions: add, sub, mul, div (integers: floor), truediv, pow, max, min.
  Value binary(const std::string& function, Value a, Value b);
  // Relations gt, ge, lt, le, eq, ne, and the logical `and`, `or` of their results.
  Value compare(const std::string& function, Value a, Value b);
  // Returns a where the condition is not 0, and b elsewhere.
  Value where(Value condition, Value a, Value b);
  Value prelu(Value x, Value slope);
  Value sign(Value x);

  Value transpose(Value x, std::vector<int> permutation);
  Value reshape(Value x, std::vector<Index> shape); // one extent can be -1, it is computed
  Value slice(Value x, int dim, Index begin, Index end, Index step = 1);
  Value pad(Value x, int dim, Index low, Index high, const std::string& mode, double value = 0);
  Value concatenate(ModelValues values, int dim);
  Value expand(Value x, std::vector<Index> shape);
  // Returns x with `part` in place of the elements [begin, end) of a dimension.
  Value replaced(Value x, int dim, Index begin, Index end, Value part);
  Value zeros(const Shape& shape);
  // Multiplies a dimension by a fixed matrix [rows, extent of the dimension].
  Value along(Value x, int dim, Index rows,
              const std::function<double(Index row, Index column)>& matrix);
  static bool isTooLarge(Value x, Index rows, Index columns); // whether that matrix is too large
  // Returns the upper or lower triangle of matrices, including the given diagonal; 0 elsewhere.
  Value triangle(Value x, bool isUpper, double diagonal);
  // Reverses the elements of a dimension.
  Value flip(Value x, int dim);
  // Returns prefix sums, or suffix sums if `isFromEnd`; an element is part of its own sum unless
  // `isExclusive`.
  Value cumulativeSum(Value x, int dim, bool isExclusive = false, bool isFromEnd = false);
  // Rotates a dimension: y[(i + by) mod n] = x[i].
  Value roll(Value x, int dim, Index by);
  // Selects elements of a dimension by constant indices (`places`); negative ones count from the
  // end.
  Value gather(Value x, int dim, Value places);
  // Returns x with element i of the source added at constant index places[i] of a dimension.
  Value scatterAdd(Value x, int dim, Value places, Value source);
  // Returns x with element i of the source stored at constant index places[i] of a dimension.
  Value scatter(Value x, int dim, Value places, Value source);
  // Converts a tensor of constant indices to a list, if the indices vary along that dimension only;
  // otherwise returns null.
  Value placesAlong(Value places, int dim);
  // Repeats x along each dimension d times[d] times.
  Value tile(Value x, const std::vector<Index>& times);

  // Settings of sliding windows, one number per spatial dimension.
  struct Windows {
    std::vector<Index> kernel, stride, dilation, low, high, outputPadding = {};
    Index groups = 1;
    bool isTransposed = false;
  };
  Value convolution(Value x, Value weight, Value bias, Windows windows); // bias may be null
  Value linear(Value x, Value weight, Value bias);
  Value matmul(Value a, Value b);
  // Sums over products, "nij,njk->nik", of one or more factors.
  Value einsum(const std::string& equation, ModelValues factors);
  // AverageInside divides by the number of elements inside the field, without padding.
  enum class Pool { Maximum, Average, AverageInside };
  Value pooling(Value x, Pool kind, const Windows& windows, bool ceil);
  Value adaptivePooling(Value x, const std::vector<Index>& size);
  // Reduces by mean, sum, max or min, and constants also by product. `keeps`: extents of 1 stay.
  Value reduce(const std::string& method, Value x, std::vector<int> dims, bool keeps);
  Value resize(Value x, const std::vector<Index>& size, bool isLinear, bool alignsCorners);
  Value batchNorm(Value x, Value weight, Value bias, Value mean, Value variance, double epsilon);
  // A norm of kind `op`. Weight and bias may be null. `detail`: number of groups (GroupNorm), or of
  // normalised dimensions (LayerNorm).
  Value norm(ModelOp op, Value x, Value weight, Value bias, double epsilon, Index detail = 1);
  // Normalises the last `count` dimensions; the weight may be null.
  Value rmsNorm(Value x, int count, Value weight, double epsilon);
  Value softmax(Value x, int dim);
  Value logSumExp(Value x, const std::vector<int>& dims, bool keeps);
  Value pixelShuffle(Value x, Index factor);
  // A recurrent cell: weights [gates, features]; biases may be null. The state of an LSTM is h and
  // c, that of a GRU h.
  struct Cell {
    Value input, hidden, inputBias, hiddenBias;
    bool isLstm;
  };
  struct State {
    Value h, c;
  };
  struct Sequence {
    Value outputs; // h of all steps, [steps, batch, features]
    State last;
  };
  // One time step.
  State step(const Cell& cell, const State& state, Value x);
  // All time steps of x [steps, batch, features], from the last to the first if `isFromEnd`.
  Sequence recurrence(const Cell& cell, Value x, State state, bool isFromEnd);
  // Moves blocks of factor x factor pixels to channels, and back. The index in the block comes
  // before the channel (blockFirst) or after it.
  Value spaceToDepth(Value x, Index factor, bool blockFirst);
  Value depthToSpace(Value x, Index factor);
  // Converts a boolean mask to one that is added to attention scores: 0 where true, -infinity where
  // false.
  Value addedMask(Value flags);
  // Returns softmax(q k^T scale + mask) v over the last two dimensions; the mask may be null. There
  // can be fewer heads of keys and values, each shared by several heads of queries.
  Value attention(Value q, Value k, Value v, double scale, Value mask, bool isCausal);
  // Returns the matrix product a b as one attention if a is a softmax of scores q k^T; otherwise
  // returns null.
  Value spelledAttention(Value a, Value b);

  // The operations of a spectral convolution, in the order of use: fourier() transforms the last
  // `dims` dimensions, complex() makes complex weights of pairs of numbers, modes() multiplies the
  // lowest modes by a weight, and inverseFourier() transforms back.
  Value fourier(Value x, std::size_t dims, const std::string& norm);
  Value complex(Value pairs);
  Value modes(Value coefficients, Value weight);
  Value inverseFourier(Value coefficients, const std::vector<Index>& size, const std::string& norm);

  // Counts a negative d from the end. Throws if there is no such dimension.
  int dimension(Index d, int rank) const;
  Shape broadcast(const Shape& a, const Shape& b) const;
  // Throws for negative extents, too many dimensions, or more elements than any network has.
  void checkShape(const Shape& shape) const;

private:
  // -- values
  static std::vector<std::string> parametersOf(const ModelValues& values);
  ModelValue* make(ModelOp op, ModelValues inputs, Shape shape);
  ModelConstant fold(Value value) const { return weights_.folded(value->asConstant()); }
  bool isFilledWith(Value value, double number) const;

  // -- constants
  Value foldedUnary(const std::string& function, Value x,
                    const std::vector<std::pair<std::string, double>>& parameters);
  Value foldedBinary(const std::string& function, Value a, Value b);
  Value foldedWhere(Value condition, Value a, Value b);
  // `reducedShape` has extents of 1 where it is reduced; the result has `shape`.
  Value foldedReduction(const std::string& method, Value x, const Shape& reducedShape,
                        const Shape& shape);
  Value foldedMatmul(Value a, Value b);

  // -- arithmetic: the cases of binary() in which at most one value is a constant
  Value sumOf(Value a, Value b);
  Value differenceOf(Value a, Value b);
  Value productOf(Value a, Value b);
  Value quotientOf(Value a, Value b);
  Value powerOf(Value a, Value b);
  Value maximumOf(Value a, Value b);
  Value minimumOf(Value a, Value b);
  Value extremeOf(Value a, Value b, std::pair<const char*, const char*> relations,
                  const char* bound);
  Value refuseBinary(const std::string& function, Value a, Value b);
  Value withConstant(const std::string& function, Value x, Value c);
  Value asAffine(const std::string& function, Value x, Value c);
  static Value withoutExpansion(Value x);

  // -- patterns: null if the pattern is not found
  Value gelu(Value p, Value q);
  Value silu(Value p, Value q);
  Value softplus(Value condition, Value a, Value b);
  Value softsign(Value x, Value divisor);
  Value decomposedNorm(Value difference, Value deviation);
  Value groupedNorm(Value x, const Shape& shape);
  Value weightedNorm(const std::string& function, Value x, Value c);
  Value paddedByZeros(const ModelValues& values, int dim);
  Value foldedPadding(const ModelValues& values, int dim);
  Value foldedRoll(const ModelValues& values, int dim);

  // Reshapes one number per channel to [1, n, 1, ...], for an operation with a field of this rank.
  Value perChannel(Value x, int rank);
  // Whether a value can be the weight of a layer: a constant, or computed from parameters.
  static bool isWeight(Value x) { return x->isConstant() || x->isOfParameters(); }

  // -- structure and windows
  Value partOfJoined(Value x, Index begin, Index end);
  std::vector<Index> outputs(Value x, const Windows& windows, bool ceil) const;
  Value withoutPadding(Value x, Windows& w, std::vector<std::string>& modes,
                       std::optional<double>& value) const;

  // -- products
  Value turned(Value x); // transposes the last two dimensions
  // A value with one label per dimension. summed() and product() sum over all labels that are not
  // in `labels`.
  struct Labelled {
    Value value;
    std::string labels;
  };
  Labelled summed(const Labelled& x, const std::string& labels);
  Labelled product(Labelled a, Labelled b, const std::string& labels);
  Value ordered(const Labelled& x, const std::string& labels);

  // -- attention
  struct Scores {
    Value product; // q k^T; null: not found
    double scale;
    Value mask; // mask that is added; may be null
  };
  Scores scoresOf(Value scores);
  Value maskFor(Value mask, const Shape& scores);
  Value repeatedHeads(Value x, Index heads);
  Value withoutNaN(Value x) const;
  Value writtenOutAttention(Value q, Value k, Value v, double scale, Value mask, bool isCausal);

  // One step of a cell, from the product of its input weights with the input.
  State advanced(const Cell& cell, Value inputPart, const State& state);

  // -- spectral convolutions
  // Finds products of modes in a spectrum that is 0 elsewhere, with the boxes that they fill.
  // Returns false if the spectrum has anything else.
  struct PlacedProduct {
    Box box;
    Value product;
  };
  bool findProducts(Value z, std::vector<Index> begin, std::vector<PlacedProduct>& products) const;
  struct SpectralWeights {
    Value source = nullptr;
    ModelValues weights; // bit s of the index: negative modes of dimension s
    std::vector<Index> counts;
  };
  static bool addProduct(const PlacedProduct& placed, Value z, const std::string& norm,
                         SpectralWeights& weights);
  std::optional<SpectralWeights> spectralWeights(Value z, const Shape& shape,
                                                 const std::string& norm) const;

  const ModelWeights& weights_;
  ModelGraph graph_;
  std::string label_, where_;
  ModelValues reads_;
  int identities_ = 0; // the last ModelConstant::identity() that was assigned
  Index numbers_ = 0;  // elements of all constants in memory
  Index spent_ = 0;    // operations counted by spend()
};

} // namespace tenon
