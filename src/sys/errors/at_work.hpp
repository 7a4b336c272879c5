// SPDX-License-Identifier: BSD-2-Clause
// RAII flag that marks an object as running: for objects that call user functions, which could call
// the same object again.
#pragma once

namespace tenon {

class AtWork {
public:
  explicit AtWork(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  ~AtWork() { flag_ = false; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

private:
  bool& flag_;
};

} // namespace tenon
