// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/host_view.hpp"

namespace tenon {

double numberOf(const DTensor& x) {
  return visitFloating(x.dataType(), [&]<class T>(T) {
    const HostView<const T> cells(x);
    return x.localCells() > 0 ? static_cast<double>(cells[0]) : 0.0;
  });
}

void setNumber(DTensor& x, double value) {
  visitFloating(x.dataType(), [&]<class T>(T) {
    const HostView<T> cells(x);
    if (x.localCells() > 0)
      cells[0] = static_cast<T>(value);
  });
}

} // namespace tenon
