// SPDX-License-Identifier: BSD-2-Clause
// Sums over rows and over degrees of spherical harmonic transforms on a device (legendre.hpp). The
// tables are computed on the host when the kernel is created and stored on the device: they are as
// large as the product of the block's rows, orders and degrees.
#include "kernels/products/gemm.hpp"
#include "kernels/sphere/legendre.hpp"

namespace tenon {

// One table of an order for each row of the block: [row, degree].
template <class T>
std::vector<T> SphereLegendre<T>::rowTable(Index place, Index kind) const {
  const Degrees degrees = degreesOf(place);
  const Index nodes = recurrence_.nodes(), m = orderOf(place), count = kinds() * nodes;
  std::vector<T> panel(std::size_t((degrees.even + degrees.odd) * count)),
      table(std::size_t(block_.rows * block_.degrees), T(0));
  std::vector<double> scratch(std::size_t(LegendreRecurrence::scratchOf(nodes) + nodes));
  fillPanel(place, 0, nodes, degrees, panel.data(), scratch.data());
  Index row[] = {0, degrees.even};
  for (Index l = degrees.first; l < block_.degree + block_.degrees; ++l) {
    const Index parity = (l - m) % 2, ofLines = lineParity(kind, parity);
    const T* values = panel.data() + row[parity]++ * count + kind;
    const std::vector<T>& matrix = continuationOf(place, ofLines);
    for (std::size_t j = 0; j < pairs_.size(); ++j) {
      double value = table_.isFull ? 0 : double(values[static_cast<Index>(j) * kinds()]);
      for (Index node = 0; table_.isFull && node < nodes; ++node)
        value +=
            double(values[node * kinds()]) * double(matrix[std::size_t(node) * pairs_.size() + j]);
      const Index degree = l - block_.degree;
      if (pairs_[j].north >= 0)
        table[pairs_[j].north * block_.degrees + degree] = T(value);
      if (pairs_[j].south >= 0)
        table[pairs_[j].south * block_.degrees + degree] = T(ofLines == 0 ? value : -value);
    }
  }
  return table;
}

template <class T>
void SphereLegendre<T>::makeDeviceTables() {
  prepareGemm(*context_);
  std::vector<T> tables;
  for (Index place = 0; place < block_.places; ++place)
    for (Index kind = 0; kind < kinds(); ++kind) {
      const std::vector<T> table = rowTable(place, kind);
      tables.insert(tables.end(), table.begin(), table.end());
    }
  deviceTables_ = {*context_, std::move(tables)};
}

// The products of one table with `columns` columns of a channel of all samples: of a real or an
// imaginary part, or of both. `from` and `to` are the first numbers of the channel's first sample.
template <class T>
void SphereLegendre<T>::channelOnDevice(Index place, Index kind, bool toDegrees, Index columns,
                                        T alpha, T beta, const T* from, T* to) {
  const Index rows = block_.rows, places = block_.places, degrees = block_.degrees;
  const T* table = deviceTables_.data() + (place * kinds() + kind) * rows * degrees;
  const Index rowsAt = 2 * place, degreesAt = 2 * place * degrees;
  // Channels that are all chosen are one batch.
  const bool areAll = fields_.channels == static_cast<Index>(fields_.chosen.size()) && kinds() == 1;
  const Index batch = areAll ? fields_.count() : fields_.batch,
              stride = 2 * places * (areAll ? 1 : fields_.channels);
  if (toDegrees)
    gemmBatch<T>(*context_, backend_, batch, {0, stride * rows, stride * degrees}, /*transA=*/true,
                 false, degrees, columns, rows, alpha, table, degrees, from + rowsAt, 2 * places,
                 beta, to + degreesAt, 2);
  else
    gemmBatch<T>(*context_, backend_, batch, {0, stride * degrees, stride * rows},
                 /*transA=*/false, false, rows, columns, degrees, alpha, table, degrees,
                 from + degreesAt, 2, beta, to + rowsAt, 2 * places);
}

// to = D from, then to += -i Q from' or, transposed, i Q from', where from' is the other component.
template <class T>
void SphereLegendre<T>::vectorOnDevice(Index place, bool toDegrees, T byD, T byQ, const T* from,
                                       const T* other, T* to) {
  const T turned = toDegrees ? byQ : -byQ;
  channelOnDevice(place, 0, toDegrees, 2, byD, T(0), from, to);
  channelOnDevice(place, 1, toDegrees, 1, turned, T(1), other + 1, to);
  channelOnDevice(place, 1, toDegrees, 1, -turned, T(1), other, to + 1);
}

// One batch of products for each order: the pairs of a field are two columns of a matrix.
template <class T>
void SphereLegendre<T>::onDevice(bool toDegrees, const T* from, T* to) {
  const Index ofRows = 2 * block_.rows * block_.places,
              ofDegrees = 2 * block_.places * block_.degrees;
  const Index fromField = toDegrees ? ofRows : ofDegrees, toField = toDegrees ? ofDegrees : ofRows;
  const std::vector<Index>& chosen = fields_.chosen;
  for (Index place = 0; place < block_.places; ++place)
    if (table_.vectors) {
      const VectorSigns sign = vectorSigns();
      for (std::size_t v = 0; v < chosen.size(); v += 2) {
        const T *y = from + chosen[v] * fromField, *x = from + chosen[v + 1] * fromField;
        // Of s, or of v_y; and of u, or of v_x.
        vectorOnDevice(place, toDegrees, sign.yOfS, toDegrees ? sign.xOfS : sign.yOfU, y, x,
                       to + chosen[v] * toField);
        vectorOnDevice(place, toDegrees, sign.xOfU, toDegrees ? sign.yOfU : sign.xOfS, x, y,
                       to + chosen[v + 1] * toField);
      }
    } else if (fields_.channels == static_cast<Index>(chosen.size())) {
      channelOnDevice(place, 0, toDegrees, 2, T(1), T(0), from, to);
    } else {
      for (const Index channel : chosen)
        channelOnDevice(place, 0, toDegrees, 2, T(1), T(0), from + channel * fromField,
                        to + channel * toField);
    }
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void SphereLegendre<T>::makeDeviceTables();                                             \
  template void SphereLegendre<T>::onDevice(bool, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
