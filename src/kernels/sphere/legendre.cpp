// SPDX-License-Identifier: BSD-2-Clause
// Sums over rows and over degrees of spherical harmonic transforms (definitions in legendre.hpp).
// P_lm is even or odd about the equator like l - m, so the sums and the differences of a row and
// its mirror image are multiplied by half a table each. For each order the table is computed in
// panels of few nodes that stay in the cache (recurrence.hpp), in double, and a panel is used by
// one matrix product for all fields. Vectors have two tables for each order, side by side in a
// panel (legendre_vectors.cpp). A device stores the tables instead (legendre_device.cpp).
#include "kernels/sphere/legendre.hpp"

#include "kernels/products/gemm.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr Index kPanelBytes = Index(1) << 18; // a panel stays in the second-level cache
constexpr Index kMinNodes = 16;               // of a panel, for an efficient product
// Orders that are folded together: the pairs (real, imaginary) of a cache line.
template <class T>
constexpr Index kGroup = 64 / (2 * static_cast<Index>(sizeof(T)));

} // namespace

double SphereTable::factor(Index l, Index m) const {
  double norm = isSchmidt ? std::sqrt(4 * kPi / double(2 * l + 1)) : 1;
  if (isSynthesis) // a coefficient of m counts for -m as well, except where both are the same wave
    norm = (m == 0 || 2 * m == columns ? 1 : 2) / norm;
  else // the weight of one of the equidistant longitudes
    norm *= 2 * kPi / double(columns);
  if (vectors && isSynthesis == vectors->isDivVort)
    norm *= l == 0 ? 0 : vectors->radius / (double(l) * double(l + 1));
  else if (vectors)
    norm /= vectors->radius;
  // (-1)^m of the norm, and (-1)^(l+m) of P_lm at the mirror image of a row.
  const bool isNegative = (hasSign && m % 2 != 0) != (southFirst && (l + m) % 2 != 0);
  return isNegative ? -norm : norm;
}

bool SphereTable::continuesLines() const {
  return isFull && !isSynthesis && grid != SphereGrid::Gauss; // Gauss weights are exact already
}

SphereFields SphereFields::all(Index fields) {
  SphereFields result{.batch = 1, .channels = fields, .chosen = {}};
  for (Index f = 0; f < fields; ++f)
    result.chosen.push_back(f);
  return result;
}

double legendreFlops(const SphereTable& table, const SphereBlock& block, Index fields) {
  double pairs = 0, degrees = 0;
  const Index end = block.degree + block.degrees, lastRow = block.row + block.rows;
  for (Index y = block.row; y < lastRow; ++y) // of two rows of a pair, the first one is counted
    if (const Index mirror = table.rows - 1 - y; mirror >= y || mirror < block.row)
      ++pairs;
  for (Index place = block.place; place < block.place + block.places; ++place)
    degrees +=
        double(std::max<Index>(end - std::max(block.degree, orderAtPlace(place, table.orders)), 0));
  const double half = double((table.rows + 1) / 2);
  const double products = table.continuesLines()
                              ? half * (degrees + 2 * pairs * double(block.places))
                              : pairs * degrees;
  return 4 * products * double(fields);
}

namespace {

// The orders of the block; of vectors, the tables of order 0 are computed from P_l1.
std::vector<Index> ordersOf(const SphereTable& table, const SphereBlock& block) {
  std::vector<Index> orders;
  for (Index place = block.place; place < block.place + block.places; ++place)
    orders.push_back(std::max<Index>(orderAtPlace(place, table.orders), table.vectors ? 1 : 0));
  return orders;
}

} // namespace

