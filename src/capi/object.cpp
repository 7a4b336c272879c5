// SPDX-License-Identifier: BSD-2-Clause
// What all objects have in common, whatever their class, and the look-up behind deref(). A handle
// of any class is asked for its communicator one class after the other: Object lives in sys, which
// knows no MPI.
#include "sys/errors/object.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "comm/machine_object.hpp"
#include "comm/partition.hpp"
#include "dtensor/dtensor.hpp"
#include "io/checkpoint.hpp"
#include "io/field_series.hpp"
#include "layer/core/layer.hpp"
#include "linop/linear_op.hpp"
#include "plan/layer_plan.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/plain_text.hpp"
#include "train/dataset.hpp"
#include "train/optimizer.hpp"

#include <tenon/object.h>

namespace tenon {

Object& derefObject(const void* handle, const char* name, const char* expectedClass) {
  if (!handle)
    throw Error(TENON_ERR_NULL, fmt::format("{} is NULL; pass a {}", name, expectedClass));
  // A list of live objects is asked, and not a mark in the object: memory behind a stale handle
  // must not be read.
  if (!isLiveObject(handle))
    throw Error(
        TENON_ERR_HANDLE,
        fmt::format(
            "{} is not a valid handle: its object was destroyed or never created; pass a {}", name,
            expectedClass));
  auto& object = *const_cast<Object*>(static_cast<const Object*>(handle));
  noteObject(
      object); // so that the object outlives the call, even if its handle is destroyed meanwhile
  return object;
}

void throwWrongClass(const Object& object, const char* name, const char* expected) {
  throw Error(TENON_ERR_HANDLE,
              fmt::format("{} is a handle of {}; pass a {}", name, object.title(), expected));
}

} // namespace tenon

namespace {

tenon::Object& any(TenonObject object) {
  return tenon::derefObject(object, "object", "handle of any class");
}

template <class Class>
tenon::CommPtr commIfA(tenon::Object& object) {
  auto* found = dynamic_cast<Class*>(&object);
  return found ? found->comm() : nullptr;
}

template <class... Classes>
tenon::CommPtr commOfOneOf(tenon::Object& object) {
  tenon::CommPtr comm;
  ((comm = comm ? comm : commIfA<Classes>(object)), ...);
  return comm;
}

// Null for an object that is local to each process.
tenon::CommPtr commOfAny(tenon::Object& object) {
  using namespace tenon;
  return commOfOneOf<Partition, LayoutObject, DTensor, LinearOp, Layer, Optimizer, Dataset,
                     Checkpoint, FieldSeries, MachineObject, LayerPlan>(object);
}

} // namespace

TenonErrorCode TenonObjectSetName(TenonObject object, const char* name) noexcept {
  return tenon::guard(__func__, [&] { any(object).setName(tenon::textOrEmpty(name)); });
}

TenonErrorCode TenonObjectGetName(TenonObject object, char name[], TenonInt length,
                                  TenonInt* needed) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::copyText(any(object).name(), {name, length, needed}, "name");
  });
}

TenonErrorCode TenonObjectSetOptionsPrefix(TenonObject object, const char* prefix) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::Object& known = any(object);
    std::string text = tenon::textOrEmpty(prefix);
    tenon::checkPlain("the options prefix of " + known.title(), text);
    known.setPrefix(std::move(text));
  });
}

TenonErrorCode TenonObjectGetOptionsPrefix(TenonObject object, char prefix[], TenonInt length,
                                           TenonInt* needed) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::copyText(any(object).prefix(), {prefix, length, needed}, "prefix");
  });
}

TenonErrorCode TenonObjectGetClass(TenonObject object, char name[], TenonInt length,
                                   TenonInt* needed) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::copyText(any(object).className(), {name, length, needed}, "name");
  });
}

TenonErrorCode TenonObjectGetType(TenonObject object, char type[], TenonInt length,
                                  TenonInt* needed) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::copyText(std::string(any(object).type()), {type, length, needed}, "type");
  });
}

TenonErrorCode TenonObjectView(TenonObject object) noexcept {
  using namespace tenon;
  return guard(__func__, [&] {
    Object& known = any(object);
    const std::string text = known.describe();
    // An object without a communicator is that of one process: each that asks prints it.
    const CommPtr comm = commOfAny(known);
    if (!comm || comm->rank() == 0)
      print(viewText(text));
  });
}

TenonErrorCode TenonObjectGetComm(TenonObject object, MPI_Comm* comm) noexcept {
  using namespace tenon;
  return guard(__func__, [&] {
    Object& known = any(object);
    required(comm, "comm");
    const CommPtr found = commOfAny(known);
    if (!found)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has no communicator; one of its class is local to each rank",
                              known.title()));
    *comm = found->mpi();
  });
}

TenonErrorCode TenonObjectRetain(TenonObject object) noexcept {
  return tenon::guard(__func__, [&] {
    any(object).retain();
    any(object).addHandle(); // the reference is the caller's, who destroys it
  });
}

TenonErrorCode TenonObjectGetReferences(TenonObject object, int* references) noexcept {
  return tenon::guard(__func__, [&] {
    const tenon::Object& known = any(object);
    tenon::required(references, "references") = known.references();
  });
}
