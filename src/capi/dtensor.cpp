// SPDX-License-Identifier: BSD-2-Clause
// Creation of TenonDTensor, and access to its local array:
//   PlaceArray ... ResetArray         the tensor uses the caller's array
//   PlaceArrays                       the tensor consists of several arrays of the caller
//   GatherArrays, ScatterArrays       copy between these arrays and the tensor's own array
//   GetArray ... RestoreArray         the caller reads or writes the tensor's array
// GetArray counts as a change of the tensor, since the writes that follow it are invisible to the
// library. All calls but the creation are local.
//
// An array that is placed contains the elements that this rank owns, with layers of ghosts around
// them. The caller passes the address of the first owned element, and for each dimension the stride
// and the widths of the ghosts. For a rank that owns 2 x 3 elements with one ghost on each side (o
// owned, . ghost):
//   . . . . .
//   . o o o .      firstOwned = &array[6], ghostsLow = ghostsHigh = {1, 1}
//   . o o o .      default strides {5, 1}: a dense row-major array with its ghosts
//   . . . . .
//
// The calls are declared in tenon/dtensor.h.
#include "dtensor/dtensor.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "sys/errors/guard.hpp"
#include "sys/log/log.hpp"

#include <tenon/dtensor.h>

#include <algorithm>

using namespace tenon;

namespace {

// Returns a checked copy of the widths of ghosts; zeros if the list is NULL.
std::vector<Index> ghostsOf(const TenonInt* ghosts, int rank, const char* name) {
  if (!ghosts)
    return std::vector<Index>(rank, 0);
  auto widths = listOf(ghosts, rank, name);
  for (int d = 0; d < rank; ++d)
    if (widths[d] < 0)
      throw Error(TENON_ERR_ARG, fmt::format("{}[{}] is {}; it must be >= 0", name, d, widths[d]));
  return widths;
}

// Strides of a dense row-major array of the owned elements and their ghosts.
std::vector<Index> denseStrides(const DTensor& x, const std::vector<Index>& low,
                                const std::vector<Index>& high) {
  Shape extent = extents(x.layout().ownedBox(x.position()));
  for (std::size_t d = 0; d < extent.size(); ++d)
    extent[d] += low[d] + high[d];
  return rowMajorStrides(extent);
}

// The body of PlaceArray and PlaceArrayRead. `length` is the number of elements of the caller's
// array, for checks.
void place(TenonDTensor handle, const void* firstOwned, const TenonInt* strides,
           const TenonInt* ghostsLow, const TenonInt* ghostsHigh, TenonInt length, bool readOnly) {
  DTensor& x = deref(handle, "x");
  const auto low = ghostsOf(ghostsLow, x.ndim(), "ghostsLow");
  const auto high = ghostsOf(ghostsHigh, x.ndim(), "ghostsHigh");
  // The cast is safe: a tensor that is placed with readOnly rejects every write.
  x.placeArray(const_cast<void*>(firstOwned),
               strides ? listOf(strides, x.ndim(), "strides") : denseStrides(x, low, high), low,
               high, readOnly, length);
}

// Strides like denseStrides(), for one of several arrays that are stacked along dimension `dim`:
// each array has extent 1 and no ghosts in that dimension.
std::vector<Index> denseStridesOfOne(const DTensor& x, int dim, const std::vector<Index>& low,
                                     const std::vector<Index>& high) {
  Shape extent = extents(x.layout().ownedBox(x.position()));
  for (int d = 0; d < x.ndim(); ++d)
    extent[d] = d == dim ? 1 : extent[d] + low[d] + high[d];
  return rowMajorStrides(extent);
}

// The forms of several arrays: lists with an entry per dimension, one form after the other.
struct Forms {
  int count;
  const TenonInt *strides, *ghostsLow, *ghostsHigh, *lengths;
};

// An array that is stacked along dimension `dim`, of form number `form`.
Component componentOf(const DTensor& x, int dim, void* firstOwned, const Forms& forms,
                      std::size_t form) {
  const auto rowOf = [&](const TenonInt* list) {
    return list ? list + form * static_cast<std::size_t>(x.ndim()) : nullptr;
  };
  Component component{.firstOwned = firstOwned,
                      .strides = {},
                      .ghostsLow = ghostsOf(rowOf(forms.ghostsLow), x.ndim(), "ghostsLow"),
                      .ghostsHigh = ghostsOf(rowOf(forms.ghostsHigh), x.ndim(), "ghostsHigh"),
                      .length = forms.lengths ? forms.lengths[form] : 0};
  component.strides = forms.strides
                          ? listOf(rowOf(forms.strides), x.ndim(), "strides")
                          : denseStridesOfOne(x, dim, component.ghostsLow, component.ghostsHigh);
  return component;
}

// Places several arrays: array number i is element i of this rank's block along dimension `dim`,
// such as one field of a solver per channel.
void placeEach(TenonDTensor handle, int dim, const std::vector<void*>& firstOwned,
               const Forms& forms, bool readOnly) {
  DTensor& x = deref(handle, "x");
  if (forms.count == 1) {
    const Component one = componentOf(x, dim, nullptr, forms, 0);
    x.placeArrays(dim, firstOwned, one.strides, one.ghostsLow, one.ghostsHigh, readOnly,
                  one.length);
    return;
  }
  if (forms.count != static_cast<int>(firstOwned.size()))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("forms is {}, but {} passed; pass 1 if all arrays have one form, "
                    "otherwise the number of arrays",
                    forms.count,
                    counted(static_cast<Index>(firstOwned.size()), "array was", "arrays were")));
  std::vector<Component> components;
  for (void* first : firstOwned)
    components.push_back(componentOf(x, dim, first, forms, components.size()));
  x.placeComponents(dim, components, readOnly);
}

