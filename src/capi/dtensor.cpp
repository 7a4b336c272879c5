// SPDX-License-Identifier: BSD-2-Clause
// The calls that create a TenonDTensor and reach its local array. Strides that are not given are
// those of a dense row-major array of the owned elements with their ghosts, which is what a solver
// in C has; and an array that was got for writing counts as changed from the Get on, since nobody
// sees the writes themselves.
#include "dtensor/dtensor.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "sys/errors/guard.hpp"
#include "sys/log/log.hpp"

#include <tenon/dtensor.h>

#include <algorithm>

using namespace tenon;

namespace {

std::vector<Index> ghostsOf(const TenonInt* ghosts, int rank, const char* name) {
  if (!ghosts)
    return std::vector<Index>(rank, 0);
  auto widths = listOf(ghosts, rank, name);
  for (int d = 0; d < rank; ++d)
    if (widths[d] < 0)
      throw Error(TENON_ERR_ARG, fmt::format("{}[{}] is {}; it must be >= 0", name, d, widths[d]));
  return widths;
}

// The strides of a row-major array of the owned elements with their ghosts.
std::vector<Index> denseStrides(const DTensor& x, const std::vector<Index>& low,
                                const std::vector<Index>& high) {
  Shape extent = extents(x.layout().ownedBox(x.position()));
  for (std::size_t d = 0; d < extent.size(); ++d)
    extent[d] += low[d] + high[d];
  return rowMajorStrides(extent);
}

void place(TenonDTensor handle, const void* firstOwned, const TenonInt* strides,
           const TenonInt* ghostsLow, const TenonInt* ghostsHigh, TenonInt length, bool readOnly) {
  DTensor& x = deref(handle, "x");
  const auto low = ghostsOf(ghostsLow, x.rank(), "ghostsLow");
  const auto high = ghostsOf(ghostsHigh, x.rank(), "ghostsHigh");
  // A tensor on a constant array remembers that it is read only and refuses to be written, so the
  // cast is safe.
  x.placeArray(const_cast<void*>(firstOwned),
               strides ? listOf(strides, x.rank(), "strides") : denseStrides(x, low, high), low,
               high, readOnly, length);
}

// The strides of one of several arrays, of which dimension `dim` counts the arrays and has extent 1
// in each.
std::vector<Index> denseStridesOfOne(const DTensor& x, int dim, const std::vector<Index>& low,
                                     const std::vector<Index>& high) {
  Shape extent = extents(x.layout().ownedBox(x.position()));
  for (int d = 0; d < x.rank(); ++d)
    extent[d] = d == dim ? 1 : extent[d] + low[d] + high[d];
  return rowMajorStrides(extent);
}

void placeEach(TenonDTensor handle, int dim, const std::vector<void*>& firstOwned,
               const TenonInt* strides, const TenonInt* ghostsLow, const TenonInt* ghostsHigh,
               TenonInt length, bool readOnly) {
  DTensor& x = deref(handle, "x");
  const auto low = ghostsOf(ghostsLow, x.rank(), "ghostsLow");
  const auto high = ghostsOf(ghostsHigh, x.rank(), "ghostsHigh");
  x.placeArrays(dim, firstOwned,
                strides ? listOf(strides, x.rank(), "strides")
                        : denseStridesOfOne(x, dim, low, high),
                low, high, readOnly, length);
}

// These lend the local array to the program, where `values` is the tensor's hostValues or
// deviceValues. Until it is restored, an array lent for writing bars every other use of the tensor,
// and one lent for reading bars writing.
template <class Values>
void lendForWriting(TenonDTensor handle, Values values, TenonDataType type, void** array) {
  DTensor& x = deref(handle, "x");
  required(array, "array");
  // The checks come first, so that a refused call has lent nothing.
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
    const LayoutObject& object = deref(layout, "layout");
    createTogether(
        *object.comm(), x, "x", "layout and data type",
        [&] { return makeRef<DTensor>(object.comm(), object.layout(), type); },
        [&](const Ref<DTensor>& made) {
          return fmt::format("{}, {}", made->layout().describe(), dataTypeName(type));
        });
  });
}

TenonErrorCode TenonDTensorPlaceArray(TenonDTensor x, void* firstOwned, const TenonInt strides[],
                                      const TenonInt ghostsLow[], const TenonInt ghostsHigh[],
                                      TenonInt length) noexcept {
  return guard(__func__,
               [&] { place(x, firstOwned, strides, ghostsLow, ghostsHigh, length, false); });
}

TenonErrorCode TenonDTensorPlaceArrayRead(TenonDTensor x, const void* firstOwned,
                                          const TenonInt strides[], const TenonInt ghostsLow[],
                                          const TenonInt ghostsHigh[], TenonInt length) noexcept {
  return guard(__func__,
               [&] { place(x, firstOwned, strides, ghostsLow, ghostsHigh, length, true); });
}

TenonErrorCode TenonDTensorPlaceArrays(TenonDTensor x, int dim, int count, void* const firstOwned[],
                                       const TenonInt strides[], const TenonInt ghostsLow[],
                                       const TenonInt ghostsHigh[], TenonInt length) noexcept {
  return guard(__func__, [&] {
    placeEach(x, dim, listOf(firstOwned, count, "firstOwned"), strides, ghostsLow, ghostsHigh,
              length, false);
  });
}

TenonErrorCode TenonDTensorPlaceArraysRead(TenonDTensor x, int dim, int count,
                                           const void* const firstOwned[], const TenonInt strides[],
                                           const TenonInt ghostsLow[], const TenonInt ghostsHigh[],
                                           TenonInt length) noexcept {
  return guard(__func__, [&] {
    auto* arrays = const_cast<void* const*>(firstOwned);
    placeEach(x, dim, listOf(arrays, count, "firstOwned"), strides, ghostsLow, ghostsHigh, length,
              true);
  });
}

TenonErrorCode TenonDTensorPlaceComponents(TenonDTensor x, int dim, int count,
                                           void* const firstOwned[], const TenonInt strides[],
                                           const TenonInt ghostsLow[], const TenonInt ghostsHigh[],
                                           const TenonInt lengths[]) noexcept {
  return guard(__func__, [&] {
    DTensor& tensor = deref(x, "x");
    const int rank = tensor.rank();
    std::vector<Component> components;
    for (void* first : listOf(firstOwned, count, "firstOwned")) {
      // The lists have an entry for each dimension of each array, one array after the other.
      const auto of = [&](const TenonInt* list) {
        return list ? list + components.size() * static_cast<std::size_t>(rank) : nullptr;
      };
      Component one{.firstOwned = first,
                    .strides = {},
                    .ghostsLow = ghostsOf(of(ghostsLow), rank, "ghostsLow"),
                    .ghostsHigh = ghostsOf(of(ghostsHigh), rank, "ghostsHigh"),
                    .length = lengths ? lengths[components.size()] : 0};
      one.strides = strides ? listOf(of(strides), rank, "strides")
                            : denseStridesOfOne(tensor, dim, one.ghostsLow, one.ghostsHigh);
      components.push_back(std::move(one));
    }
    tensor.placeComponents(dim, components, false);
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
    std::copy_n(tensor.strides().begin(), tensor.rank(), &required(strides, "strides"));
  });
}
