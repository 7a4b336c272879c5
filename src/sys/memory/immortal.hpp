// SPDX-License-Identifier: BSD-2-Clause
// The single instance of a class, constructed at first use in static memory and never destroyed: it
// is available while static objects are destroyed, and when memory has run out. For example,
// immortal<Handlers>() is the list of error handlers.
#pragma once

#include <cstddef>
#include <new>

namespace tenon {

template <class T>
T& immortal() noexcept(noexcept(T())) {
  alignas(T) static std::byte place[sizeof(T)];
  static T* const object = new (place) T;
  return *object;
}

} // namespace tenon
