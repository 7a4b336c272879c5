// SPDX-License-Identifier: BSD-2-Clause
#include "sys/object.hpp"

#include "sys/live_objects.hpp"

namespace tenon {

Object::Object(const char* className) : className_(className) {
  addLiveObject(this);
}

Object::~Object() {
  removeLiveObject(this);
  magic_ = 0;
}

void Object::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}

std::string Object::title() const {
  if (name_.empty())
    return className_;
  return std::string(className_) + " '" + name_ + "'";
}

} // namespace tenon
