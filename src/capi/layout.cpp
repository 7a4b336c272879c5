// SPDX-License-Identifier: BSD-2-Clause
// TenonLayout, the distribution of a tensor over a process grid. A layout is created in one of
// these ways:
//   CreateSharded                      from a shape and properties, one per axis of the grid:
//                                      "S2,S3" splits dimension 2 over axis 0, and 3 over axis 1
//   CreateFromBoxes                    from the box that each rank owns
//   CreateStaggered                    from a layout of cells, for values on their faces
//   Create, CreateLike, Set..., SetUp  as a draft, which SetUp completes
// After that it is constant. Creation and SetUp are collective, all other calls are local. The last
// argument of createCollectively() returns a text that must be the same on all ranks. The
// failure of a setter on one rank is stored in the draft, separately for each dimension, and SetUp
// returns it on all ranks. The calls are declared in tenon/layout.h.
#include "comm/layout_object.hpp"

#include "capi/collective.hpp"
#include "comm/partition.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/view.hpp"

#include <tenon/layout.h>

#include <optional>

using namespace tenon;

namespace {

// Half-open intervals [low, high), one per entry of the lists; low = high is an empty one.
std::vector<Interval> intervalsOf(const TenonInt* low, const TenonInt* high, int count) {
  const auto begins = listOf(low, count, "low");
  const auto ends = listOf(high, count, "high");
  std::vector<Interval> result;
  for (int i = 0; i < count; ++i) {
    if (ends[i] < begins[i])
      throw Error(TENON_ERR_ARG, fmt::format("high[{0}] is {1}, below low[{0}], which is {2}; "
                                             "high is excluded, so that an empty box has equal "
                                             "numbers in a dimension",
                                             i, ends[i], begins[i]));
    result.push_back({begins[i], ends[i]});
  }
  return result;
}

// Checks a shape that does not go through LayoutDraft, which has the same check.
Shape checkedShape(Shape shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("shape[{}] is {}; an extent must be 0 or more", d, shape[d]));
  return shape;
}

// The body of a setter: set(draft). `function` is the name of the C function, under which a failure
// is stored.
template <class Set>
TenonErrorCode specify(const char* function, TenonLayout layout, Set set,
                       std::source_location where = std::source_location::current()) {
  const auto body = [&] { deref(layout, "layout").specify(function, set); };
  return guard(function, body, where);
}

// specify() for a setter of one dimension. A stored failure is cleared only by a later success for
// the same dimension, so the name under which it is stored contains the dimension.
template <class Set>
TenonErrorCode specifyDim(const char* function, TenonLayout layout, int dim, Set set,
                          std::source_location where = std::source_location::current()) {
  const auto body = [&] {
    deref(layout, "layout").specify(fmt::format("{}({})", function, dim), set);
  };
  return guard(function, body, where);
}

// The layout behind a handle. Throws TENON_ERR_STATE before SetUp.
const Layout& valueOf(TenonLayout layout) {
  return deref(layout, "layout").layout();
}

// This rank's position in the process grid of the layout.
int positionIn(TenonLayout layout) {
  return valueOf(layout).grid().position(deref(layout, "layout").comm()->rank());
}

} // namespace

TenonErrorCode TenonLayoutCreateSharded(TenonPartition partition, int ndim, const TenonInt shape[],
                                        const char* properties, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const Partition& grid = deref(partition, "partition");
    createCollectively(
        *grid.comm(), layout, "layout", "the layout",
        [&] {
          LayoutDraft draft(grid.gridPtr());
          draft.setShape(listOf(shape, ndim, "shape"));
          draft.setProperties(parseProperties(textOf(properties, "properties")));
          return makeRef<LayoutObject>(grid.comm(), draft.build());
        },
        [](const Ref<LayoutObject>& object) { return object->layout().describe(); });
  });
}

TenonErrorCode TenonLayoutCreateFromBoxes(MPI_Comm comm, int ndim, const TenonInt shape[],
                                          const TenonInt low[], const TenonInt high[],
                                          TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    createCollectively(
        *communicator, layout, "layout", "a layout of boxes",
        [&] {
          if (ndim < 1 || ndim > kMaxDims)
            throw Error(TENON_ERR_ARG,
                        fmt::format("ndim is {}; a tensor has 1 to {} dimensions", ndim, kMaxDims));
          std::optional<Shape> whole;
          if (shape)
            whole = checkedShape(listOf(shape, ndim, "shape"));
          return makeRef<LayoutObject>(
              communicator, gatherBoxes(*communicator, intervalsOf(low, high, ndim), whole));
        },
        // The boxes differ between ranks; gatherBoxes() has made the same layout on all of them.
        [](const Ref<LayoutObject>&) { return std::string("gathered"); });
  });
}

TenonErrorCode TenonLayoutCreate(TenonPartition partition, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const Partition& grid = deref(partition, "partition");
    createCollectively(
        *grid.comm(), layout, "layout", "the process grid",
        [&] { return makeRef<LayoutObject>(grid.comm(), grid.gridPtr()); },
        [&](const auto&) { return grid.grid().describe(); });
  });
}

TenonErrorCode TenonLayoutCreateLike(TenonLayout model, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const LayoutObject& modelObject = deref(model, "model");
    createCollectively(
        *modelObject.comm(), layout, "layout", "the model",
        [&] {
          return makeRef<LayoutObject>(modelObject.comm(), LayoutDraft(modelObject.layout()));
        },
        [&](const auto&) { return modelObject.layout().describe(); });
  });
}

