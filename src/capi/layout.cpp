// SPDX-License-Identifier: BSD-2-Clause
// What a layout that is set up can be asked.
#include "capi/collective.hpp"
#include "sys/guard.hpp"

#include <tenon/layout.h>

using namespace tenon;

namespace {

const Layout& valueOf(TenonLayout layout) {
  return deref(layout, "layout").layout();
}

int positionIn(TenonLayout layout) {
  return valueOf(layout).mesh().position(deref(layout, "layout").comm()->rank());
}

} // namespace

TenonErrorCode TenonLayoutGetDual(TenonLayout layout, TenonLayout* dual) noexcept {
  return guard(__func__, [&] {
    required(dual, "dual");
    give(dual, makeRef<LayoutObject>(deref(layout, "layout").comm(), valueOf(layout).dual()));
  });
}

TenonErrorCode TenonLayoutGetPartition(TenonLayout layout, TenonPartition* partition) noexcept {
  return guard(__func__, [&] {
    required(partition, "partition");
    give(partition, makeRef<Partition>(deref(layout, "layout").comm(), valueOf(layout).meshPtr()));
  });
}

TenonErrorCode TenonLayoutGetDim(TenonLayout layout, int* ndim) noexcept {
  return guard(__func__, [&] { required(ndim, "ndim") = deref(layout, "layout").rank(); });
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
    const LayoutObject& a = deref(layout, "layout");
    const LayoutObject& b = deref(other, "other");
    required(equal, "equal") = a.comm() == b.comm() && a.layout() == b.layout();
  });
}

TenonErrorCode TenonLayoutView(TenonLayout layout) noexcept {
  return guard(__func__, [&] {
    const LayoutObject& object = deref(layout, "layout");
    printOnce(*object.comm(),
              fmt::format("{}: {}", headingOf(object),
                          object.isSetUp() ? object.layout().describe() : "not set up"));
  });
}

TenonErrorCode TenonLayoutDestroy(TenonLayout* layout) noexcept {
  return guard(__func__, [&] { destroy(layout, "layout"); });
}
