// SPDX-License-Identifier: BSD-2-Clause
// Says of an object that it is at work, as long as this lives: for objects that run functions of the user's, which
// could call it again.
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
