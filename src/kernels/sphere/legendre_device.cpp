// SPDX-License-Identifier: BSD-2-Clause
// Sums over rows and over degrees of spherical harmonic transforms on a device (legendre.hpp). The
// tables are computed on the host when the kernel is created and stored on the device: they are as
// large as the product of the block's rows, orders and degrees.
#include "kernels/products/gemm.hpp"
#include "kernels/sphere/legendre.hpp"

namespace tenon {

// The table of an order for each row of the block: [row, degree].
template <class T>
std::vector<T> SphereLegendre<T>::rowTable(Index place) const {
  const Degrees degrees = degreesOf(place);
  const Index nodes = recurrence_.nodes(), m = recurrence_.order(place);
  std::vector<T> panel(std::size_t((degrees.even + degrees.odd) * nodes)),
      table(std::size_t(block_.rows * block_.degrees), T(0));
  std::vector<double> scratch(std::size_t(LegendreRecurrence::scratchOf(nodes)));
  fillPanel(place, 0, nodes, degrees, panel.data(), scratch.data());
  Index row[] = {0, degrees.even};
  for (Index l = degrees.first; l < block_.degree + block_.degrees; ++l) {
    const Index parity = (l - m) % 2;
    const T* values = panel.data() + row[parity]++ * nodes;
    const std::vector<T>& matrix = continuation_[2 * (m % 2) + parity];
    for (std::size_t j = 0; j < pairs_.size(); ++j) {
      double value = table_.isFull ? 0 : double(values[j]);
      for (Index node = 0; table_.isFull && node < nodes; ++node)
        value += double(values[node]) * double(matrix[std::size_t(node) * pairs_.size() + j]);
      const Index degree = l - block_.degree;
      if (pairs_[j].north >= 0)
        table[pairs_[j].north * block_.degrees + degree] = T(value);
      if (pairs_[j].south >= 0)
        table[pairs_[j].south * block_.degrees + degree] = T(parity == 0 ? value : -value);
    }
  }
  return table;
}

template <class T>
void SphereLegendre<T>::makeDeviceTables() {
  prepareGemm(*context_);
  std::vector<T> tables;
  for (Index place = 0; place < block_.places; ++place) {
    const std::vector<T> table = rowTable(place);
    tables.insert(tables.end(), table.begin(), table.end());
  }
  deviceTables_ = {*context_, std::move(tables)};
}

// One batch of products for each order: the pairs of a field are two columns of a matrix.
template <class T>
void SphereLegendre<T>::onDevice(Index fields, bool toDegrees, const T* from, T* to) {
  const Index rows = block_.rows, places = block_.places, degrees = block_.degrees;
  for (Index place = 0; place < places; ++place) {
    const T* table = deviceTables_.data() + place * rows * degrees;
    const Index rowsAt = 2 * place, degreesAt = 2 * place * degrees;
    const Index ofRows = 2 * rows * places, ofDegrees = 2 * places * degrees;
    if (toDegrees)
      gemmBatch<T>(*context_, backend_, fields, {0, ofRows, ofDegrees}, /*transA=*/true, false,
                   degrees, 2, rows, T(1), table, degrees, from + rowsAt, 2 * places, T(0),
                   to + degreesAt, 2);
    else
      gemmBatch<T>(*context_, backend_, fields, {0, ofDegrees, ofRows}, /*transA=*/false, false,
                   rows, 2, degrees, T(1), table, degrees, from + degreesAt, 2, T(0), to + rowsAt,
                   2 * places);
  }
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void SphereLegendre<T>::makeDeviceTables();                                             \
  template void SphereLegendre<T>::onDevice(Index, bool, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
