// SPDX-License-Identifier: BSD-2-Clause
// Builds the canonical graph (model_graph.hpp) of a network. Each method, such as binary("add"),
// appends one or a few values and returns the last. It computes the shape, and
//   - folds: an operation on constants is computed now, and becomes a constant
//   - recognises patterns that exporters write as several operators, such as GELU by the error
//     function, group norm by instance norm, periodic padding by slices: one value for all.
// The operator tables of both formats call the methods. Each source file has a family of them.
#pragma once

#include "import/canonical/model_graph.hpp"
#include "import/canonical/model_settings.hpp"
#include "import/canonical/recurrent_cell.hpp"
#include "import/canonical/sphere/filter_table.hpp"
#include "import/canonical/sphere/harmonics.hpp"
#include "import/canonical/sphere/legendre_table.hpp"

#include <functional>
#include <map>
#include <utility>

namespace tenon {

// Calls, by buildModel():
//   input(name, shape)          for each input of the network
//   begin(operation, reads)     for each operation of the file, in order; then, by the operator's
//   linear(), reshape(), ...    row in a table, methods that compute the results
//   computePairs()              once all outputs are known
//   take()                      returns the graph
class ModelBuilder {
public:
  using Value = const ModelValue*;

  explicit ModelBuilder(const ModelWeights& weights, ModelMode mode = ModelMode::Inference,
                        ModelTables tables = ModelTables::Computed)
      : weights_(weights), mode_(mode), tables_(tables) {}
  ModelGraph take() { return std::move(graph_); }
  ModelGraph& graph() noexcept { return graph_; }
  const ModelProgram& program() const noexcept { return weights_.program(); }
  ModelMode mode() const noexcept { return mode_; }

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
  // Functions: add, sub, mul, div (integers: floor), truediv, floordiv, truncdiv, mod (with the
  // sign of b), fmod (of a), pow, max, min.
  Value binary(const std::string& function, Value a, Value b);
  // The angle of points (x, y) in radians, from -pi to pi.
  Value angle(Value y, Value x);
  // Rounds towards 0.
  Value truncated(Value x);
  // Returns log(exp(unit x) + exp(unit y)) / unit; equal values have half of the derivative each.
  Value logAddExp(Value x, Value y, double unit = 1);
  // Returns x log(y), or x log(1 + y), 0 where x is 0, unless y is NaN.
  Value timesLogarithm(Value x, Value y, bool addsOne = false);
  // log(1 + x) and exp(x) - 1, with all digits for small x too.
  Value logOfOneMore(Value x);
  Value expLessOne(Value x);
  // Whether x is below 0, or is -0.
  Value isNegative(Value x);
  // Relations gt, ge, lt, le, eq, ne, and the logical `and`, `or` of their results.
  Value compare(const std::string& function, Value a, Value b);
  // Returns a where the condition is not 0, and b elsewhere.
  Value where(Value condition, Value a, Value b);
  Value prelu(Value x, Value slope);
  // Drops elements in training; returns x if the network is imported for inference.
  Value dropout(Value x, double rate);
  Value sign(Value x);
  // The square root of a sum of squares; its derivative is 0 where the sum is 0, as in PyTorch.
  Value rootOfSquares(Value sum);
  // Returns x with the derivative 0.
  Value stopped(Value x);

