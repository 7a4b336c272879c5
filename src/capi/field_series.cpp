// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonFieldSeries, a list of tensors that are written after selected time steps to
// files for ParaView. They are:
//   Create, then SetGrid (local) or SetMesh (collective)   the geometry
//   AddTensor                                              a field of the series    local
//   Write                                                  the fields of one step   collective
// The series itself checks in Write that step and time are the same on all ranks. The calls are
// declared in tenon/field_series.h.
#include "io/field_series.hpp"

#include "capi/collective.hpp"
#include "dtensor/dtensor.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/field_series.h>

using namespace tenon;

TenonErrorCode TenonFieldSeriesCreate(MPI_Comm comm, const char* path, int spatial,
                                      TenonFieldSeries* series) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    createCollectively(
        *communicator, series, "series", "the series of fields",
        [&] { return makeRef<FieldSeries>(communicator, textOf(path, "path"), spatial); },
        [](const Ref<FieldSeries>& object) { return object->describe(); });
  });
}

TenonErrorCode TenonFieldSeriesSetGrid(TenonFieldSeries series, int spatial, const double origin[],
                                       const double spacing[]) noexcept {
  return guard(__func__, [&] {
    deref(series, "series")
        .setGrid(listOf(origin, spatial, "origin"), listOf(spacing, spatial, "spacing"));
  });
}

TenonErrorCode TenonFieldSeriesSetMesh(TenonFieldSeries series, TenonIndexMap cells,
                                       const char* shape, TenonIndexMap nodes, TenonInt corners,
                                       const TenonInt corner[], TenonInt coordinates,
                                       const double places[]) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    FieldSeries& s = deref(series, "series");
    // The lists of a rank are its own; their copies can fail on one rank, for lack of memory.
    const ListedMesh mesh = collectively(*s.comm(), [&] {
      return ListedMesh{Ref<IndexMapObject>::share(&deref(cells, "cells")),
                        nodes ? Ref<IndexMapObject>::share(&deref(nodes, "nodes"))
                              : Ref<IndexMapObject>(),
                        textOf(shape, "shape"), listOf(corner, corners, "corner"),
                        listOf(places, coordinates, "places")};
    });
    runCollectively(*s.comm(), [&] { s.setMesh(mesh); });
  });
}

TenonErrorCode TenonFieldSeriesAddTensor(TenonFieldSeries series, TenonDTensor tensor,
                                         const char* name, const char* components) noexcept {
  return guard(__func__, [&] {
    deref(series, "series")
        .addTensor(Ref<DTensor>::share(&deref(tensor, "tensor")), textOf(name, "name"),
                   textOrEmpty(components));
  });
}

TenonErrorCode TenonFieldSeriesWrite(TenonFieldSeries series, TenonInt step, double time) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    FieldSeries& s = deref(series, "series");
    runCollectively(*s.comm(), [&] { s.write(step, time); });
  });
}

TenonErrorCode TenonFieldSeriesDestroy(TenonFieldSeries* series) noexcept {
  return guard(__func__, [&] { destroy(series, "series"); });
}
