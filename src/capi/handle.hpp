// SPDX-License-Identifier: BSD-2-Clause
// From handles to objects and back. A handle's value is the address of the object's header
// (tenon::Object); whether an object still lives there is looked up, never read from its memory, so
// a stale or foreign pointer is an error and not a crash.
#pragma once

#include "comm/layout_object.hpp"
#include "comm/machine_object.hpp"
#include "comm/partition.hpp"
#include "io/field_series.hpp"
#include "layer/core/layer.hpp"
#include "linop/linear_op.hpp"
#include "planner/network_plan.hpp"
#include "reduction/plan_objects.hpp"
#include "sys/errors/guard.hpp"
#include "sys/errors/object.hpp"
#include "train/trainer.hpp"

#include <tenon/object.h>
#include <tenon/trainer.h>

#include <fmt/format.h>

#include <type_traits>
#include <typeinfo>

namespace tenon {

// Which class a handle points to: one line for each class.
template <class Handle>
struct ClassOf;
template <>
struct ClassOf<TenonPartition> : std::type_identity<Partition> {};
template <>
struct ClassOf<TenonLayout> : std::type_identity<LayoutObject> {};
template <>
struct ClassOf<TenonDTensor> : std::type_identity<DTensor> {};
template <>
struct ClassOf<TenonLinearOp> : std::type_identity<LinearOp> {};
template <>
struct ClassOf<TenonLayer> : std::type_identity<Layer> {};
template <>
struct ClassOf<TenonMachine> : std::type_identity<MachineObject> {};
template <>
struct ClassOf<TenonOptimizer> : std::type_identity<Optimizer> {};
template <>
struct ClassOf<TenonDataset> : std::type_identity<Dataset> {};
template <>
struct ClassOf<TenonTrainer> : std::type_identity<Trainer> {};
template <>
struct ClassOf<TenonCheckpoint> : std::type_identity<Checkpoint> {};
template <>
struct ClassOf<TenonFieldSeries> : std::type_identity<FieldSeries> {};
template <>
struct ClassOf<TenonPlacementList> : std::type_identity<PlacementList> {};
template <>
struct ClassOf<TenonReductionPrograms> : std::type_identity<ReductionPrograms> {};
template <>
struct ClassOf<TenonPlan> : std::type_identity<NetworkPlan> {};

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

// An object lent to a user's function, without a reference.
inline TenonLayout handleOf(const LayoutObject& object) {
  return reinterpret_cast<TenonLayout>(const_cast<Object*>(static_cast<const Object*>(&object)));
}
inline TenonDTensor handleOf(const DTensor& object) {
  return reinterpret_cast<TenonDTensor>(const_cast<Object*>(static_cast<const Object*>(&object)));
}
inline TenonLayer handleOf(const Layer& object) {
  return reinterpret_cast<TenonLayer>(const_cast<Object*>(static_cast<const Object*>(&object)));
}

// Hands a reference over to the caller. The address must have passed required().
template <class Handle, class T>
void give(Handle* handle, Ref<T> object) {
  Object* header = object.detach();
  header->addHandle();
  *handle = reinterpret_cast<Handle>(header);
}

// The reference that a caller's handle holds, taken back from him: it ends with the calls that work on the object, and
// what is returned is another. A handle that was lent to him holds none.
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

// The communicator of a collective call is that of its first live handle, so that a wrong handle on
// one rank becomes an error on all wherever another handle can tell.
template <class Handle, class... Handles>
CommPtr commOf(const char* name, Handle handle, Handles... others) {
  if constexpr (sizeof...(others) > 0) {
    if (!isLiveObject(handle))
      return commOf(name, others...);
  }
  return deref(handle, name).comm();
}

} // namespace tenon
