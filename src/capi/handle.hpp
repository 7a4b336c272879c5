// SPDX-License-Identifier: BSD-2-Clause
// From handles to objects and back. A handle's value is the address of the object's header
// (tenon::Object); whether an object still lives there is looked up, never read from its memory, so
// a stale or foreign pointer is an error and not a crash.
#pragma once

#include "comm/communicator.hpp"
#include "sys/errors/guard.hpp"
#include "sys/errors/object.hpp"

#include <tenon/ext/planner.h>
#include <tenon/object.h>
#include <tenon/trainer.h>

#include <fmt/format.h>

#include <type_traits>
#include <typeinfo>

namespace tenon {

// Which class a handle points to: one line for each class. The class is only declared here, so that a call's file reads
// the classes that it works on and no others: it includes the header of each class whose handles it takes.
template <class Handle>
struct ClassOf;
template <>
struct ClassOf<TenonPartition> : std::type_identity<class Partition> {};
template <>
struct ClassOf<TenonLayout> : std::type_identity<class LayoutObject> {};
template <>
struct ClassOf<TenonDTensor> : std::type_identity<class DTensor> {};
template <>
struct ClassOf<TenonLinearOp> : std::type_identity<class LinearOp> {};
template <>
struct ClassOf<TenonLayer> : std::type_identity<class Layer> {};
template <>
struct ClassOf<TenonMachine> : std::type_identity<class MachineObject> {};
template <>
struct ClassOf<TenonOptimizer> : std::type_identity<class Optimizer> {};
template <>
struct ClassOf<TenonDataset> : std::type_identity<class Dataset> {};
template <>
struct ClassOf<TenonTrainer> : std::type_identity<class Trainer> {};
template <>
struct ClassOf<TenonCheckpoint> : std::type_identity<class Checkpoint> {};
template <>
struct ClassOf<TenonFieldSeries> : std::type_identity<class FieldSeries> {};
template <>
struct ClassOf<TenonPlacementList> : std::type_identity<class PlacementList> {};
template <>
struct ClassOf<TenonReductionPrograms> : std::type_identity<class ReductionPrograms> {};
template <>
struct ClassOf<TenonPlan> : std::type_identity<class LayerPlan> {};
template <>
struct ClassOf<TenonPlanner> : std::type_identity<class NamedPlan> {};

// The object behind any handle; `name` is the argument's name in messages.
Object& derefObject(const void* handle, const char* name, const char* expectedClass);
[[noreturn]] void throwWrongClass(const Object& object, const char* name, const char* expected);

template <class Handle>
auto& deref(Handle handle, const char* name) {
  using Class = typename ClassOf<Handle>::type;
  Object& object = derefObject(handle, name, Class::kClass);
  if (typeid(object) == typeid(Class)) // spares most handles the cast, which is slow
    return static_cast<Class&>(object);
  if (auto* found = dynamic_cast<Class*>(&object))
    return *found;
  throwWrongClass(object, name, Class::kClass);
}

template <class T>
T& required(T* pointer, const char* name) {
  if (!pointer)
    throw Error(TENON_ERR_NULL,
                fmt::format("{} is NULL; pass the address of a variable or array", name));
  return *pointer;
}

// The handle by which an object is lent to a user's function, without a reference. C has no handle of a constant object,
// so the compiler's knowledge that the object is not to be changed ends here.
template <class Handle>
Handle handleOf(const typename ClassOf<Handle>::type& object) {
  return reinterpret_cast<Handle>(const_cast<Object*>(static_cast<const Object*>(&object)));
}

// Hands a reference over to the caller. The address must have passed required().
template <class Handle, class T>
void give(Handle* handle, Ref<T> object) {
  Object* header = object.detach();
  header->addHandle();
  *handle = reinterpret_cast<Handle>(header);
}

// Takes back the reference that a caller's handle holds. That reference ends with the calls that work on the object,
// and the one that is returned is another. A handle that Tenon only lent to the caller holds no reference.
template <class Handle>
auto take(Handle handle, const char* name) {
  auto& object = deref(handle, name);
  if (object.handles() < 1)
    throw Error(TENON_ERR_HANDLE,
                fmt::format("{} is a handle that Tenon has lent to a function of the program; it "
                            "is not to be destroyed or given away",
                            name));
  object.dropHandle();
  const auto another = Ref<std::remove_reference_t<decltype(object)>>::share(&object);
  releaseAfterCalls(object);
  return another;
}

// The body of every Destroy.
template <class Handle>
void destroy(Handle* handle, const char* name) {
  if (!required(handle, name))
    return;
  take(*handle, name);
  *handle = nullptr;
}

// The communicator of a collective call: that of its first live handle, so that a wrong handle on one rank becomes an
// error on all ranks wherever another handle of the call still names the communicator.
template <class Handle, class... Handles>
CommPtr commOf(const char* name, Handle handle, Handles... others) {
  if constexpr (sizeof...(others) > 0) {
    if (!isLiveObject(handle))
      return commOf(name, others...);
  }
  return deref(handle, name).comm();
}

} // namespace tenon
