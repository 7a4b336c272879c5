// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of attention, y = softmax(scale q k^T + mask) v, computed as in FlashAttention:
// scores exist only for a tile of queries and one block of keys at a time, never as an array of
// size queries x keys. If the sequence is split over ranks, each rank keeps its queries, and the
// blocks of keys and values rotate around a ring of these ranks (ring.hpp). Apply, tangent and
// adjoint are then collective among them.
//
// Let m be the running maximum of a query's scores x, and s the sum of exp(x - m). For each block
// of keys, s and the sum of exp(x - m) v are first rescaled by exp(old m - new m), and then the
// terms of the block are added. m and s of each query are saved. The derivatives compute the
// probabilities p = exp(x - m) / s from them, without a pass over the keys for maxima and sums.
// (One number r = m + log s, with p = exp(x - r), would be rounded by half a unit in the last place
// of r: with scores of 10^4 in float32 by 5e-4, and p by as much relative to itself. A d before a
// name denotes a tangent or a cotangent; dy.y is a dot product per query.)
//
//   tangent   dx = scale (dq k^T + q dk^T),   dy = sum of p dx v + p dv  -  y (sum of p dx)
//   adjoint   dx = p (dy v^T - dy.y),   dq += scale dx k,   dk += scale dx^T q,   dv += p^T dy
//
// If all keys are in one block, dy.y is computed as the sum of p (dy v^T). The difference from it
// is then exactly 0 where p is 1, as in a softmax of scores that are far apart; products of
// rounding errors with large keys would be larger than the derivatives of such a network.
//
// The sums dk and dv rotate together with the block to which they belong, and return to its owner
// after the last turn. The cotangent of the mask is dx, summed over the dimensions in which the
// mask is broadcast. If a mask excludes all keys of a query, s and the result are 0 and m is
// finite, and p is 0 in the derivatives too.
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/rows/softmax.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/ring.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace tenon {

namespace {

// Queries whose scores are computed together: either all rows of `count` matrices from number
// `matrix` on, or `rows` rows of one matrix from `row` on. A matrix is the queries of one sample
// and head; each of its rows is one query.
struct QueryTile {
  Index matrix, count, row, rows;
};

// Addresses the mask like the scores [queries, keys] of each matrix: for each matrix the offset of
// the first mask element, and the strides of rows and columns. The stride is 0 in dimensions in
// which the mask is broadcast.
class MaskRows {
public:
  MaskRows() = default;
  MaskRows(const Box& scores, const Box& mask) {
    const int rank = static_cast<int>(mask.size());
    std::vector<Index> strides(mask.size(), 0);
    Index step = 1;
    for (int d = rank; d-- > 0; step *= mask[d].size())
      strides[d] = mask[d].size() == scores[d].size() ? step : 0;
    row_ = strides[rank - 2];
    column_ = strides[rank - 1];
    firsts_ = {0};
    for (int d = 0; d < rank - 2; ++d) {
      std::vector<Index> next;
      for (const Index first : firsts_)
        for (Index i = 0; i < scores[d].size(); ++i)
          next.push_back(first + i * strides[d]);
      firsts_ = std::move(next);
    }
  }

  // Splits the matrices of a tile into runs whose masks are equally spaced in memory, and calls
  // body(matrix, count, offset, strides) for each run: the number of its first matrix within the
  // tile, the number of matrices, the offset of the first mask element, and the mask's strides
  // {matrix, row, column}.
  template <class Body>
  void forEachRun(const QueryTile& tile, Index firstKey, const Body& body) const {
    const Index* const firsts = firsts_.data() + tile.matrix;
    for (Index m = 0, end = 0; m < tile.count; m = end) {
      const Index step = m + 1 < tile.count ? firsts[m + 1] - firsts[m] : 0;
      for (end = m + 1; end < tile.count && firsts[end] - firsts[end - 1] == step;)
        ++end;
      const Index strides[] = {step, row_, column_};
      body(m, end - m, firsts[m] + tile.row * row_ + firstKey * column_, strides);
    }
  }

private:
  std::vector<Index> firsts_;
  Index row_ = 0, column_ = 0;
};

// The inputs of the layer. The mask is optional.
constexpr std::size_t kQueries = 0, kKeys = 1, kValues = 2, kMask = 3;

// The kernel of all queries on this rank. It iterates over blocks of keys (by the ring) and, for
// each block, over tiles of queries.
class LocalAttention final : public LocalKernel {
public:
  LocalAttention(const KernelSite& at, Backend backend)
      : context_(at.context), backend_(backend),
        causal_(at.layer.declaration().value<bool>("causal")) {
    const Layouts& uses = at.form.uses;
    const Layout &q = uses[kQueries], &k = uses[kKeys], &v = uses[kValues];
    const int row = q.ndim() - 2, position = q.grid().position(at.rank);
    const Box queries = q.box(position);
    for (int d = 0; d < row; ++d)
      matrices_ *= queries[d].size();
    rows_ = queries[row].size();
    firstQuery_ = queries[row].begin;
    features_ = q.shape().back();
    outputs_ = v.shape().back();
    scale_ = at.layer.declaration().isSet("scale") ? at.layer.declaration().value<double>("scale")
                                                   : 1 / std::sqrt(double(features_));
    RingSizes sizes{
        .matrices = matrices_, .features = features_, .values = outputs_, .keys = k.cuts(row)};
    if (k.isHolder(position))
      sizes.own = k.part(position, row);
    else
      matrices_ = sizes.matrices = 0; // nothing to compute, but blocks must still be passed on
    longest_ = sizes.longest();
    if (uses.size() > kMask) {
      Box scores = queries;
      scores.back() = {0, sizes.keys.back()};
      mask_ = MaskRows(scores, uses[kMask].box(position));
    }
    const double keys = double(sizes.keys.back());
    std::vector<LinearOpRef> operators;
    if (!at.operators.empty())
      for (const OwnMove& move : at.list.kernels()[at.number].moves)
        operators.push_back(at.operators[move.op]);
    ring_ = std::make_unique<Ring>(context_, std::move(sizes), operators);
    planScratch(at.layer.dataType());
    flops_ = 2.0 * double(matrices_ * rows_) * keys * (causal_ ? 0.5 : 1);
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      T* const out = y.mutableData<T>();
      T* const maxima = rowArray<T>(/*number=*/0);
      T* const sums = rowArray<T>(/*number=*/1);
      // Numbers of the current block: first its maxima, then the factors exp(old m - new m), then
      // its sums.
      T* const ofBlock = rowArray<T>(/*number=*/2);
      fill(allRows(), std::numeric_limits<T>::lowest(), maxima);
      fill(allRows(), T(0), sums);
      fill(allRows() * outputs_, T(0), out);
      const T* const mask = maskOf<T>(x);
      const DTensor *const k = x[kKeys], *const v = x[kValues];
      ring_->forward<T>(k, v, [&](const KeyPart<const T>& part, Index first, Index n) {
        forEachTile(first, n, [&](const QueryTile& tile) {
          const Index rows = rowsOf(tile), at = rowOf(tile);
          T* const p = scores(tile, x[kQueries]->data<T>(), mask, part, first, n);
          const AxisShape shape{rows, n, 1}, results{rows, outputs_, 1};
          axisMaxima(*context_, shape, p, ofBlock + at);
          // Also rescales the sums, and replaces `ofBlock` by the factors.
          raiseMaxima(*context_, rows, maxima + at, sums + at, ofBlock + at);
          axisExponentials<T>(*context_, shape, p, maxima + at, p);
          axisScale<T>(*context_, results, out + at * outputs_, ofBlock + at, out + at * outputs_);
          axisSums<T>(*context_, shape, p, ofBlock + at);
          axpby<T>(*context_, rows, 1, ofBlock + at, 1, sums + at);
          timesValues<T>(tile, n, p, part.v, out);
        });
      });
      if (workspace && allRows() > 0) {
        axpby<T>(*context_, allRows(), 1, maxima, 0, workspace->data<T>());
        axpby<T>(*context_, allRows(), 1, sums, 0, workspace->data<T>() + allRows());
      }
      axisQuotientsOrZero<T>(*context_, {allRows(), outputs_, 1}, out, sums, out);
    });
    logFlops(flops_ * double(features_ + outputs_));
  }

  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T *const q = at.inputs[kQueries]->data<T>(), *const mask = maskOf<T>(at.inputs);
      const T* const dq = dx[kQueries] ? dx[kQueries]->data<T>() : nullptr;
      const T* const dMask = maskOf<T>(dx);
      const T* const saved = at.workspace->data<T>();
      T* const out = dy.mutableData<T>();
      T* const sums = rowArray<T>(/*number=*/0); // of p dx, per query
      T* const sumsOfBlock = rowArray<T>(/*number=*/1);
      fill(allRows(), T(0), sums);
      fill(allRows() * outputs_, T(0), out);
      ring_->forward<T>(
          at.inputs[kKeys], at.inputs[kValues], dx[kKeys], dx[kValues],
          [&](const KeyPart<const T>& part, const KeyPart<const T>& dPart, Index first, Index n) {
            forEachTile(first, n, [&](const QueryTile& tile) {
              const Index rows = rowsOf(tile), row = rowOf(tile);
              const AxisShape shape{rows, n, 1};
              T* const p = probabilities(tile, q, mask, part, first, n, saved);
              if (dPart.v.first)
                timesValues<T>(tile, n, p, dPart.v, out);
              if (!dq && !dPart.k.first && !dMask)
                return;
              T* const d = slopes<T>();
              if (dq)
                products<T>(tile, n, features_, scale_, dq, part.k, /*beta=*/0, d);
              if (dPart.k.first)
                products<T>(tile, n, features_, scale_, q, dPart.k, /*beta=*/dq ? 1 : 0, d);
              if (!dq && !dPart.k.first)
                fill(rows * n, T(0), d);
              addMask<T>(tile, first, n, dMask, d);
              product<T>(*context_, rows * n, p, d, /*adds=*/false, d);
              axisSums<T>(*context_, shape, d, sumsOfBlock + row);
              axpby<T>(*context_, rows, 1, sumsOfBlock + row, 1, sums + row);
              timesValues<T>(tile, n, d, part.v, out);
            });
          });
      axisSubtractScaled<T>(*context_, {allRows(), outputs_, 1}, at.y->data<T>(), sums, out);
    });
    logFlops(flops_ * double((dx[kQueries] || dx[kKeys] ? 2 : 1) * (features_ + outputs_)));
  }

  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T *const q = at.inputs[kQueries]->data<T>(), *const mask = maskOf<T>(at.inputs),
                     *const out = dy.data<T>();
      T* const dq = dx[kQueries] ? dx[kQueries]->mutableData<T>() : nullptr;
      T* const dMask = dx.size() > kMask && dx[kMask] ? dx[kMask]->mutableData<T>() : nullptr;
      const T* const saved = at.workspace->data<T>();
      T* const dots = rowArray<T>(/*number=*/0); // dy.y of each query
      const bool isWhole = ring_->count() == 1;
      if (!isWhole)
        axisDots<T>(*context_, {allRows(), outputs_, 1}, out, at.y->data<T>(), dots);
      if (dq)
        fill(allRows() * features_, T(0), dq);
      if (dMask)
        fill(dx[kMask]->localElements(), T(0), dMask);
      ring_->back<T>(
          at.inputs[kKeys], at.inputs[kValues], dx[kKeys], dx[kValues],
          [&](const KeyPart<const T>& part, const auto& cotangents, Index first, Index n) {
            forEachTile(first, n, [&](const QueryTile& tile) {
              const Index rows = rowsOf(tile);
              T* const p = probabilities(tile, q, mask, part, first, n, saved);
              const KeyPart<T> sums = cotangents();
              if (sums.v.first)
                addTransposed<T>(tile, n, outputs_, /*alpha=*/1, p, out, sums.v);
              if (!dq && !sums.k.first && !dMask)
                return;
              T* const d = slopes<T>();
              products<T>(tile, n, outputs_, /*alpha=*/1, out, part.v, /*beta=*/0, d);
              if (isWhole)
                axisDots<T>(*context_, {rows, n, 1}, p, d, dots + rowOf(tile));
              axisSoftmaxSlope<T>(*context_, {rows, n, 1}, p, d, dots + rowOf(tile), p);
              if (dq)
                timesKeys<T>(tile, n, p, part.k, dq);
              if (sums.k.first)
                addTransposed<T>(tile, n, features_, scale_, p, q, sums.k);
              if (dMask)
                addToMask<T>(tile, first, n, p, dMask);
            });
          });
    });
    logFlops(flops_ * double(features_ + outputs_ + (dx[kValues] ? outputs_ : 0) +
                             (dx[kQueries] ? features_ : 0) + (dx[kKeys] ? features_ : 0)));
  }

  std::string describe() const override {
    return fmt::format("backend {} (gemm){}", backendName(backend_),
                       ring_->count() > 1
                           ? fmt::format(", keys and values in {} steps of a ring", ring_->count())
                           : "");
  }
  bool runsOnDevice() const override { return true; }
  // With a ring, messages are exchanged between its products.
  bool isRepeatable() const override { return ring_->count() == 1; }
  Index bytes() const override { return rowArrays_.bytes() + ring_->bytes(); }

