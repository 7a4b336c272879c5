// SPDX-License-Identifier: BSD-2-Clause
// The one object of a class that is made where it is first asked for, in memory that the program
// has from its beginning, and never destroyed: it is there while static objects are destroyed, and
// when no memory is left.
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
