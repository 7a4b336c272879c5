// SPDX-License-Identifier: BSD-2-Clause
// Numbers that kernels read at each call, where the kernels of a context work.
#pragma once

#include "kernels/context.hpp"

#include <vector>

namespace tenon {

template <class T>
class ReadList {
public:
  ReadList() = default;
  ReadList(KernelContext& context, std::vector<T> values) {
    if (context.space() == Space::Host) {
      here_ = std::move(values);
      return;
    }
    there_ = Buffer(Index(values.size() * sizeof(T)), "a list that kernels read", context.memory());
    if (!values.empty())
      context.fetch(there_.data<T>(), values.data(), there_.bytes());
  }
  // Null for none.
  const T* data() const {
    return here_.empty() ? static_cast<const Buffer&>(there_).data<T>() : here_.data();
  }

private:
  std::vector<T> here_;
  Buffer there_;
};

} // namespace tenon
