// SPDX-License-Identifier: BSD-2-Clause
// Conversion between arguments of the C API and C++ objects:
//   deref(handle, name)           returns the object behind a handle, checked
//   required(pointer, name)       returns what a pointer argument points to, checked
//   commOf(name, handles...)      returns the communicator of a collective call
//   giveHandle(&handle, object)   returns an object to the caller, who then owns one reference
//   take(handle, name)            takes over the caller's reference, as destroy() does
//   listOf, textOf                checked copies of the caller's arrays and strings
//   copyList, copyText, copyBox   copy results into the caller's arrays
//   boundaryOf, spaceOf           convert constants of the C API
// `name` is always the argument's name in error messages. A handle is a pointer: the address of the
// object's base class tenon::Object. deref() looks the address up in the list of live objects
// before it reads the memory, so a stale or foreign pointer is an error, not a crash.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/layout/boundary.hpp"
#include "geometry/layout/box.hpp"
#include "sys/errors/guard.hpp"
#include "sys/errors/object.hpp"
#include "sys/memory/memory.hpp"

#include <tenon/layout.h>
#include <tenon/object.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace tenon {

// Maps a handle type to its C++ class, one line per class: ClassOf<TenonLayer>::type is Layer. The
// classes are only declared here, to keep compile times short: each source file includes the
// headers of the classes that it uses.
template <class Handle>
struct ClassOf;
template <>
struct ClassOf<TenonPartition> : std::type_identity<class Partition> {};
template <>
struct ClassOf<TenonLayout> : std::type_identity<class LayoutObject> {};
template <>
struct ClassOf<TenonIndexMap> : std::type_identity<class IndexMapObject> {};
template <>
struct ClassOf<TenonEdges> : std::type_identity<class EdgesObject> {};
template <>
struct ClassOf<TenonLinks> : std::type_identity<class LinksObject> {};
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
struct ClassOf<TenonCheckpoint> : std::type_identity<class Checkpoint> {};
template <>
struct ClassOf<TenonFieldSeries> : std::type_identity<class FieldSeries> {};
template <>
struct ClassOf<TenonPlacementList> : std::type_identity<class PlacementList> {};
template <>
struct ClassOf<TenonReductionPrograms> : std::type_identity<class ReductionPrograms> {};
template <>
struct ClassOf<TenonPlan> : std::type_identity<class LayerPlan> {};

// Returns the object behind a handle of any class; `name` is the argument's name in error texts.
// Throws TENON_ERR_NULL or TENON_ERR_HANDLE.
Object& derefObject(const void* handle, const char* name, const char* expectedClass);
[[noreturn]] void throwWrongClass(const Object& object, const char* name, const char* expected);

// Returns the object behind a handle of one class. Throws also if the object is of another class.
template <class Handle>
auto& deref(Handle handle, const char* name) {
  using Class = typename ClassOf<Handle>::type;
  Object& object = derefObject(handle, name, Class::kClass);
  if (typeid(object) == typeid(Class)) // the usual case, much cheaper than a dynamic_cast
    return static_cast<Class&>(object);
  if (auto* derived = dynamic_cast<Class*>(&object))
    return *derived;
  throwWrongClass(object, name, Class::kClass);
}

// Returns what a pointer argument points to. Throws TENON_ERR_NULL if the pointer is NULL.
template <class T>
T& required(T* pointer, const char* name) {
  if (!pointer)
    throw Error(TENON_ERR_NULL,
                fmt::format("{} is NULL; pass the address of a variable or array", name));
  return *pointer;
}

// Makes a borrowed handle, to pass to a user's function: it holds no reference, and is valid only
// during the call of that function. C has no handles of constant objects, hence the const_cast.
template <class Handle>
Handle handleOf(const typename ClassOf<Handle>::type& object) {
  return reinterpret_cast<Handle>(const_cast<Object*>(static_cast<const Object*>(&object)));
}

// Stores a handle that owns the reference in the caller's variable. The address of the variable
// must have been checked by required().
template <class Handle, class T>
void giveHandle(Handle* handle, Ref<T> object) {
  Object* header = object.detach();
  header->addHandle();
  *handle = reinterpret_cast<Handle>(header);
}

// Takes over the reference that a user's handle owns: the handle becomes invalid, and the caller of
// take() gets a new reference. The old one is released when all calls that are using the object
// have returned, so a user's function can destroy the object on which it was called. Throws
// TENON_ERR_HANDLE for a borrowed handle, which owns no reference.
template <class Handle>
auto take(Handle handle, const char* name) {
  auto& object = deref(handle, name);
  if (object.handles() < 1)
    throw Error(TENON_ERR_HANDLE,
                fmt::format("{} is a handle that Tenon has lent to a function of the program; it "
                            "is not to be destroyed or given away",
                            name));
  object.dropHandle();
  const auto reference = Ref<std::remove_reference_t<decltype(object)>>::share(&object);
  releaseAfterCalls(object);
  return reference;
}

// The body of every Destroy: releases the reference and sets the handle to NULL.
template <class Handle>
void destroy(Handle* handle, const char* name) {
  if (!required(handle, name))
    return;
  take(*handle, name);
  *handle = nullptr;
}

// Returns the communicator of a collective call with several handles: that of the first valid one.
// So a rank that passes an invalid handle can still take part in the call, and report its error to
// the other ranks.
template <class Handle, class... Handles>
CommPtr commOf(const char* name, Handle handle, Handles... others) {
  if constexpr (sizeof...(others) > 0) {
    if (!isLiveObject(handle))
      return commOf(name, others...);
  }
  return deref(handle, name).comm();
}