  Value transpose(Value x, std::vector<int> permutation);
  Value reshape(Value x, std::vector<Index> shape); // one extent can be -1, it is computed
  Value slice(Value x, int dim, Index begin, Index end, Index step = 1);
  Value pad(Value x, int dim, Index low, Index high, const std::string& mode, double value = 0);
  Value concatenate(ModelValues values, int dim);
  Value expand(Value x, std::vector<Index> shape);
  // Returns x with `part` in place of the elements [begin, end) of a dimension.
  Value replaced(Value x, int dim, Index begin, Index end, Value part);
  // The same for every `step`-th of these elements.
  Value replacedEvery(Value x, int dim, Index begin, Index end, Index step, Value part);
  Value zeros(const Shape& shape);
  // Multiplies a dimension by a fixed matrix [rows, extent of the dimension].
  Value along(Value x, int dim, Index rows,
              const std::function<double(Index row, Index column)>& matrix);
  static bool isTooLarge(Value x, Index rows, Index columns); // whether that matrix is too large
  using Interpolation = ModelInterpolation;
  // Interpolates a dimension at these places, in units of its elements; 0 for a place of NaN.
  Value interpolated(Value x, int dim, const std::vector<double>& places, const Interpolation& how);
  using Sampling = ModelSampling;
  // Interpolates a field [n, channels, space...] at points [n, points..., coordinates], which can
  // be computed; the last dimension of space is the first coordinate. -1 and 1 are the ends of
  // a dimension: its outer elements, or (alignsCorners = false) half an element beyond them.
  Value sampled(Value x, Value points, const Sampling& how);
  // Returns the points [n, size..., coordinates] of a grid of these extents, moved by affine maps
  // theta [n, coordinates, coordinates + 1].
  Value affineGrid(Value theta, const std::vector<Index>& size, bool alignsCorners);
  // Returns the loss of the logarithms of probabilities [n, classes, ...] for targets [n, ...]: the
  // class of each element. Weights of the classes may be null.
  Value likelihoodLoss(Value logarithms, Value targets, Value weights,
                       std::optional<Index> ignoredClass, const std::string& reduction);
  // Returns flags with a new dimension of n elements: whether x is the index in it.
  Value oneHot(Value x, int dim, Index n);
  // Selects elements of a dimension by indices that are computed or inputs, and that can count from
  // the end: with taken() the dimensions of the indices take its place; with takenAlong() the
  // indices have the dimensions of x, and select along this one.
  Value taken(Value x, int dim, Value indices);
  Value takenAlong(Value x, int dim, Value indices);
  // Returns the sums of the rows [n, columns] that flags [..., n] choose.
  Value chosenRows(Value flags, Value rows);
  // Adds elements of the source at such indices of a dimension, which are broadcast to the source.
  Value addedAlong(Value x, int dim, Value indices, Value source);
  // Returns the upper or lower triangle of matrices, including the given diagonal; 0 elsewhere.
  Value triangle(Value x, bool isUpper, double diagonal);
  // Returns the main diagonal of two dimensions, as the last dimension of the result.
  Value diagonal(Value x, int first, int second);
  // Reverses the elements of a dimension.
  Value flip(Value x, int dim);
  // Returns prefix sums, or suffix sums if `isFromEnd`; an element is part of its own sum unless
  // `isExclusive`.
  Value cumulativeSum(Value x, int dim, bool isExclusive = false, bool isFromEnd = false);
  Value cumulativeProduct(Value x, int dim, bool isExclusive = false, bool isFromEnd = false);
  // Rotates a dimension: y[(i + by) mod n] = x[i].
  Value roll(Value x, int dim, Index by);
  // Selects elements of a dimension by constant indices (`places`); negative ones count from the
  // end.
  Value gather(Value x, int dim, Value places);
  // Selects elements by their constant positions in row-major order; the result has `shape`.
  Value gatherElements(Value x, const std::vector<Index>& positions, const Shape& shape);
  // Returns x with element i of the source, in row-major order, stored at the constant position
  // positions[i] of x, or added there.
  Value scatterElements(Value x, const std::vector<Index>& positions, Value source, bool adds);
  // Returns x with element i of the source added at constant index places[i] of a dimension.
  Value scatterAdd(Value x, int dim, Value places, Value source);
  // Returns x with element i of the source stored at constant index places[i] of a dimension.
  Value scatter(Value x, int dim, Value places, Value source);
  // Converts a tensor of constant indices to a list, if the indices vary along that dimension only;
  // otherwise returns null.
  Value placesAlong(Value places, int dim);
  // Repeats x along each dimension d times[d] times.
  Value tile(Value x, const std::vector<Index>& times);

