// SPDX-License-Identifier: BSD-2-Clause
// Vector fields in the sums of legendre.hpp. With D = dP_lm/dt and Q = m P_lm / sin t,
//
//   s = D v_y - i Q v_x,   u = -D v_x - i Q v_y   (times factors of rows and degrees)
//
// and its transpose. D is even or odd about the equator like l - m + 1, Q like l - m, so the sums
// of rows and their mirror images meet D of the odd l - m and Q of the even ones. A panel has the
// columns D and Q for each node, which multiply two rows: (v_y, -v_x) of the one parity and
// (-i v_x, -i v_y) of the other. The rest is as for scalars, with twice the nodes.
//
// Both tables follow from R_lm = P_lm / sin t, m > 0, also at the poles (recurrence.hpp):
//
//   Q = m R_lm,   D = l cos t R_lm - r R_(l-1)m,   r^2 = (l^2 - m^2) (2l+1) / (2l-1)
//   m = 0:  Q = 0,   D = -sqrt(l (l+1)) P_l1
#include "kernels/sphere/legendre.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

template <class T>
void SphereLegendre<T>::fillVectorPanel(Index place, Index first, Index count,
                                        const Degrees& degrees, T* panel, double* scratch) const {
  const Index m = orderOf(place);
  T* to[] = {panel, panel + 2 * degrees.even * count};
  const double *weights = weights_.data() + first, *cosine = recurrence_.cosine() + first,
               *sine = recurrence_.sine() + first;
  double* const before = scratch;
  std::fill_n(before, count, 0);
  const auto row = [&](Index l, const double* r) {
    if (l >= degrees.first) {
      T*& pairs = to[(l - m) % 2];
      const double factor = table_.factor(l, m), ll = double(l) * double(l), mm = double(m * m);
      const double lower = std::sqrt((ll - mm) * double(2 * l + 1) / double(2 * l - 1)),
                   zonal = -std::sqrt(ll + double(l));
      for (Index j = 0; j < count; ++j) {
        const double scale = factor * weights[j];
        const double derivative =
            m == 0 ? zonal * sine[j] * r[j] : double(l) * cosine[j] * r[j] - lower * before[j];
        pairs[2 * j] = T(scale * derivative);
        pairs[2 * j + 1] = T(scale * double(m) * r[j]);
      }
      pairs += 2 * count;
    }
    std::copy_n(r, count, before);
  };
  if (m == 0 && degrees.first == 0 && degrees.even > 0) { // degree 0 has no vectors
    std::fill_n(to[0], 2 * count, T(0));
    to[0] += 2 * count;
  }
  recurrence_.sweep(place, first, count, block_.degree + block_.degrees, scratch + count, row);
}

template <class T>
typename SphereLegendre<T>::VectorSigns SphereLegendre<T>::vectorSigns() const {
  const double s = table_.vectors->ofPotential(), u = table_.southFirst ? -1 : 1,
               y = table_.vectors->isNorthward && !table_.southFirst ? -1 : 1;
  return {T(s * y), T(-u), T(s), T(u * y)};
}

// turned[parity, node, 0] = (v_y, -v_x) of the other parity, turned[parity, node, 1] = (-i v_x, -i
// v_y), from nodes[parity, node] with (v_y, v_x) of each vector, up to the signs of the settings.
template <class T>
void SphereLegendre<T>::turn(const T* nodes, T* turned) const {
  const Index parities = recurrence_.nodes() * width_;
  const VectorSigns sign = vectorSigns();
  for (Index parity = 0; parity < 2; ++parity)
    for (Index j = 0; j < recurrence_.nodes(); ++j) {
      const T *same = nodes + parity * parities + j * width_,
              *other = nodes + (1 - parity) * parities + j * width_;
      T *byD = turned + 2 * (parity * parities + j * width_), *byQ = byD + width_;
      for (Index v = 0; v < width_; v += 4) { // real and imaginary parts of two components
        for (Index part = 0; part < 2; ++part) {
          byD[v + part] = sign.yOfS * other[v + part];
          byD[v + 2 + part] = sign.xOfU * other[v + 2 + part];
        }
        byQ[v] = sign.xOfS * same[v + 3];
        byQ[v + 1] = -sign.xOfS * same[v + 2];
        byQ[v + 2] = sign.yOfU * same[v + 1];
        byQ[v + 3] = -sign.yOfU * same[v];
      }
    }
}

// The transpose of turn().
template <class T>
void SphereLegendre<T>::turnBack(const T* turned, T* nodes) const {
  const Index parities = recurrence_.nodes() * width_;
  const VectorSigns sign = vectorSigns();
  for (Index parity = 0; parity < 2; ++parity)
    for (Index j = 0; j < recurrence_.nodes(); ++j) {
      const T *byD = turned + 2 * ((1 - parity) * parities + j * width_),
              *byQ = turned + 2 * (parity * parities + j * width_) + width_;
      T* to = nodes + parity * parities + j * width_;
      for (Index v = 0; v < width_; v += 4) {
        to[v] = sign.yOfS * byD[v] - sign.yOfU * byQ[v + 3];
        to[v + 1] = sign.yOfS * byD[v + 1] + sign.yOfU * byQ[v + 2];
        to[v + 2] = sign.xOfU * byD[v + 2] - sign.xOfS * byQ[v + 1];
        to[v + 3] = sign.xOfU * byD[v + 3] + sign.xOfS * byQ[v];
      }
    }
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void SphereLegendre<T>::fillVectorPanel(Index, Index, Index, const Degrees&, T*,        \
                                                   double*) const;                                 \
  template SphereLegendre<T>::VectorSigns SphereLegendre<T>::vectorSigns() const;                  \
  template void SphereLegendre<T>::turn(const T*, T*) const;                                       \
  template void SphereLegendre<T>::turnBack(const T*, T*) const;
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
