// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/in_space.hpp"

#include "dtensor/arithmetic.hpp"

namespace tenon {

namespace {

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

} // namespace tenon
