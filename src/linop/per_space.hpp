// SPDX-License-Identifier: BSD-2-Clause
// What an operator holds for arrays on the host and, apart from it, for those on the device: made when the first of
// them comes.
#pragma once

#include "sys/memory.hpp"

#include <array>
#include <memory>

namespace tenon {

template <class T>
class PerSpace {
public:
  // make() gives the new one.
  template <class Make>
  T& of(Space space, Make make) {
    std::unique_ptr<T>& made = made_[static_cast<std::size_t>(space)];
    if (!made)
      made = make();
    return *made;
  }
  // NULL as long as none has come.
  T* find(Space space) const noexcept { return made_[static_cast<std::size_t>(space)].get(); }
  // visit(T&) for those that there are.
  template <class Visit>
  void visit(Visit visit) const {
    for (const std::unique_ptr<T>& made : made_)
      if (made)
        visit(*made);
  }

private:
  std::array<std::unique_ptr<T>, 2> made_;
};

} // namespace tenon