// The bodies of GetArray and GetArrayRead; `values` is DTensor::hostValues or deviceValues. Until
// RestoreArray, an array for writing locks the tensor against any use, and one for reading locks it
// against writing.
template <class Values>
void lendForWriting(TenonDTensor handle, Values values, TenonDataType type, void** array) {
  DTensor& x = deref(handle, "x");
  required(array, "array");
  // All checks are made before the lock, so a failed call leaves the tensor unlocked.
  x.checkWritable();
  *array = (x.*values)(type);
  x.changed();
  x.lendForWriting();
}
template <class Values>
void lendForReading(TenonDTensor handle, Values values, TenonDataType type, const void** array) {
  DTensor& x = deref(handle, "x");
  required(array, "array");
  *array = (x.*values)(type);
  x.lendForReading();
}

} // namespace

TenonErrorCode TenonDTensorCreate(TenonLayout layout, TenonDataType type,
                                  TenonDTensor* x) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const LayoutObject& layoutObject = deref(layout, "layout");
    createCollectively(
        *layoutObject.comm(), x, "x", "layout and data type",
        [&] { return makeRef<DTensor>(layoutObject.comm(), layoutObject.layout(), type); },
        [&](const Ref<DTensor>& tensor) {
          return fmt::format("{}, {}", tensor->layout().describe(), dataTypeName(type));
        });
  });
}

TenonErrorCode TenonDTensorPlaceArray(TenonDTensor x, void* firstOwned, const TenonInt strides[],
                                      const TenonInt ghostsLow[], const TenonInt ghostsHigh[],
                                      TenonInt length) noexcept {
  return guard(__func__, [&] {
    place(x, firstOwned, strides, ghostsLow, ghostsHigh, length, /*readOnly=*/false);
  });
}

TenonErrorCode TenonDTensorPlaceArrayRead(TenonDTensor x, const void* firstOwned,
                                          const TenonInt strides[], const TenonInt ghostsLow[],
                                          const TenonInt ghostsHigh[], TenonInt length) noexcept {
  return guard(__func__, [&] {
    place(x, firstOwned, strides, ghostsLow, ghostsHigh, length, /*readOnly=*/true);
  });
}