  using Windows = ModelWindows;
  Value convolution(Value x, Value weight, Value bias, Windows windows); // bias may be null
  // The elements of all windows as [n, channels * window, windows], and the sum of such windows.
  Value unfolded(Value x, Windows windows);
  Value foldedWindows(Value x, const std::vector<Index>& size, Windows windows);
  Value linear(Value x, Value weight, Value bias);
  Value matmul(Value a, Value b);
  // Sums over products, "nij,njk->nik", of one or more factors; also with "...", with a label twice
  // in a factor, and without "->".
  Value einsum(const std::string& equation, ModelValues factors);
  // AverageInside divides by the number of elements inside the field, without padding.
  enum class Pool { Maximum, Average, AverageInside };
  Value pooling(Value x, Pool kind, const Windows& windows, bool ceil);
  Value adaptivePooling(Value x, const std::vector<Index>& size);
  // Reduces by mean, sum, max, min or product. `keeps`: extents of 1 stay. Of "max of first" and
  // "min of first" the first of equal elements has the whole derivative, not all of them a share.
  Value reduce(const std::string& method, Value x, std::vector<int> dims, bool keeps);
  // Returns a norm over dimensions, which is that of the magnitudes of complex numbers. Its order
  // is 0 (counts), infinite, or at least 1.
  Value vectorNorm(Value x, double order, const std::vector<int>& dims, bool keeps);
  // Returns the index of the largest or smallest element of a dimension, which keeps extent 1; of
  // equal elements the first or the last one.
  Value placeOfExtreme(Value x, int dim, bool isMaximum, bool isLast);
  Value resize(Value x, const std::vector<Index>& size, bool isLinear, bool alignsCorners);
  // `momentum`: share of the last batch in the running statistics, in training; none if they are
  // fixed in training too.
  Value batchNorm(Value x, Value weight, Value bias, Value mean, Value variance, double epsilon,
                  std::optional<double> momentum = {});
  // A norm of kind `op`. Weight and bias may be null. `detail`: number of groups (GroupNorm), or of
  // normalised dimensions (LayerNorm).
  Value norm(ModelOp op, Value x, Value weight, Value bias, double epsilon, Index detail = 1);
  // Normalises the last `count` dimensions; the weight may be null.
  Value rmsNorm(Value x, int count, Value weight, double epsilon);
  Value softmax(Value x, int dim);
  Value logSumExp(Value x, const std::vector<int>& dims, bool keeps);
  Value pixelShuffle(Value x, Index factor);
  using Gates = ModelGates;
  using Cell = ModelCell;
  using State = ModelCellState;
  using Sequence = ModelSequence;
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
  // The steps of such an attention as separate values, for models that read them, or that bound the
  // products q k^T scale smoothly: bound tanh(products / bound), if bound > 0. A query that sees no
  // key gives 0.
  struct AttentionSteps {
    Value products, bounded, masked, weights, result;
  };
  Value causalMask(Index queries, Index keys); // hides later keys, by -infinity
  AttentionSteps attentionSteps(Value q, Value k, Value v, double scale, Value mask, double bound);
  // Returns the matrix product a b as one attention if a is a softmax of scores q k^T; otherwise
  // returns null.
  Value spelledAttention(Value a, Value b);

  // Fourier transforms over `dims`; norm: "backward", "ortho" or "forward". fourier() is that of
  // real numbers, and has half of the modes of the last of these dimensions. inverseFourier()
  // returns a spectral convolution, if it is that of products of the lowest modes; the results of
  // both are otherwise computed by complex arithmetic, as those of complexFourier().
  Value fourier(Value x, const std::vector<int>& dims, const std::string& norm);
  Value inverseFourier(Value z, const std::vector<int>& dims, const std::vector<Index>& size,
                       const std::string& norm);
  Value complexFourier(Value x, const std::vector<int>& dims, const std::string& norm,
                       bool isInverse);
  // Replaces the parts of complex values that were left symbolic, since a transform could follow
  // them, by their computation.
  void computePairs();
  // Makes complex numbers of pairs [..., 2], and returns the pairs of a complex or real value.
  Value complex(Value pairs);
  Value pairsOf(Value z);
  struct Parts {
    Value real, imaginary;
  };
  Parts partsOf(Value z);
  Value ofParts(const Parts& parts);
  // Returns real numbers as they are.
  Value conjugated(Value z);
  // Multiplies the modes of all channels by a weight [in, out, modes...].
  Value modes(Value coefficients, Value weight);
  // einsum() of real and complex factors.
  Value complexEinsum(const std::string& equation, const ModelValues& factors);
  // The sums [n, c, functions, rows, columns] of a field with filters on the sphere, or back.
  Value filtered(Value x, const FilterLists& lists);
  Value storedConstant(ModelConstant constant); // integers too stay in the file
  // Brings a dimension to n elements, by leaving out the last ones or by adding zeros.
  Value resizedByZeros(Value x, int dim, Index n);

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