template <class T>
SphereLegendre<T>::SphereLegendre(KernelContextPtr context, Backend backend,
                                  const SphereTable& table, const SphereBlock& block,
                                  SphereFields fields)
    : context_(std::move(context)), backend_(resolveBackend<T>(backend, context_->space())),
      table_(table), block_(block), fields_(std::move(fields)), recurrence_({}, {}) {
  for (Index sample = 0; sample < fields_.batch; ++sample)
    for (const Index channel : fields_.chosen)
      fieldAt_.push_back(sample * fields_.channels + channel);
  width_ = 2 * static_cast<Index>(fieldAt_.size());
  table_.isFull = table_.continuesLines();
  findPairs();
  const SphereRows rows = sphereRows(table_.grid, table_.rows);
  std::vector<double> colatitudes;
  if (table_.isFull) {
    const SphereRows gauss = sphereRows(SphereGrid::Gauss, table_.rows);
    colatitudes = gauss.northernHalf();
    weights_.assign(gauss.weight.begin(),
                    gauss.weight.begin() + std::ptrdiff_t(colatitudes.size()));
    addContinuation();
  } else {
    for (const Pair& pair : pairs_) {
      colatitudes.push_back(rows.colatitude[pair.node]);
      weights_.push_back(table_.isSynthesis ? 1 : rows.weight[pair.node]);
    }
  }
  recurrence_ = LegendreRecurrence(colatitudes, ordersOf(table_, block_),
                                   table_.vectors ? LegendreRecurrence::Values::OverSine
                                                  : LegendreRecurrence::Values::Plain);
  if (isOnDevice(*context_))
    makeDeviceTables();
  else
    reserve();
}

template <class T>
void SphereLegendre<T>::findPairs() {
  const Index end = block_.row + block_.rows;
  const auto local = [&](Index row) {
    return row >= block_.row && row < end ? row - block_.row : Index(-1);
  };
  for (Index y = 0; y < (table_.rows + 1) / 2; ++y) {
    const Index mirror = table_.rows - 1 - y;
    const Pair pair{y, local(y), mirror == y ? -1 : local(mirror)};
    if (pair.north >= 0 || pair.south >= 0)
      pairs_.push_back(pair);
  }
}

template <class T>
void SphereLegendre<T>::reserve() {
  const Index nodes = recurrence_.nodes(), degrees = block_.degrees,
              ofNode = degrees * kinds() * static_cast<Index>(sizeof(T));
  panelNodes_ = std::clamp<Index>(kPanelBytes / std::max<Index>(ofNode, 1),
                                  std::min(kMinNodes, nodes), nodes);
  ScratchPlan plan;
  const int threads = context_->threads();
  folded_ = plan.addForThreads<T>(threads, kGroup<T> * 2 * pairs() * width_);
  continued_ = plan.addForThreads<T>(threads, table_.isFull ? 2 * nodes * width_ : 0);
  turned_ = plan.addForThreads<T>(threads, table_.vectors ? 4 * nodes * width_ : 0);
  products_ = plan.addForThreads<T>(threads, degrees * width_);
  panel_ = plan.addForThreads<T>(threads, degrees * kinds() * panelNodes_);
  // Vectors need the values of the degree before too.
  sweep_ = plan.addForThreads<double>(threads, LegendreRecurrence::scratchOf(panelNodes_) +
                                                   (kinds() - 1) * panelNodes_);
  context_->reserve(plan);
}

template <class T>
typename SphereLegendre<T>::Work SphereLegendre<T>::workOf(int thread) {
  return {context_->scratch<T>(folded_, thread), context_->scratch<T>(continued_, thread),
          context_->scratch<T>(turned_, thread), context_->scratch<T>(products_, thread),
          context_->scratch<T>(panel_, thread),  context_->scratch<double>(sweep_, thread)};
}

template <class T>
typename SphereLegendre<T>::Degrees SphereLegendre<T>::degreesOf(Index place) const {
  const Index m = orderOf(place), first = std::max(m, block_.degree),
              count = std::max<Index>(block_.degree + block_.degrees - first, 0);
  const Index even = (first - m) % 2 == 0 ? (count + 1) / 2 : count / 2;
  return {first, even, count - even};
}

// Calls body(work, first place, number of places) for groups of orders, on all threads.
template <class T>
template <class Body>
void SphereLegendre<T>::eachGroup(const Body& body) {
  const Index groups = (block_.places + kGroup<T> - 1) / kGroup<T>,
              cost = kGroup<T> * pairs() * (block_.degrees + 1) * (kinds() * width_ + 1);
  parallelPieces(context_->threads(folded_), groups, cost,
                 [&body, this](int thread, Index begin, Index end) {
                   const Work work = workOf(thread);
                   for (Index g = begin; g < end; ++g) {
                     const Index first = g * kGroup<T>;
                     body(work, first, std::min(kGroup<T>, block_.places - first));
                   }
                 });
}