// Returns a copy of an array of `count` values. `values` may be NULL only if count is 0.
template <class T>
std::vector<T> listOf(const T* values, TenonInt count, const char* name) {
  if (count < 0)
    throw Error(TENON_ERR_ARG, fmt::format("the length of {} is {}; it must be >= 0", name, count));
  if (count > kMaxElements)
    throw Error(TENON_ERR_ARG, fmt::format("the length of {} is {}; no array has more than {}",
                                           name, count, kMaxElements));
  if (!values && count > 0)
    throw Error(TENON_ERR_NULL, fmt::format("{} is NULL; pass an array of length {}", name, count));
  return std::vector<T>(values, values + count);
}

inline std::string textOf(const char* text, const char* name) {
  if (!text)
    throw Error(TENON_ERR_NULL, fmt::format("{} is NULL; pass a string", name));
  return text;
}

inline std::string textOrEmpty(const char* text) {
  return text ? text : "";
}

// The user's buffer for a text: its address, its size in bytes, and the address for the size that
// is needed, terminating zero included. `text` may be NULL to query the size only, and `needed` may
// be NULL.
struct TextBuffer {
  char* text;
  TenonInt length;
  TenonInt* needed;
};

// Copies a text into the buffer, with its terminating zero. Throws TENON_ERR_ARG if the buffer is
// too short.
inline void copyText(const std::string& text, const TextBuffer& buffer, const char* name) {
  const auto needed = static_cast<TenonInt>(text.size()) + 1;
  if (buffer.needed)
    *buffer.needed = needed;
  else
    required(buffer.text, name);
  if (!buffer.text)
    return;
  if (buffer.length < needed)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has a length of {} characters, but {} are needed; call with NULL "
                            "for {} to get the number",
                            name, buffer.length, needed, name));
  std::memcpy(buffer.text, text.c_str(), text.size() + 1);
}

// copyText() for calls that also return other values: `text` and `needed` may both be NULL, and
// nothing is copied then.
inline void copyTextIfWanted(const std::string& text, const TextBuffer& buffer, const char* name) {
  if (buffer.text || buffer.needed)
    copyText(text, buffer, name);
}

// The public constants are equal to the internal ones, which allows conversion by a cast.
static_assert(static_cast<int>(Boundary::None) == TENON_BOUNDARY_NONE &&
              static_cast<int>(Boundary::Zero) == TENON_BOUNDARY_ZERO &&
              static_cast<int>(Boundary::Periodic) == TENON_BOUNDARY_PERIODIC &&
              static_cast<int>(Boundary::Reflect) == TENON_BOUNDARY_REFLECT &&
              static_cast<int>(Boundary::Replicate) == TENON_BOUNDARY_REPLICATE &&
              static_cast<int>(Boundary::Values) == TENON_BOUNDARY_VALUES &&
              static_cast<int>(Boundary::Symmetric) == TENON_BOUNDARY_SYMMETRIC &&
              static_cast<int>(Boundary::Odd) == TENON_BOUNDARY_ODD &&
              static_cast<int>(Boundary::OddPoint) == TENON_BOUNDARY_ODD_POINT &&
              static_cast<int>(Boundary::Linked) == TENON_BOUNDARY_LINKED &&
              static_cast<int>(Boundary::Pole) == TENON_BOUNDARY_POLE &&
              static_cast<int>(Boundary::PolePoint) == TENON_BOUNDARY_POLE_POINT &&
              static_cast<int>(Boundary::PoleVector) == TENON_BOUNDARY_POLE_VECTOR &&
              static_cast<int>(Boundary::PolePointVector) == TENON_BOUNDARY_POLE_POINT_VECTOR &&
              kBoundaries == TENON_BOUNDARY_POLE_POINT_VECTOR + 1);

inline Boundary boundaryOf(TenonBoundary mode, const std::string& name) {
  if (mode < TENON_BOUNDARY_NONE || mode >= kBoundaries)
    throw Error(TENON_ERR_ARG, fmt::format("{} is {}; use a TENON_BOUNDARY_... constant", name,
                                           static_cast<int>(mode)));
  return static_cast<Boundary>(mode);
}

inline Space spaceOf(TenonMemorySpace space) {
  if (space != TENON_MEMORY_HOST && space != TENON_MEMORY_DEVICE)
    throw Error(TENON_ERR_ARG, fmt::format("space is {}; use TENON_MEMORY_HOST or "
                                           "TENON_MEMORY_DEVICE",
                                           static_cast<int>(space)));
  return space == TENON_MEMORY_HOST ? Space::Host : Space::Device;
}

// Copies all values to the user's array, which must be long enough.
template <class T>
void copyList(const std::vector<T>& values, T* target, const char* name) {
  if (!values.empty())
    std::copy(values.begin(), values.end(), &required(target, name));
}

// Copies the ends of a box: low[d] and high[d] are those of [low, high) in dimension d.
inline void copyBox(const Box& box, TenonInt* low, TenonInt* high) {
  required(low, "low");
  required(high, "high");
  for (std::size_t d = 0; d < box.size(); ++d) {
    low[d] = box[d].begin;
    high[d] = box[d].end;
  }
}

// Copies integers into an array of the given length, unless it is NULL. Throws TENON_ERR_ARG if it
// is too short; `what` names the list in the error text.
inline void copyUpTo(const std::vector<Index>& source, TenonInt length, TenonInt* values,
                     const std::string& what) {
  if (!values)
    return;
  if (length < static_cast<TenonInt>(source.size()))
    throw Error(TENON_ERR_ARG, fmt::format("{} has {} values, but length is {}; pass a longer "
                                           "array",
                                           what, source.size(), length));
  std::copy(source.begin(), source.end(), values);
}

} // namespace tenon
