// SPDX-License-Identifier: BSD-2-Clause
// Provides whole tensors or single numbers in the space in which the caller works. A tensor in that
// space is used in place; others are copied, and the caller stores the copy for the next call.
#include "dtensor/host_view.hpp"

namespace tenon {

namespace {

// The copy is allocated once and stored by the caller, so calls in a time step allocate nothing.
void makeLike(const DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy) {
  if (!copy || !(copy->layout() == x.layout()) || copy->dataType() != x.dataType())
    copy = makeRef<DTensor>(comm, x.layout(), x.dataType(), space);
}

} // namespace

const DTensor& inSpace(const DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy) {
  if (x.space() == space)
    return x;
  makeLike(x, comm, space, copy);
  copyLocal(x, *copy);
  return *copy;
}

DTensor& likeInSpace(DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy) {
  if (x.space() == space)
    return x;
  makeLike(x, comm, space, copy);
  return *copy;
}

double numberOf(const DTensor& x) {
  return visitFloating(x.dataType(), [&]<class T>(T) {
    // The view is made on ranks without the number too, since it checks that x may be read.
    const HostView<const T> elements(x);
    return x.localElements() > 0 ? static_cast<double>(elements[0]) : 0.0;
  });
}

void setNumber(DTensor& x, double value) {
  visitFloating(x.dataType(), [&]<class T>(T) {
    const HostView<T> elements(x);
    if (x.localElements() > 0)
      elements[0] = static_cast<T>(value);
  });
}

} // namespace tenon