// The table of the order at `place` for `count` nodes: [even degrees, count], [odd degrees, count].
template <class T>
void SphereLegendre<T>::fillPanel(Index place, Index first, Index count, const Degrees& degrees,
                                  T* panel, double* scratch) const {
  if (table_.vectors)
    return fillVectorPanel(place, first, count, degrees, panel, scratch);
  const Index m = orderOf(place);
  T *even = panel, *odd = panel + degrees.even * count;
  const double* weights = weights_.data() + first;
  recurrence_.sweep(place, first, count, block_.degree + block_.degrees, scratch,
                    [&](Index l, const double* p) {
                      if (l < degrees.first)
                        return;
                      T*& to = (l - m) % 2 == 0 ? even : odd;
                      const double factor = table_.factor(l, m);
                      for (Index j = 0; j < count; ++j)
                        to[j] = T(factor * weights[j] * p[j]);
                      to += count;
                    });
}

// Sums and differences of the rows of each pair, for `count` orders from `first`. They are computed
// in local arrays of one cache line and then stored by pairs (real, imaginary), because the pairs
// of different orders go to different places: one loop over both would be scalar.
template <class T>
void SphereLegendre<T>::fold(Index first, Index count, const T* x, T* folded) const {
  const Index row = 2 * block_.places, field = block_.rows * row, parity = pairs() * width_;
  T sums[2 * kGroup<T>], differences[2 * kGroup<T>];
  const T zeros[2 * kGroup<T>] = {}; // the row of a pair that does not exist
  for (std::size_t j = 0; j < pairs_.size(); ++j)
    for (std::size_t f = 0; f < fieldAt_.size(); ++f) {
      const T* start = x + fieldAt_[f] * field + 2 * first;
      const T *north = pairs_[j].north < 0 ? zeros : start + pairs_[j].north * row,
              *south = pairs_[j].south < 0 ? zeros : start + pairs_[j].south * row;
      for (Index i = 0; i < 2 * count; ++i) {
        sums[i] = north[i] + south[i];
        differences[i] = north[i] - south[i];
      }
      T* to = folded + static_cast<Index>(j) * width_ + 2 * static_cast<Index>(f);
      for (Index i = 0; i < count; ++i, to += 2 * parity) {
        std::copy_n(sums + 2 * i, 2, to);
        std::copy_n(differences + 2 * i, 2, to + parity);
      }
    }
}

template <class T>
void SphereLegendre<T>::unfold(Index first, Index count, const T* folded, T* x) const {
  const Index row = 2 * block_.places, field = block_.rows * row, parity = pairs() * width_;
  T even[2 * kGroup<T>], odd[2 * kGroup<T>];
  for (std::size_t j = 0; j < pairs_.size(); ++j)
    for (std::size_t f = 0; f < fieldAt_.size(); ++f) {
      const T* from = folded + static_cast<Index>(j) * width_ + 2 * static_cast<Index>(f);
      for (Index i = 0; i < count; ++i, from += 2 * parity) {
        std::copy_n(from, 2, even + 2 * i);
        std::copy_n(from + parity, 2, odd + 2 * i);
      }
      T* start = x + fieldAt_[f] * field + 2 * first;
      if (pairs_[j].north >= 0) {
        T* north = start + pairs_[j].north * row;
        for (Index i = 0; i < 2 * count; ++i)
          north[i] = even[i] + odd[i];
      }
      if (pairs_[j].south >= 0) {
        T* south = start + pairs_[j].south * row;
        for (Index i = 0; i < 2 * count; ++i)
          south[i] = even[i] - odd[i];
      }
    }
}

// products = table times nodes, or nodes = transposed table times products, for one order. `nodes`
// is [parity, node, width], or of vectors [parity, node, table, width].
template <class T>
void SphereLegendre<T>::multiply(Index place, bool toDegrees, const Work& work, T* nodes) {
  const Degrees degrees = degreesOf(place);
  const Index all = recurrence_.nodes(), row = kinds() * width_;
  T* const odd = work.products + degrees.even * width_;
  for (Index first = 0; first < all; first += panelNodes_) {
    const Index nodesOfPanel = std::min(panelNodes_, all - first), count = kinds() * nodesOfPanel;
    fillPanel(place, first, nodesOfPanel, degrees, work.panel, work.recurrence);
    const T* const oddPanel = work.panel + degrees.even * count;
    T *even = nodes + first * row, *differences = nodes + (all + first) * row;
    const auto product = [&](Index rows, const T* panel, T* side, T* result) {
      if (toDegrees) // the panels of an order add to its degrees, and the first one sets them
        gemm<T>(*context_, backend_, false, false, rows, width_, count, T(1), panel, count, side,
                width_, T(first == 0 ? 0 : 1), result, width_);
      else
        gemm<T>(*context_, backend_, true, false, count, width_, rows, T(1), panel, count, result,
                width_, T(0), side, width_);
    };
    product(degrees.even, work.panel, even, work.products);
    product(degrees.odd, oddPanel, differences, odd);
  }
}