  // -- complex numbers
  Value complexUnary(const std::string& function, Value z);
  Value complexPower(Value z, Value power);

  // -- constants
  Value foldedUnary(const std::string& function, Value x,
                    const std::vector<std::pair<std::string, double>>& parameters);
  Value foldedBinary(const std::string& function, Value a, Value b);
  Value foldedWhere(Value condition, Value a, Value b);
  // `reducedShape` has extents of 1 where it is reduced; the result has `shape`.
  Value foldedReduction(const std::string& method, Value x, const Shape& reducedShape,
                        const Shape& shape);
  Value foldedMatmul(Value a, Value b);
  Value foldedScatter(Value x, int dim, const std::vector<Index>& targets, Value source, bool adds);
  Value foldedProduct(Value a, Value b);
  void equaliseStacks(Value& a, Value& b);

  // -- arithmetic: the cases of binary() in which at most one value is a constant
  Value sumOf(Value a, Value b);
  Value differenceOf(Value a, Value b);
  Value productOf(Value a, Value b);
  Value quotientOf(Value a, Value b);
  Value powerOf(Value a, Value b);
  bool isPositive(Value x);
  Value powerOfTensors(Value a, Value b);
  Value maximumOf(Value a, Value b);
  Value minimumOf(Value a, Value b);
  Value roundedQuotientOf(Value a, Value b, bool isTruncated);
  Value remainderOf(Value a, Value b, bool isTruncated);
  Value extremeOf(Value a, Value b, std::pair<const char*, const char*> relations);
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
  Value radicand(Value root);
  Value groupedNorm(Value x, const Shape& shape);
  Value weightedNorm(const std::string& function, Value x, Value c);
  Value paddedByZeros(const ModelValues& values, int dim);
  Value foldedPadding(const ModelValues& values, int dim);
  Value foldedRoll(const ModelValues& values, int dim);

  Value productAlong(Value x, const std::vector<int>& dims);
  // Reshapes one number per channel to [1, n, 1, ...], for an operation with a field of this rank.
  Value perChannel(Value x, int rank);
  // Whether a value can be the weight of a layer: a constant, or computed from parameters.
  static bool isWeight(Value x) { return x->isConstant() || x->isOfParameters(); }

  // -- structure and windows
  Value partOfJoined(Value x, Index begin, Index end);
  std::vector<Index> outputs(Value x, const Windows& windows, bool ceil) const;
  Value windowElements(Index channels, const std::vector<Index>& kernel);
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
  bool withoutEllipsis(std::vector<std::string>& labels, std::string& result, ModelValues& factors);
  Labelled withoutRepeats(Labelled x);
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
  Value withHeadsOf(Value q, Value x);
  Value withoutNaN(Value x) const;

  // One step of a cell, from the product of its input weights with the input.
  State advanced(const Cell& cell, Value inputPart, const State& state);
  State advancedLstm(Value gates, const State& state);
  Value advancedGru(const Cell& cell, Value inputPart, Value h);

  // Multiplies dimension d by a constant matrix.
  Value multipliedAlong(Value x, int d, Value weight);
  // The coordinate of points in units of n elements, and the weights of all elements there.
  Value placesOf(Value coordinates, Index n, const Sampling& how);
  Value weightsAround(Value places, Index n, const Sampling& how);
  // The matrix that selects these elements of n.
  Value selection(const std::vector<Index>& places, Index n);

  // -- complex numbers
  Value madePairs(Value z);
  static std::string einsumOfModes(int rank);
  Value complexBinary(const std::string& function, Value a, Value b);
  Parts rotated(const Parts& x, int dim, Index m, bool isInverse);
  Parts transformed(Value x, const std::vector<int>& dims, const std::string& norm);
  Parts scaled(const Parts& x, double factor);
  Value realInverseFourier(Value z, const std::vector<int>& dims, const std::vector<Index>& size,
                           const std::string& norm);
  // slice() and roll() of a complex value, such that products of modes stay in sight.
  Value sliceOfSpectrum(Value z, int dim, Index begin, Index end);
  Value rolledSpectrum(Value z, int dim, Index by);

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

