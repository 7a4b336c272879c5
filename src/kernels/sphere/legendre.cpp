// SPDX-License-Identifier: BSD-2-Clause
// Sums over rows and over degrees of spherical harmonic transforms (definitions in legendre.hpp).
// P_lm is even or odd about the equator like l - m, so the sums and the differences of a row and
// its mirror image are multiplied by half a table each. For each order the table is computed in
// panels of few nodes that stay in the cache (recurrence.hpp), in double, and a panel is used by
// one matrix product for all fields. A device stores the tables instead (legendre_device.cpp).
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
  if (isSynthesis)
    norm = (m == 0 || 2 * m == columns ? 1 : 2) / norm;
  else
    norm *= 2 * kPi / double(columns);
  const bool isNegative = (hasSign && m % 2 != 0) != (southFirst && (l + m) % 2 != 0);
  return isNegative ? -norm : norm;
}

bool SphereTable::continuesLines() const {
  return isFull && !isSynthesis && grid != SphereGrid::Gauss; // Gauss weights are exact already
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

std::vector<Index> ordersOf(const SphereTable& table, const SphereBlock& block) {
  std::vector<Index> orders;
  for (Index place = block.place; place < block.place + block.places; ++place)
    orders.push_back(orderAtPlace(place, table.orders));
  return orders;
}

// The colatitudes of the northern half of a grid and of the equator.
std::vector<double> northernHalf(const SphereRows& rows) {
  const std::size_t half = (rows.colatitude.size() + 1) / 2;
  return {rows.colatitude.begin(), rows.colatitude.begin() + std::ptrdiff_t(half)};
}

// cos(k t) or sin(k t) for each colatitude t and k = 0 .. n: [t, k].
std::vector<double> wavesAt(const std::vector<double>& colatitudes, Index n, bool areSines) {
  std::vector<double> waves;
  for (const double t : colatitudes)
    for (Index k = 0; k <= n; ++k)
      waves.push_back(areSines ? std::sin(double(k) * t) : std::cos(double(k) * t));
  return waves;
}

} // namespace