private:
  // Elements of a tile's scores: bounds the scratch memory, while matrix products remain large.
  static constexpr Index kTileElements = Index(1) << 19;
  // Of the scores of several matrices. On the host their products run one after the other, and the
  // scores stay in a cache of the core between products and softmax.
  static constexpr Index kCachedElements = Index(1) << 16;

  // Plans scratch memory for the scores of a tile and the longest block, and for their derivatives.
  void planScratch(TenonDataType type) {
    tileRows_ = std::clamp(kTileElements / std::max<Index>(1, longest_), Index(1),
                           std::max<Index>(1, rows_));
    const Index together =
        context_->space() == Space::Device ? kTileElements : kCachedElements * context_->threads();
    tileMatrices_ = tileRows_ < rows_ ? 1
                                      : std::clamp(together / std::max<Index>(1, longest_ * rows_),
                                                   Index(1), std::max<Index>(1, matrices_));
    visitFloating(type, [&]<class T>(T) {
      ScratchPlan plan;
      scores_ = plan.add<T>(tileMatrices_ * tileRows_ * longest_);
      slopes_ = plan.add<T>(tileMatrices_ * tileRows_ * longest_);
      context_->reserve(plan);
    });
  }
  Index allRows() const { return matrices_ * rows_; }
  static Index rowsOf(const QueryTile& tile) { return tile.count * tile.rows; }
  Index rowOf(const QueryTile& tile) const { return tile.matrix * rows_ + tile.row; }
  template <class T>
  T* slopes() {
    return context_->scratch<T>(slopes_);
  }
  template <class T>
  void fill(Index n, T value, T* y) {
    const Index one = 1;
    fillBlock<T>(*context_, 1, &n, value, y, &one);
  }
  // One of three arrays (`number` is 0, 1 or 2) with one element per query of this rank, such as m,
  // s and the rescaling factors. Their values persist over the turns of the ring.
  template <class T>
  T* rowArray(int number) {
    const Index bytes = roundedUp(allRows() * Index(sizeof(T)), kAlignment);
    if (rowArrays_.bytes() < 3 * bytes)
      rowArrays_ = Buffer(3 * bytes, "sums of queries", context_->memory());
    return rowArrays_.data<T>() + number * (bytes / Index(sizeof(T)));
  }

  // In the following functions, a block of keys is the n keys from number `first` on.
  // forEachTile() calls body for the tiles that have at least one query with a score for the block:
  // a causal mask excludes keys after the query.
  template <class Body>
  void forEachTile(Index first, Index n, const Body& body) {
    if (n == 0)
      return;
    for (Index matrix = 0; matrix < matrices_; matrix += tileMatrices_)
      for (Index row = 0; row < rows_; row += tileRows_) {
        const QueryTile tile{.matrix = matrix,
                             .count = std::min(tileMatrices_, matrices_ - matrix),
                             .row = row,
                             .rows = std::min(tileRows_, rows_ - row)};
        if (!causal_ || first < firstQuery_ + tile.row + tile.rows)
          body(tile);
      }
  }

  // z = alpha a b^T + beta z, where the tile's rows of a have `length` elements
  template <class T>
  void products(const QueryTile& tile, Index n, Index length, double alpha, const T* a,
                const Matrices<const T>& b, double beta, T* z) {
    gemmBatch<T>(*context_, backend_, tile.count, {rows_ * length, b.matrix, tile.rows * n}, false,
                 true, tile.rows, n, length, T(alpha), a + rowOf(tile) * length, length,
                 b.of(tile.matrix), b.row, T(beta), z, n);
  }
  // y += alpha p b
  template <class T>
  void addProduct(const QueryTile& tile, Index n, Index length, double alpha, const T* p,
                  const Matrices<const T>& b, T* y) {
    gemmBatch<T>(*context_, backend_, tile.count, {tile.rows * n, b.matrix, rows_ * length}, false,
                 false, tile.rows, length, n, T(alpha), p, n, b.of(tile.matrix), b.row, T(1),
                 y + rowOf(tile) * length, length);
  }
  template <class T>
  void timesValues(const QueryTile& tile, Index n, const T* p, const Matrices<const T>& v, T* y) {
    addProduct<T>(tile, n, outputs_, 1, p, v, y);
  }
  template <class T>
  void timesKeys(const QueryTile& tile, Index n, const T* p, const Matrices<const T>& k, T* dq) {
    addProduct<T>(tile, n, features_, scale_, p, k, dq);
  }
  // sum += alpha p^T a
  template <class T>
  void addTransposed(const QueryTile& tile, Index n, Index length, double alpha, const T* p,
                     const T* a, const Matrices<T>& sum) {
    gemmBatch<T>(*context_, backend_, tile.count, {tile.rows * n, rows_ * length, sum.matrix}, true,
                 false, n, length, tile.rows, T(alpha), p, n, a + rowOf(tile) * length, length,
                 T(1), sum.of(tile.matrix), sum.row);
  }

  // The mask among the inputs or their tangents, or null.
  template <class T>
  static const T* maskOf(Inputs x) {
    return x.size() > kMask && x[kMask] ? x[kMask]->template data<T>() : nullptr;
  }
  // x += mask, for the columns of the n keys from `first` on
  template <class T>
  void addMask(const QueryTile& tile, Index first, Index n, const T* mask, T* x) {
    if (!mask)
      return;
    const Index matrix = tile.rows * n, ofScores[] = {matrix, n, 1};
    mask_.forEachRun(tile, first, [&](Index m, Index count, Index from, const Index* strides) {
      const Index extent[] = {count, tile.rows, n};
      blockCombine<T>(*context_, Combine::Add, 3, extent, mask + from, strides, x + m * matrix,
                      ofScores);
    });
  }
  // The adjoint of addMask(): mask += x
  template <class T>
  void addToMask(const QueryTile& tile, Index first, Index n, const T* x, T* mask) {
    const Index matrix = tile.rows * n, ofScores[] = {matrix, n, 1};
    mask_.forEachRun(tile, first, [&](Index m, Index count, Index to, const Index* strides) {
      const Index extent[] = {count, tile.rows, n};
      blockMultiplyAdd<T>(*context_, 3, extent, T(1), nullptr, nullptr, x + m * matrix, ofScores,
                          mask + to, strides);
    });
  }

  // The scores of the tile's queries and the block's keys, as matrices [rows of the tile, n]. The
  // result is in scratch memory, which probabilities() overwrites. `saved` are the maxima of all
  // queries, then their sums.
  template <class T>
  T* scores(const QueryTile& tile, const T* q, const T* mask, const KeyPart<const T>& part,
            Index first, Index n) {
    T* const x = context_->scratch<T>(scores_);
    products<T>(tile, n, features_, scale_, q, part.k, 0, x);
    addMask<T>(tile, first, n, mask, x);
    if (causal_ && first + n - 1 > firstQuery_ + tile.row)
      maskCausal<T>(*context_, {rowsOf(tile), n, 1}, {tile.rows, firstQuery_ + tile.row, first}, x);
    return x;
  }
  template <class T>
  T* probabilities(const QueryTile& tile, const T* q, const T* mask, const KeyPart<const T>& part,
                   Index first, Index n, const T* saved) {
    T* const p = scores(tile, q, mask, part, first, n);
    const AxisShape shape{rowsOf(tile), n, 1};
    const T* const maxima = saved + rowOf(tile);
    axisExponentials<T>(*context_, shape, p, maxima, p);
    axisQuotientsOrZero<T>(*context_, shape, p, maxima + allRows(), p);
    return p;
  }

  KernelContextPtr context_;
  Backend backend_;
  bool causal_;
  MaskRows mask_;
  double scale_ = 1, flops_ = 0;
  Index matrices_ = 1;               // samples times heads on this rank
  Index rows_ = 0, firstQuery_ = 0;  // queries of each matrix, and global index of the first
  Index features_ = 0, outputs_ = 0; // of a query or key, and of a value
  Index longest_ = 0;                // keys of the longest block
  Index tileRows_ = 1, tileMatrices_ = 1;
  Index scores_ = 0, slopes_ = 0; // offsets in the scratch memory
  Buffer rowArrays_;
  std::unique_ptr<Ring> ring_;
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeAttentionKernel(const KernelSite& at) {
  prepareGemm(*at.context);
  return std::make_unique<LocalAttention>(at, resolvedBackend(at.layer));
}

} // namespace tenon