TenonErrorCode TenonLayoutCreateStaggered(TenonLayout cells, const TenonInt faces[],
                                          TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const LayoutObject& cellObject = deref(cells, "cells");
    createCollectively(
        *cellObject.comm(), layout, "layout", "the staggered layout",
        [&] {
          const Layout& cellLayout = cellObject.layout();
          // The widths and modes of halos of cells are not those of faces.
          LayoutDraft draft(cellLayout.withoutHalos());
          const std::vector<Index> extraElements = listOf(faces, cellLayout.ndim(), "faces");
          for (int d = 0; d < cellLayout.ndim(); ++d) {
            if (extraElements[d] != 0 && extraElements[d] != 1)
              throw Error(TENON_ERR_ARG,
                          fmt::format("faces[{}] is {}; it must be 1 where values lie on faces, "
                                      "which are one more than cells, and else 0",
                                      d, extraElements[d]));
            if (extraElements[d] == 1)
              draft.stagger(d);
          }
          return makeRef<LayoutObject>(cellObject.comm(), draft.build());
        },
        [](const Ref<LayoutObject>& object) { return object->layout().describe(); });
  });
}

TenonErrorCode TenonLayoutSetShape(TenonLayout layout, int ndim, const TenonInt shape[]) noexcept {
  return specify(__func__, layout,
                 [&](LayoutDraft& draft) { draft.setShape(listOf(shape, ndim, "shape")); });
}

TenonErrorCode TenonLayoutSetProperties(TenonLayout layout, const char* properties) noexcept {
  return specify(__func__, layout, [&](LayoutDraft& draft) {
    draft.setProperties(parseProperties(textOf(properties, "properties")));
  });
}

TenonErrorCode TenonLayoutSetSplitOrder(TenonLayout layout, int dim, int count,
                                        const int axes[]) noexcept {
  return specifyDim(__func__, layout, dim, [&](LayoutDraft& draft) {
    draft.setSplitOrder(dim, listOf(axes, count, "axes"));
  });
}

TenonErrorCode TenonLayoutSetCuts(TenonLayout layout, int dim, int count,
                                  const TenonInt cuts[]) noexcept {
  return specifyDim(__func__, layout, dim,
                    [&](LayoutDraft& draft) { draft.setCuts(dim, listOf(cuts, count, "cuts")); });
}

TenonErrorCode TenonLayoutSetHalo(TenonLayout layout, int dim, TenonInt low, TenonInt high,
                                  TenonBoundary lowMode, TenonBoundary highMode) noexcept {
  return specifyDim(__func__, layout, dim, [&](LayoutDraft& draft) {
    draft.setHaloWidths(dim, low, high, boundaryOf(lowMode, "lowMode"),
                        boundaryOf(highMode, "highMode"));
  });
}

TenonErrorCode TenonLayoutSetHaloBoxes(TenonLayout layout, int dim, int count, const TenonInt low[],
                                       const TenonInt high[], TenonBoundary lowMode,
                                       TenonBoundary highMode) noexcept {
  return specifyDim(__func__, layout, dim, [&](LayoutDraft& draft) {
    draft.setHaloBoxes(dim, intervalsOf(low, high, count), boundaryOf(lowMode, "lowMode"),
                       boundaryOf(highMode, "highMode"));
  });
}

TenonErrorCode TenonLayoutSetUp(TenonLayout layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    deref(layout, "layout").setUp();
  });
}

TenonErrorCode TenonLayoutGetDual(TenonLayout layout, TenonLayout* dual) noexcept {
  return guard(__func__, [&] {
    required(dual, "dual");
    giveHandle(dual, makeRef<LayoutObject>(deref(layout, "layout").comm(), valueOf(layout).dual()));
  });
}

TenonErrorCode TenonLayoutGetPartition(TenonLayout layout, TenonPartition* partition) noexcept {
  return guard(__func__, [&] {
    required(partition, "partition");
    giveHandle(partition,
               makeRef<Partition>(deref(layout, "layout").comm(), valueOf(layout).gridPtr()));
  });
}

TenonErrorCode TenonLayoutGetDim(TenonLayout layout, int* ndim) noexcept {
  return guard(__func__, [&] { required(ndim, "ndim") = deref(layout, "layout").ndim(); });
}

TenonErrorCode TenonLayoutGetShape(TenonLayout layout, TenonInt shape[]) noexcept {
  return guard(__func__, [&] { copyList(valueOf(layout).shape(), shape, "shape"); });
}

TenonErrorCode TenonLayoutGetProperties(TenonLayout layout, char properties[], TenonInt length,
                                        TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(describe(valueOf(layout).properties()), {properties, length, needed}, "properties");
  });
}

TenonErrorCode TenonLayoutGetBox(TenonLayout layout, TenonInt low[], TenonInt high[]) noexcept {
  return guard(__func__, [&] { copyBox(valueOf(layout).box(positionIn(layout)), low, high); });
}

TenonErrorCode TenonLayoutGetOwnedBox(TenonLayout layout, TenonInt low[],
                                      TenonInt high[]) noexcept {
  return guard(__func__, [&] { copyBox(valueOf(layout).ownedBox(positionIn(layout)), low, high); });
}

TenonErrorCode TenonLayoutIsActive(TenonLayout layout, TenonBool* active) noexcept {
  return guard(__func__,
               [&] { required(active, "active") = valueOf(layout).isHolder(positionIn(layout)); });
}

TenonErrorCode TenonLayoutIsEqual(TenonLayout layout, TenonLayout other,
                                  TenonBool* equal) noexcept {
  return guard(__func__, [&] {
    // Without communication: equal layouts on different communicators are not interchangeable.
    const LayoutObject& a = deref(layout, "layout");
    const LayoutObject& b = deref(other, "other");
    required(equal, "equal") = a.comm() == b.comm() && a.layout() == b.layout();
  });
}

TenonErrorCode TenonLayoutDestroy(TenonLayout* layout) noexcept {
  return guard(__func__, [&] { destroy(layout, "layout"); });
}