  static Value unshaped(Value v); // the value that reshapes are made of

  // -- contractions with constants
  // A real value that is the real (0) or imaginary (1) part of a complex one.
  struct Part {
    Value whole;
    Index which;
  };
  // What einsum() was given; the table is a constant.
  struct RealContraction {
    std::string equation;
    Value x, table;
    Shape shape;
  };
  // The labels of both factors and of the result of a contraction.
  struct Labels {
    std::string x, w, y;
  };
  void noteContraction(const std::string& equation, Value x, Value table, Value result);
  const RealContraction* contractionOf(Value v) const;
  Value unpaired(Value pairs);
  Value complexOf(Value real, Value imaginary);
  std::optional<Part> partIn(Value v);
  std::optional<Part> unitPart(Value v);
  static bool isSame(Value a, Value b);
  static bool isSameTable(Value a, Value b);
  static std::optional<Labels> labelsOf(const std::string& equation, Value x, Value w);
  Value contraction(const std::string& equation, Value x, Value w);
  Value scaledByModes(Value z, Value w);
  Value withoutSymbols(Value v, std::map<Value, Value>& known);

  // -- spherical harmonics
  using Harmonics = ModelHarmonics;
  // A table of Legendre functions that a contraction multiplies by, and the labels of its
  // dimensions in the equation; `outer` and `inner` are rows and degrees, in the analysis degrees
  // and rows.
  struct TableUse {
    LegendreTable table;
    Labels labels;
    char order, inner, outer;
    Index tableOrders, orders, degrees, rows; // of the table; those below the number of degrees
  };
  std::optional<TableUse> tableUse(Value contraction, bool isSynthesis);
  std::optional<Harmonics> harmonicsOf(Value z);
  std::optional<Harmonics> foundHarmonics(Value z);
  std::optional<Harmonics> analysed(Value contraction);
  std::optional<Harmonics> regrouped(Value z);
  std::optional<Harmonics> weighted(Value contraction, const Labels& labels, Value weight);
  static std::optional<ModelConstant> joinedGroups(const ModelConstant& weight);
  static std::optional<ModelConstant> foldedOrders(const ModelConstant& weight, Index orders);
  Value sphericalWeight(Value weight, const std::string& roles, Harmonics& harmonics);
  Value unmasked(Value z, int dim, Index columns);
  Value harmonicPairs(const Harmonics& harmonics);
  Value transformOf(const Harmonics& harmonics);
  Value inverseHarmonics(Value z, Index columns, const std::string& norm);
  Value synthesised(Value coefficients, const TableUse& use, const Shape& field, double factor);
  Value orderedModes(Value c, Index orders, bool isNatural);

  // -- discrete-continuous convolutions
  Value filterValue(Value x, Value weight, Index outputs, Index groups, const ModelFilter& filter);
  Value filterProduct(const std::string& equation, const ModelValues& factors);
  void noteWeightedInput(const std::string& equation, const ModelValues& factors, Value result);
  Value biasedFilter(Value y, Value bias);
  void separateBiases();

  const ModelWeights& weights_;
  const ModelMode mode_;
  const ModelTables tables_;
  ModelGraph graph_;
  std::string label_, where_;
  ModelValues reads_;
  std::map<Value, Value> pairs_;                               // pairsOf()
  bool isComputingPairs_ = false;                              // by computePairs()
  std::map<Value, Value> complexes_;                           // complex()
  std::map<Value, std::vector<RealContraction>> contractions_; // by their results
  std::map<std::string, std::optional<LegendreTable>> legendreTables_;
  std::map<Value, std::optional<Harmonics>> harmonics_;  // harmonicsOf()
  std::map<std::string, FilterSearch> filters_;          // by tensors of the file
  std::map<Value, ModelValues> weightedInputs_, biased_; // by products and sums: both terms
  std::map<std::pair<Index, std::vector<Index>>, Value> selections_;
  int identities_ = 0; // the last ModelConstant::identity() that was assigned
  Index numbers_ = 0;  // elements of all constants in memory
  Index spent_ = 0;    // operations counted by spend()
};

} // namespace tenon
