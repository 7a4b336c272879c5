// SPDX-License-Identifier: BSD-2-Clause
// Marks an object as being at work for as long as this lives: for objects that run user functions,
// which could call the object again.
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