TenonErrorCode TenonDTensorPlaceArrays(TenonDTensor x, int dim, int count, void* const firstOwned[],
                                       int forms, const TenonInt strides[],
                                       const TenonInt ghostsLow[], const TenonInt ghostsHigh[],
                                       const TenonInt lengths[]) noexcept {
  return guard(__func__, [&] {
    placeEach(x, dim, listOf(firstOwned, count, "firstOwned"),
              {forms, strides, ghostsLow, ghostsHigh, lengths},
              /*readOnly=*/false);
  });
}

TenonErrorCode TenonDTensorPlaceArraysRead(TenonDTensor x, int dim, int count,
                                           const void* const firstOwned[], int forms,
                                           const TenonInt strides[], const TenonInt ghostsLow[],
                                           const TenonInt ghostsHigh[],
                                           const TenonInt lengths[]) noexcept {
  return guard(__func__, [&] {
    // As in place(): a tensor placed with readOnly rejects every write.
    auto* arrays = const_cast<void* const*>(firstOwned);
    placeEach(x, dim, listOf(arrays, count, "firstOwned"),
              {forms, strides, ghostsLow, ghostsHigh, lengths},
              /*readOnly=*/true);
  });
}

TenonErrorCode TenonDTensorGatherArrays(TenonDTensor x) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorGather");
    const LogScope scope(event);
    deref(x, "x").gatherArrays();
  });
}

TenonErrorCode TenonDTensorScatterArrays(TenonDTensor x) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorScatter");
    const LogScope scope(event);
    deref(x, "x").scatterArrays();
  });
}

TenonErrorCode TenonDTensorResetArray(TenonDTensor x) noexcept {
  return guard(__func__, [&] { deref(x, "x").resetArray(); });
}

TenonErrorCode TenonDTensorSetPrivate(TenonDTensor x, TenonBool isPrivate) noexcept {
  return guard(__func__, [&] { deref(x, "x").setPrivate(isPrivate != TENON_FALSE); });
}

TenonErrorCode TenonDTensorGetArray(TenonDTensor x, TenonDataType type, void** array) noexcept {
  return guard(__func__, [&] { lendForWriting(x, &DTensor::hostValues, type, array); });
}

TenonErrorCode TenonDTensorRestoreArray(TenonDTensor x, void** array) noexcept {
  return guard(__func__, [&] {
    DTensor& tensor = deref(x, "x");
    tensor.endWriting(required(array, "array"));
    *array = nullptr;
  });
}

TenonErrorCode TenonDTensorGetArrayRead(TenonDTensor x, TenonDataType type,
                                        const void** array) noexcept {
  return guard(__func__, [&] { lendForReading(x, &DTensor::hostValues, type, array); });
}

TenonErrorCode TenonDTensorRestoreArrayRead(TenonDTensor x, const void** array) noexcept {
  return guard(__func__, [&] {
    DTensor& tensor = deref(x, "x");
    tensor.endReading(required(array, "array"));
    *array = nullptr;
  });
}

TenonErrorCode TenonDTensorGetDeviceArray(TenonDTensor x, TenonDataType type,
                                          void** array) noexcept {
  return guard(__func__, [&] { lendForWriting(x, &DTensor::deviceValues, type, array); });
}

TenonErrorCode TenonDTensorGetDeviceArrayRead(TenonDTensor x, TenonDataType type,
                                              const void** array) noexcept {
  return guard(__func__, [&] { lendForReading(x, &DTensor::deviceValues, type, array); });
}

TenonErrorCode TenonDTensorSetSpace(TenonDTensor x, TenonMemorySpace space) noexcept {
  return guard(__func__, [&] { deref(x, "x").setSpace(spaceOf(space)); });
}

TenonErrorCode TenonDTensorGetSpace(TenonDTensor x, TenonMemorySpace* space) noexcept {
  return guard(__func__, [&] {
    const bool onDevice = deref(x, "x").space() == Space::Device;
    required(space, "space") = onDevice ? TENON_MEMORY_DEVICE : TENON_MEMORY_HOST;
  });
}

TenonErrorCode TenonDTensorGetStrides(TenonDTensor x, TenonInt strides[]) noexcept {
  return guard(__func__, [&] {
    const DTensor& tensor = deref(x, "x");
    std::copy_n(tensor.strides().begin(), tensor.ndim(), &required(strides, "strides"));
  });
}
