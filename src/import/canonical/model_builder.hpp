// SPDX-License-Identifier: BSD-2-Clause
// Builds the canonical graph of a network: shapes, constants folded, and the patterns that
// exporters spell out (GELU by the error function, group by instance norm, periodic padding by
// slices) folded back. The tables of operators of both formats call it; each source of this folder
// has a family of its methods.
#pragma once

#include "import/canonical/model_graph.hpp"

#include <functional>
#include <utility>

namespace tenon {

inline constexpr Index kMaxModelNumbers = Index(1) << 24; // of computed constants, all together
inline constexpr Index kMaxModelWindow = Index(1) << 24;  // kernel, stride, dilation, padding, step

class ModelBuilder {
public:
  using Value = const ModelValue*;

  explicit ModelBuilder(const ModelWeights& weights) : weights_(weights) {}
  ModelGraph take() { return std::move(graph_); }
  ModelGraph& graph() noexcept { return graph_; }
  const ModelProgram& program() const noexcept { return weights_.program(); }

  // The operation that is being built, and what it reads, for messages.
  void begin(const ModelOperation& operation, const ModelValues& reads);
  // Throws TENON_ERR_FORMAT naming the operation.
  [[noreturn]] void fail(const std::string& why) const;
  // Of shapes that may follow from the run's extents: TENON_ERR_SHAPE where the file leaves any
  // free.
  [[noreturn]] void misfit(const std::string& why) const;
  // Of what is computed here, all together; an error beyond a bound.
  void spend(Index operations);
  void check(bool holds, const char* why) const {
    if (!holds)
      fail(why);
  }
  // Notes that it cannot be imported, and goes on with a value of that shape.
  Value refuse(const std::string& what, const std::string& advice, Shape shape);

  Value input(const std::string& name, const Shape& shape);
  Value constant(ModelConstant constant);
  // The same value, and of computed numbers those that a type of PyTorch holds, by its number
  // there.
  Value rounded(Value x, Index type);
  Value number(double value, bool isInteger = false);
  Value integers(const std::vector<Index>& values);
  // The numbers of a constant value that is not trained; an error if it is none.
  ModelConstant numbersOf(Value value, const char* what) const;
  std::vector<Index> integersOf(Value value, const char* what) const;

  Value unary(const std::string& function, Value x,
              std::vector<std::pair<std::string, double>> parameters = {});
  Value affine(Value x, std::vector<double> scale, std::vector<double> shift, int dim = -1);
  // add, sub, mul, div (of integers the whole part), truediv, pow, max, min.
  Value binary(const std::string& function, Value a, Value b);
  // Relations gt, ge, lt, le, eq, ne, and `and`, `or` of what they give.
  Value compare(const std::string& function, Value a, Value b);
  Value where(Value condition, Value a, Value b);
  Value prelu(Value x, Value slope);
  Value sign(Value x);

  Value transpose(Value x, std::vector<int> permutation);
  Value reshape(Value x, std::vector<Index> shape); // one extent may be -1
  Value slice(Value x, int dim, Index begin, Index end, Index step = 1);
  Value pad(Value x, int dim, Index low, Index high, const std::string& mode, double value = 0);
  Value concatenate(ModelValues values, int dim);
  Value expand(Value x, std::vector<Index> shape);
  // x with other elements from begin to end of a dimension.
  Value replaced(Value x, int dim, Index begin, Index end, Value part);
  Value zeros(const Shape& shape);
  // Along a dimension, the product with a fixed matrix of so many rows.
  Value along(Value x, int dim, Index rows,
              const std::function<double(Index row, Index column)>& matrix);
  static bool isTooLarge(Value x, Index rows, Index columns); // the matrix
  // Of matrices: what lies on or above a diagonal, or on or below it, and 0.
  Value triangle(Value x, bool isUpper, double diagonal);
  // The elements of a dimension from its end to its beginning.
  Value flip(Value x, int dim);
  // The sum of the elements up to each one, which belongs to it or not, or of those from each one
  // on.
  Value cumulativeSum(Value x, int dim, bool isExclusive = false, bool isFromEnd = false);
  // Element i of x goes to i + by, and what leaves at one end comes in at the other.
  Value roll(Value x, int dim, Index by);
  // The elements of a dimension by constant places, which may be negative.
  Value gather(Value x, int dim, Value places);
  // x, and each element of a dimension of the source added at its constant place.
  Value scatterAdd(Value x, int dim, Value places, Value source);
  // The same where elements are replaced.
  Value scatter(Value x, int dim, Value places, Value source);
  // Constant places as one list where they differ along that dimension only; null where not.
  Value placesAlong(Value places, int dim);
  // Copies of x one behind the other, so many in each dimension.
  Value tile(Value x, const std::vector<Index>& times);

