// SPDX-License-Identifier: BSD-2-Clause
// The calls that work on handles of all classes (name, options prefix, view, references), and
// derefObject(), the look-up of a handle, which all functions of the C API use through deref(). A
// handle is the address of an object's base class Object. All calls are local. The calls are
// declared in tenon/object.h, derefObject() in capi/arguments.hpp.
//
// The base class Object cannot have a virtual function for the object's communicator, because its
// module, sys, does not depend on MPI. Instead, commOfAny() tries a list of classes by
// dynamic_cast.
#include "sys/errors/object.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "comm/machine_object.hpp"
#include "comm/partition.hpp"
#include "dtensor/dtensor.hpp"
#include "io/checkpoint.hpp"
#include "io/field_series.hpp"
#include "layer/core/layer.hpp"
#include "linop/exchange/make_edges.hpp"
#include "linop/exchange/make_index_map.hpp"
#include "linop/exchange/make_links.hpp"
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
  // The list of live objects is searched first, since the memory of a destroyed object must not be
  // read.
  if (!isLiveObject(handle))
    throw Error(
        TENON_ERR_HANDLE,
        fmt::format(
            "{} is not a valid handle: its object was destroyed or never created; pass a {}", name,
            expectedClass));
  auto& object = *const_cast<Object*>(static_cast<const Object*>(handle));
  // The object then outlives this call, even if a user function destroys its handle meanwhile.
  noteObject(object);
  return object;
}

void throwWrongClass(const Object& object, const char* name, const char* expected) {
  throw Error(TENON_ERR_HANDLE,
              fmt::format("{} is a handle of {}; pass a {}", name, object.title(), expected));
}

} // namespace tenon

namespace {

// Returns the object behind a handle that can be of any class.
tenon::Object& any(TenonObject object) {
  return tenon::derefObject(object, "object", "handle of any class");
}

// Returns the communicator of the object if it is of this class, otherwise null.
template <class Class>
tenon::CommPtr commIfA(tenon::Object& object) {
  auto* derived = dynamic_cast<Class*>(&object);
  return derived ? derived->comm() : nullptr;
}

// The same for several classes.
template <class... Classes>
tenon::CommPtr commOfOneOf(tenon::Object& object) {
  tenon::CommPtr comm;
  ((comm = comm ? comm : commIfA<Classes>(object)), ...);
  return comm;
}

// Returns the communicator of an object whose text is the same on all ranks, or null.
tenon::CommPtr commOfText(tenon::Object& object) {
  using namespace tenon;
  return commOfOneOf<Partition, LayoutObject, DTensor, LinearOp, Layer, Optimizer, Dataset,
                     Checkpoint, FieldSeries, MachineObject, LayerPlan>(object);
}

// Returns the communicator of an object, or null if it is local to each process. The texts of index
// maps, links and edges tell what the calling rank has.
tenon::CommPtr commOfAny(tenon::Object& object) {
  using namespace tenon;
  const CommPtr comm = commOfText(object);
  return comm ? comm : commOfOneOf<IndexMapObject, LinksObject, EdgesObject>(object);
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
    tenon::Object& base = any(object);
    std::string text = tenon::textOrEmpty(prefix);
    tenon::checkPlain("the options prefix of " + base.title(), text);
    base.setPrefix(std::move(text));
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
    Object& base = any(object);
    const std::string text = base.describe();
    // Printed by each process that calls this if its text is its own, otherwise by rank 0.
    const CommPtr comm = commOfText(base);
    if (!comm || comm->rank() == 0)
      print(viewText(text));
  });
}

TenonErrorCode TenonObjectGetComm(TenonObject object, MPI_Comm* comm) noexcept {
  using namespace tenon;
  return guard(__func__, [&] {
    Object& base = any(object);
    required(comm, "comm");
    const CommPtr communicator = commOfAny(base);
    if (!communicator)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has no communicator; one of its class is local to each rank",
                              base.title()));
    *comm = communicator->mpi();
  });
}

TenonErrorCode TenonObjectRetain(TenonObject object) noexcept {
  return tenon::guard(__func__, [&] {
    any(object).retain();
    any(object).addHandle(); // the new reference is a handle, which the caller destroys
  });
}

TenonErrorCode TenonObjectGetReferences(TenonObject object, int* references) noexcept {
  return tenon::guard(__func__, [&] {
    const tenon::Object& base = any(object);
    tenon::required(references, "references") = base.references();
  });
}
