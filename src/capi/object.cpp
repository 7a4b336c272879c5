// SPDX-License-Identifier: BSD-2-Clause
#include "capi/arguments.hpp"
#include "io/checkpoint.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/plain_text.hpp"

#include <tenon/object.h>

namespace tenon {

Object& derefObject(const void* handle, const char* name, const char* expectedClass) {
  if (!handle)
    throw Error(TENON_ERR_NULL, fmt::format("{} is NULL; pass a {}", name, expectedClass));
  if (!isLiveObject(handle))
    throw Error(
        TENON_ERR_HANDLE,
        fmt::format(
            "{} is not a valid handle: its object was destroyed or never created; pass a {}", name,
            expectedClass));
  auto& object = *const_cast<Object*>(static_cast<const Object*>(handle));
  noteObject(object);
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

TenonErrorCode TenonObjectGetComm(TenonObject object, MPI_Comm* comm) noexcept {
  using namespace tenon;
  return guard(__func__, [&] {
    Object& known = any(object);
    required(comm, "comm");
    const CommPtr found =
        commOfOneOf<Partition, LayoutObject, DTensor, LinearOp, Layer, Optimizer, Dataset, Trainer,
                    Checkpoint, FieldSeries, MachineObject>(known);
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
    any(object).addHandle();
  });
}

TenonErrorCode TenonObjectGetReferences(TenonObject object, int* references) noexcept {
  return tenon::guard(__func__, [&] {
    const tenon::Object& known = any(object);
    tenon::required(references, "references") = known.references();
  });
}