  struct Windows {
    std::vector<Index> kernel, stride, dilation, low, high, outputPadding = {};
    Index groups = 1;
    bool isTransposed = false;
  };
  Value convolution(Value x, Value weight, Value bias, Windows windows); // bias may be null
  Value linear(Value x, Value weight, Value bias);
  Value matmul(Value a, Value b);
  // "nij,njk->nik"; one factor or several.
  Value einsum(const std::string& equation, ModelValues factors);
  enum class Pool { Maximum, Average, AverageInside };
  Value pooling(Value x, Pool kind, const Windows& windows, bool ceil);
  Value adaptivePooling(Value x, const std::vector<Index>& size);
  // mean, sum, max, min, of constants also product.
  Value reduce(const std::string& method, Value x, std::vector<int> dims, bool keeps);
  Value resize(Value x, const std::vector<Index>& size, bool isLinear, bool alignsCorners);
  Value batchNorm(Value x, Value weight, Value bias, Value mean, Value variance, double epsilon);
  // Weights may be null. `detail`: the groups, or the number of normalised dimensions.
  Value norm(ModelOp op, Value x, Value weight, Value bias, double epsilon, Index detail = 1);
  // Of the last `count` dimensions; the weight may be null.
  Value rmsNorm(Value x, int count, Value weight, double epsilon);
  Value softmax(Value x, int dim);
  Value logSumExp(Value x, const std::vector<int>& dims, bool keeps);
  Value pixelShuffle(Value x, Index factor);
  // A recurrent cell: weights [gates, features], and biases or null. An LSTM's state is h and c, a
  // GRU's h alone.
  struct Cell {
    Value input, hidden, inputBias, hiddenBias;
    bool isLstm;
  };
  struct State {
    Value h, c;
  };
  struct Sequence {
    Value outputs; // h of all steps
    State last;
  };
  State step(const Cell& cell, const State& state, Value x);
  // Of x [steps, batch, features].
  Sequence recurrence(const Cell& cell, Value x, State state, bool isFromEnd);
  // Blocks of pixels to channels, and back in either order: the block's place before the channels
  // (blockFirst) or behind them.
  Value spaceToDepth(Value x, Index factor, bool blockFirst);
  Value depthToSpace(Value x, Index factor);
  // What a mask of flags adds to the scores of an attention: 0 where it holds, or else -infinity.
  Value addedMask(Value flags);
  // softmax(q k^T scale + mask) v over the last two dimensions; the mask may be null. Fewer heads
  // of keys and values serve several heads of queries each.
  Value attention(Value q, Value k, Value v, double scale, Value mask, bool isCausal);
  // The product a b where a is a softmax of scores q k^T; null where it is something else.
  Value spelledAttention(Value a, Value b);

  // Of a spectral convolution, over all of space.
  Value fourier(Value x, std::size_t dims, const std::string& norm);
  Value complex(Value pairs);
  Value modes(Value coefficients, Value weight);
  Value inverseFourier(Value coefficients, const std::vector<Index>& size, const std::string& norm);

