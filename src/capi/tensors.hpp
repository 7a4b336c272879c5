// SPDX-License-Identifier: BSD-2-Clause
// Lists of tensors in calls that evaluate. These must not allocate memory, so the list is an array
// on the stack, with a maximal length.
#pragma once

#include "capi/arguments.hpp"
#include "dtensor/dtensor.hpp"

#include <array>
#include <span>

namespace tenon {

// The tensors behind a list of `count` handles. If `optional`, a handle may be NULL, which is a
// cotangent or tangent of zero, or a result that is not requested.
template <class Tensor>
class Tensors {
public:
  Tensors(const TenonDTensor* handles, int count, const char* name, bool optional) : count_(count) {
    if (count < 0 || count > kMax)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the length of {} is {}; it must be in 0 to {}", name, count, kMax));
    for (int i = 0; i < count; ++i) {
      const TenonDTensor handle = (&required(handles, name))[i];
      tensors_[i] = optional && !handle ? nullptr : &deref(handle, name);
    }
  }
  std::span<Tensor* const> list() const {
    return {tensors_.data(), static_cast<std::size_t>(count_)};
  }

private:
  static constexpr int kMax = 64;     // maximal number of tensors
  std::array<Tensor*, kMax> tensors_; // the first count_ are set
  int count_;
};

} // namespace tenon
