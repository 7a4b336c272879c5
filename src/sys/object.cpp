// SPDX-License-Identifier: BSD-2-Clause
#include "sys/object.hpp"

#include "sys/live_objects.hpp"

namespace tenon {

Object::Object(const char* className) : className_(className), title_(className) {
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

void Object::setName(std::string name) {
  name_ = std::move(name);
  title_ = className_;
  if (!name_.empty())
    title_ += " '" + name_ + "'";
}

} // namespace tenon