template <class T>
SphereLegendre<T>::SphereLegendre(KernelContextPtr context, Backend backend,
                                  const SphereTable& table, const SphereBlock& block, Index fields)
    : context_(std::move(context)), backend_(resolveBackend<T>(backend, context_->space())),
      table_(table), block_(block), recurrence_({}, {}) {
  table_.isFull = table_.continuesLines();
  findPairs();
  const SphereRows rows = sphereRows(table_.grid, table_.rows);
  std::vector<double> colatitudes;
  if (table_.isFull) {
    const SphereRows gauss = sphereRows(SphereGrid::Gauss, table_.rows);
    colatitudes = northernHalf(gauss);
    weights_.assign(gauss.weight.begin(),
                    gauss.weight.begin() + std::ptrdiff_t(colatitudes.size()));
    addContinuation();
  } else {
    for (const Pair& pair : pairs_) {
      colatitudes.push_back(rows.colatitude[pair.node]);
      weights_.push_back(table_.isSynthesis ? 1 : rows.weight[pair.node]);
    }
  }
  recurrence_ = LegendreRecurrence(std::move(colatitudes), ordersOf(table_, block_));
  if (isOnDevice(*context_))
    makeDeviceTables();
  else
    reserve(fields);
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

// The matrices that continue lines on n equidistant rows to Gauss nodes: the values there of the
// cosine or sine series that is 1 in one row and 0 in the others, which is a sum of products of
// waves at the row and at the node. Under t -> pi - t, cos(kt) has the sign (-1)^k and sin(kt) the
// opposite one, so the sums of a node and its mirror image follow from the sums of rows, by every
// other k, and differences from differences. The equator has no mirror image: it is half the sum.
template <class T>
void SphereLegendre<T>::addContinuation() {
  const Index n = table_.rows;
  const bool hasPoles = table_.grid == SphereGrid::Poles;
  const Index steps = hasPoles ? n - 1 : n;
  const std::vector<double> gauss = northernHalf(sphereRows(SphereGrid::Gauss, n)),
                            half = northernHalf(sphereRows(table_.grid, n));
  for (const bool areSines : {false, true}) {
    const std::vector<double> atNodes = wavesAt(gauss, n, areSines),
                              atRows = wavesAt(half, n, areSines);
    const Index last = areSines && !hasPoles ? n : n - 1;
    for (const bool areDifferences : {false, true}) {
      std::vector<T>& matrix = continuation_[2 * areSines + areDifferences];
      for (std::size_t node = 0; node < gauss.size(); ++node)
        for (const Pair& pair : pairs_) {
          const double *wave = atNodes.data() + Index(node) * (n + 1),
                       *row = atRows.data() + pair.node * (n + 1);
          double sum = 0;
          for (Index k = areSines != areDifferences ? 1 : 0; k <= last; k += 2)
            sum += (k == 0 || k == steps ? 1 : 2) * wave[k] * row[k];
          const bool isPole = hasPoles && pair.node == 0, isEquator = 2 * Index(node) + 1 == n;
          matrix.push_back(T((isPole ? 1 : 2) * (isEquator ? 0.5 : 1) * sum / double(steps)));
        }
    }
  }
}

template <class T>
void SphereLegendre<T>::reserve(Index fields) {
  const Index nodes = recurrence_.nodes(), width = 2 * fields, degrees = block_.degrees;
  panelNodes_ =
      std::clamp<Index>(kPanelBytes / std::max<Index>(degrees * static_cast<Index>(sizeof(T)), 1),
                        std::min(kMinNodes, nodes), nodes);
  ScratchPlan plan;
  const int threads = context_->threads();
  folded_ = plan.addForThreads<T>(threads, kGroup<T> * 2 * pairs() * width);
  continued_ = plan.addForThreads<T>(threads, table_.isFull ? 2 * nodes * width : 0);
  products_ = plan.addForThreads<T>(threads, degrees * width);
  panel_ = plan.addForThreads<T>(threads, degrees * panelNodes_);
  sweep_ = plan.addForThreads<double>(threads, LegendreRecurrence::scratchOf(panelNodes_));
  context_->reserve(plan);
}

template <class T>
typename SphereLegendre<T>::Work SphereLegendre<T>::workOf(int thread) {
  return {context_->scratch<T>(folded_, thread), context_->scratch<T>(continued_, thread),
          context_->scratch<T>(products_, thread), context_->scratch<T>(panel_, thread),
          context_->scratch<double>(sweep_, thread)};
}

template <class T>
typename SphereLegendre<T>::Degrees SphereLegendre<T>::degreesOf(Index place) const {
  const Index m = recurrence_.order(place), first = std::max(m, block_.degree),
              count = std::max<Index>(block_.degree + block_.degrees - first, 0);
  const Index even = (first - m) % 2 == 0 ? (count + 1) / 2 : count / 2;
  return {first, even, count - even};
}

// Calls body(work, first place, number of places) for groups of orders, on all threads.
template <class T>
template <class Body>
void SphereLegendre<T>::eachGroup(Index width, const Body& body) {
  const Index groups = (block_.places + kGroup<T> - 1) / kGroup<T>,
              cost = kGroup<T> * pairs() * (block_.degrees + 1) * (width + 1);
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
  const Index m = recurrence_.order(place);
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

// Sums and differences of the rows of each pair, for `count` orders from `first`.
template <class T>
void SphereLegendre<T>::fold(Index fields, Index first, Index count, const T* x, T* folded) const {
  const Index width = 2 * fields, row = 2 * block_.places, field = block_.rows * row;
  const Index parity = pairs() * width;
  for (std::size_t j = 0; j < pairs_.size(); ++j)
    for (Index f = 0; f < fields; ++f) {
      const T* start = x + f * field + 2 * first;
      const T *north = start + pairs_[j].north * row, *south = start + pairs_[j].south * row;
      T* to = folded + static_cast<Index>(j) * width + 2 * f;
      for (Index i = 0; i < 2 * count; ++i) {
        const T a = pairs_[j].north < 0 ? T(0) : north[i],
                b = pairs_[j].south < 0 ? T(0) : south[i];
        T* sum = to + (i / 2) * 2 * parity + i % 2;
        sum[0] = a + b;
        sum[parity] = a - b;
      }
    }
}

template <class T>
void SphereLegendre<T>::unfold(Index fields, Index first, Index count, const T* folded,
                               T* x) const {
  const Index width = 2 * fields, row = 2 * block_.places, field = block_.rows * row;
  const Index parity = pairs() * width;
  for (std::size_t j = 0; j < pairs_.size(); ++j)
    for (Index f = 0; f < fields; ++f) {
      T* start = x + f * field + 2 * first;
      const T* from = folded + static_cast<Index>(j) * width + 2 * f;
      for (Index i = 0; i < 2 * count; ++i) {
        const T* even = from + (i / 2) * 2 * parity + i % 2;
        if (pairs_[j].north >= 0)
          start[pairs_[j].north * row + i] = even[0] + even[parity];
        if (pairs_[j].south >= 0)
          start[pairs_[j].south * row + i] = even[0] - even[parity];
      }
    }
}

// products = table times nodes, or nodes = transposed table times products, for one order. `nodes`
// is [parity, node, width].
template <class T>
void SphereLegendre<T>::multiply(Index place, Index width, bool toDegrees, const Work& work,
                                 T* nodes) {
  const Degrees degrees = degreesOf(place);
  const Index all = recurrence_.nodes();
  T* const odd = work.products + degrees.even * width;
  for (Index first = 0; first < all; first += panelNodes_) {
    const Index count = std::min(panelNodes_, all - first);
    fillPanel(place, first, count, degrees, work.panel, work.recurrence);
    const T* const oddPanel = work.panel + degrees.even * count;
    T *sums = nodes + first * width, *differences = nodes + (all + first) * width;
    const auto product = [&](Index rows, const T* panel, T* side, T* result) {
      if (toDegrees)
        gemm<T>(*context_, backend_, false, false, rows, width, count, T(1), panel, count, side,
                width, T(first == 0 ? 0 : 1), result, width);
      else
        gemm<T>(*context_, backend_, true, false, count, width, rows, T(1), panel, count, result,
                width, T(0), side, width);
    };
    product(degrees.even, work.panel, sums, work.products);
    product(degrees.odd, oddPanel, differences, odd);
  }
}

// nodes = C lines for sums and for differences, or lines = C' nodes.
template <class T>
void SphereLegendre<T>::continueLines(Index place, Index width, bool transposed, T* lines,
                                      T* nodes) {
  const Index all = recurrence_.nodes(), parityOfOrder = recurrence_.order(place) % 2;
  for (Index parity = 0; parity < 2; ++parity) {
    const T* matrix = continuation_[2 * parityOfOrder + parity].data();
    T *line = lines + parity * pairs() * width, *node = nodes + parity * all * width;
    if (transposed)
      gemm<T>(*context_, backend_, true, false, pairs(), width, all, T(1), matrix, pairs(), node,
              width, T(0), line, width);
    else
      gemm<T>(*context_, backend_, false, false, all, width, pairs(), T(1), matrix, pairs(), line,
              width, T(0), node, width);
  }
}

// Copies the coefficients of an order between `products` and an array of all; those with l < m are
// set to 0, or not read.
template <class T>
void SphereLegendre<T>::copyDegrees(Index fields, Index place, bool toProducts, T* products,
                                    const T* from, T* to) const {
  const Degrees degrees = degreesOf(place);
  const Index m = recurrence_.order(place), width = 2 * fields;
  for (Index f = 0; f < fields; ++f) {
    const Index at = (f * block_.places + place) * block_.degrees * 2;
    if (!toProducts)
      std::fill_n(to + at, 2 * (block_.degrees - degrees.even - degrees.odd), T(0));
    Index row[] = {0, degrees.even}; // of the next even and odd degree
    for (Index l = degrees.first; l < block_.degree + block_.degrees; ++l) {
      T* product = products + row[(l - m) % 2]++ * width + 2 * f;
      const Index c = at + 2 * (l - block_.degree);
      if (toProducts)
        std::copy_n(from + c, 2, product);
      else
        std::copy_n(product, 2, to + c);
    }
  }
}

template <class T>
void SphereLegendre<T>::toDegrees(Index fields, const T* x, T* c) {
  if (isOnDevice(*context_))
    return onDevice(fields, true, x, c);
  const Index width = 2 * fields, order = 2 * pairs() * width;
  if (recurrence_.nodes() == 0 || pairs() == 0)
    return static_cast<void>(std::fill_n(c, width * block_.places * block_.degrees, T(0)));
  eachGroup(width, [=, this](const Work& work, Index first, Index count) {
    fold(fields, first, count, x, work.folded);
    for (Index i = 0; i < count; ++i) {
      T* nodes = work.folded + i * order;
      if (table_.isFull) {
        continueLines(first + i, width, /*transposed=*/false, nodes, work.continued);
        nodes = work.continued;
      }
      multiply(first + i, width, /*toDegrees=*/true, work, nodes);
      copyDegrees(fields, first + i, /*toProducts=*/false, work.products, nullptr, c);
    }
  });
}

template <class T>
void SphereLegendre<T>::toRows(Index fields, const T* c, T* x) {
  if (isOnDevice(*context_))
    return onDevice(fields, false, c, x);
  const Index width = 2 * fields, order = 2 * pairs() * width;
  if (pairs() == 0)
    return;
  eachGroup(width, [=, this](const Work& work, Index first, Index count) {
    for (Index i = 0; i < count; ++i) {
      T* lines = work.folded + i * order;
      copyDegrees(fields, first + i, /*toProducts=*/true, work.products, c, nullptr);
      multiply(first + i, width, /*toDegrees=*/false, work, table_.isFull ? work.continued : lines);
      if (table_.isFull)
        continueLines(first + i, width, /*transposed=*/true, lines, work.continued);
    }
    unfold(fields, first, count, work.folded, x);
  });
}

template <class T>
Index SphereLegendre<T>::bytes() const {
  Index numbers = isOnDevice(*context_) ? block_.places * block_.rows * block_.degrees : 0;
  for (const std::vector<T>& matrix : continuation_)
    numbers += static_cast<Index>(matrix.size());
  return numbers * static_cast<Index>(sizeof(T)) +
         2 * block_.places * recurrence_.nodes() * static_cast<Index>(sizeof(double));
}

template class SphereLegendre<float>;
template class SphereLegendre<double>;

} // namespace tenon
