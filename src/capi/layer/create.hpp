// SPDX-License-Identifier: BSD-2-Clause
// Bodies that the calls of TenonLayer share: creation of a layer, setters, inputs and outputs by
// index, and checks of the mesh lists (edges, index maps, links) that are passed to a layer.
#pragma once

#include "capi/collective.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/text.hpp"

#include <fmt/ranges.h>

namespace tenon {

// The body of a call that creates a layer: make(comm) returns it. The ranks agree on its settings.
template <class Make>
TenonErrorCode createLayer(const char* function, MPI_Comm comm, TenonLayer* layer, Make make) {
  return guard(function, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    createCollectively(
        *communicator, layer, "layer", "the layer", [&] { return make(communicator); },
        [](const auto& created) { return created->agreedText(); });
  });
}

// Returns element `index` of a list of the layer's inputs or outputs; `what` is "input" or
// "output".
template <class T>
const T& oneOf(const Layer& layer, const std::vector<T>& all, int index, const char* what) {
  if (index < 0 || index >= static_cast<int>(all.size()))
    throw Error(TENON_ERR_ARG,
                fmt::format("{3} index {2} is out of range: {0} has {1}, numbered from 0",
                            layer.title(), counted(static_cast<Index>(all.size()), what), index,
                            what));
  return all[index];
}

// The body of a setter: set(layer). A failure is also stored, and SetUp returns it on all ranks.
template <class Set>
TenonErrorCode specifyLayer(const char* function, TenonLayer handle, Set set) {
  return guard(function, [&] {
    Layer& layer = deref(handle, "layer");
    layer.specify(function, [&] { set(layer); });
  });
}

// Throws TENON_ERR_ARG unless the mesh lists (edges, index map or links) and the layer have the
// same communicator.
template <class Lists>
void checkOnComm(const Lists& lists, const Layer& layer, const char* name) {
  if (lists.comm() != layer.comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} and {} are on different communicators; create both on one", name,
                            layer.title()));
}

// Returns the layout of a field whose dimension 0 is distributed like dimension 0 of `pattern`. Its
// extent follows from `pattern`, so the caller must pass shape[0] = 0. `rows` is what dimension 0
// counts, such as "edges", for the error text.
inline Layout givenRowsLayout(const Layout& pattern, int ndim, const TenonInt* shape,
                              const char* rows) {
  const Shape extents = listOf(shape, ndim, "shape");
  if (extents.empty() || extents.front() != 0)
    throw Error(TENON_ERR_SHAPE, fmt::format("shape is [{}]; pass 0 first, for the number of {}, "
                                             "and any dimensions behind it",
                                             fmt::join(extents, ","), rows));
  return rowsLayout(pattern, {extents.begin() + 1, extents.end()});
}

} // namespace tenon