// Copies the coefficients of an order between `products` and an array of all; those with l < m are
// set to 0, or not read.
template <class T>
void SphereLegendre<T>::copyDegrees(Index place, bool toProducts, T* products, const T* from,
                                    T* to) const {
  const Degrees degrees = degreesOf(place);
  const Index m = orderOf(place);
  for (std::size_t f = 0; f < fieldAt_.size(); ++f) {
    const Index at = (fieldAt_[f] * block_.places + place) * block_.degrees * 2;
    if (!toProducts)
      std::fill_n(to + at, 2 * (block_.degrees - degrees.even - degrees.odd), T(0));
    Index row[] = {0, degrees.even}; // of the next even and odd degree
    for (Index l = degrees.first; l < block_.degree + block_.degrees; ++l) {
      T* product = products + row[(l - m) % 2]++ * width_ + 2 * static_cast<Index>(f);
      const Index c = at + 2 * (l - block_.degree);
      if (toProducts)
        std::copy_n(from + c, 2, product);
      else
        std::copy_n(product, 2, to + c);
    }
  }
}

template <class T>
void SphereLegendre<T>::toDegrees(const T* x, T* c) {
  if (isOnDevice(*context_))
    return onDevice(true, x, c);
  const Index order = 2 * pairs() * width_, field = 2 * block_.places * block_.degrees;
  if (recurrence_.nodes() == 0 || pairs() == 0) {
    for (const Index at : fieldAt_)
      std::fill_n(c + at * field, field, T(0));
    return;
  }
  eachGroup([=, this](const Work& work, Index first, Index count) {
    fold(first, count, x, work.folded);
    for (Index i = 0; i < count; ++i) {
      T* nodes = work.folded + i * order;
      if (table_.isFull) {
        continueLines(first + i, /*transposed=*/false, nodes, work.continued);
        nodes = work.continued;
      }
      if (table_.vectors) {
        turn(nodes, work.turned);
        nodes = work.turned;
      }
      multiply(first + i, /*toDegrees=*/true, work, nodes);
      copyDegrees(first + i, /*toProducts=*/false, work.products, nullptr, c);
    }
  });
}

template <class T>
void SphereLegendre<T>::toRows(const T* c, T* x) {
  if (isOnDevice(*context_))
    return onDevice(false, c, x);
  const Index order = 2 * pairs() * width_;
  if (pairs() == 0)
    return;
  eachGroup([=, this](const Work& work, Index first, Index count) {
    for (Index i = 0; i < count; ++i) {
      T *const lines = work.folded + i * order, *const nodes =
                                                    table_.isFull ? work.continued : lines;
      copyDegrees(first + i, /*toProducts=*/true, work.products, c, nullptr);
      multiply(first + i, /*toDegrees=*/false, work, table_.vectors ? work.turned : nodes);
      if (table_.vectors)
        turnBack(work.turned, nodes);
      if (table_.isFull)
        continueLines(first + i, /*transposed=*/true, lines, work.continued);
    }
    unfold(first, count, work.folded, x);
  });
}

template <class T>
Index SphereLegendre<T>::bytes() const {
  Index numbers =
      isOnDevice(*context_) ? kinds() * block_.places * block_.rows * block_.degrees : 0;
  for (const std::vector<T>& matrix : continuation_)
    numbers += static_cast<Index>(matrix.size());
  return numbers * static_cast<Index>(sizeof(T)) +
         2 * block_.places * recurrence_.nodes() * static_cast<Index>(sizeof(double));
}

template class SphereLegendre<float>;
template class SphereLegendre<double>;

} // namespace tenon
