// SPDX-License-Identifier: BSD-2-Clause
// The exact analysis on equidistant rows (legendre.hpp): lines of Fourier coefficients on a
// meridian are continued to Gauss nodes, whose weights integrate products of all degrees that the
// rows resolve. A line of an order continues beyond the poles by its own cosines or sines, so the
// continuation is a matrix for each parity of the order.
#include "kernels/products/gemm.hpp"
#include "kernels/sphere/legendre.hpp"

#include <cmath>

namespace tenon {

namespace {

// cos(k t) or sin(k t) for each colatitude t and k = 0 .. n: [t, k].
std::vector<double> wavesAt(const std::vector<double>& colatitudes, Index n, bool areSines) {
  std::vector<double> waves;
  for (const double t : colatitudes)
    for (Index k = 0; k <= n; ++k)
      waves.push_back(areSines ? std::sin(double(k) * t) : std::cos(double(k) * t));
  return waves;
}

} // namespace

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
  const std::vector<double> gauss = sphereRows(SphereGrid::Gauss, n).northernHalf(),
                            half = sphereRows(table_.grid, n).northernHalf();
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

// Lines of an even order continue as cosines and those of an odd one as sines. Components of
// vectors change their sign at a pole, so theirs are the opposite ones.
template <class T>
const std::vector<T>& SphereLegendre<T>::continuationOf(Index place, Index parity) const {
  const bool areSines = (orderOf(place) % 2 != 0) != table_.vectors.has_value();
  return continuation_[2 * areSines + parity];
}

// nodes = C lines for sums and for differences, or lines = C' nodes.
template <class T>
void SphereLegendre<T>::continueLines(Index place, bool transposed, T* lines, T* nodes) {
  const Index all = recurrence_.nodes();
  for (Index parity = 0; parity < 2; ++parity) {
    const T* matrix = continuationOf(place, parity).data();
    T *line = lines + parity * pairs() * width_, *node = nodes + parity * all * width_;
    if (transposed)
      gemm<T>(*context_, backend_, true, false, pairs(), width_, all, T(1), matrix, pairs(), node,
              width_, T(0), line, width_);
    else
      gemm<T>(*context_, backend_, false, false, all, width_, pairs(), T(1), matrix, pairs(), line,
              width_, T(0), node, width_);
  }
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void SphereLegendre<T>::addContinuation();                                              \
  template const std::vector<T>& SphereLegendre<T>::continuationOf(Index, Index) const;            \
  template void SphereLegendre<T>::continueLines(Index, bool, T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