  // d counted from the end if negative; an error if there is no such dimension.
  int dimension(Index d, int rank) const;
  Shape broadcast(const Shape& a, const Shape& b) const;
  // Throws for extents below 0, too many dimensions, or more elements than a file of this size can
  // mean.
  void checkShape(const Shape& shape) const;

private:
  // -- values
  static std::vector<std::string> parametersOf(const ModelValues& values);
  ModelValue* make(ModelOp op, ModelValues inputs, Shape shape);
  ModelConstant fold(Value value) const { return weights_.folded(value->asConstant()); }
  bool isFilledWith(Value value, double number) const;

  // -- constants that are computed
  Value foldedUnary(const std::string& function, Value x,
                    const std::vector<std::pair<std::string, double>>& parameters);
  Value foldedBinary(const std::string& function, Value a, Value b);
  Value foldedWhere(Value condition, Value a, Value b);
  // Where `kept` has extents of 1; the result has `shape`.
  Value foldedReduction(const std::string& method, Value x, const Shape& kept, const Shape& shape);
  Value foldedMatmul(Value a, Value b);

  // -- elements: the operations of binary(), of which at most one value is a constant
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

  // -- patterns: null where they are not met
  Value gelu(Value p, Value q);
  Value silu(Value p, Value q);
  static Value softplus(Value a, Value b);
  Value softsign(Value x, Value divisor);
  Value decomposedNorm(Value difference, Value deviation);
  Value groupedNorm(Value x, const Shape& shape);
  Value weightedNorm(const std::string& function, Value x, Value c);
  Value paddedByZeros(const ModelValues& values, int dim);
  Value foldedPadding(const ModelValues& values, int dim);
  Value foldedRoll(const ModelValues& values, int dim);

  // Of one number for each channel: [1, n, 1, ...], for an operation with a field of this rank.
  Value perChannel(Value x, int rank);
  // What may be the weight of a layer, or of one that is given its weight.
  static bool isWeight(Value x) { return x->isConstant() || x->isOfParameters(); }

  // -- structure and windows
  Value partOfJoined(Value x, Index begin, Index end);
  std::vector<Index> outputs(Value x, const Windows& windows, bool ceil) const;
  Value withoutPadding(Value x, Windows& w, std::vector<std::string>& modes,
                       std::optional<double>& value) const;

  // -- products
  Value turned(Value x); // the last two dimensions change places
  // A value with a label for each dimension; what of one `kept` has, and the product of two.
  struct Labelled {
    Value value;
    std::string labels;
  };
  Labelled summed(const Labelled& x, const std::string& kept);
  Labelled product(Labelled a, Labelled b, const std::string& kept);
  Value ordered(const Labelled& x, const std::string& labels);

  // -- attention
  struct Scores {
    Value product; // of queries and keys; null: none
    double scale;
    Value mask; // null: none
  };
  Scores scoresOf(Value scores);
  Value maskFor(Value mask, const Shape& scores);
  Value repeatedHeads(Value x, Index heads);
  Value withoutNaN(Value x) const;
  Value writtenOutAttention(Value q, Value k, Value v, double scale, Value mask, bool isCausal);

  State advanced(const Cell& cell, Value given, const State& state); // given: of the input

  // -- spectral convolutions
  // Where products of modes lie in a spectrum that is 0 elsewhere; false where something else does.
  struct Placed {
    Box box;
    Value product;
  };
  bool findProducts(Value z, std::vector<Index> begin, std::vector<Placed>& found) const;
  struct SpectralWeights {
    Value source = nullptr;
    ModelValues weights; // bit s of the place: the negative modes of dimension s
    std::vector<Index> counts;
  };
  static bool addProduct(const Placed& placed, Value z, const std::string& norm,
                         SpectralWeights& found);
  std::optional<SpectralWeights> spectralWeights(Value z, const Shape& shape,
                                                 const std::string& norm) const;

  const ModelWeights& weights_;
  ModelGraph graph_;
  std::string label_, where_;
  ModelValues reads_;
  int identities_ = 0; // of computed numbers
  Index numbers_ = 0;  // of constants in memory
  Index spent_ = 0;
};

} // namespace tenon
