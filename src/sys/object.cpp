// SPDX-License-Identifier: BSD-2-Clause
#include "sys/object.hpp"

#include "sys/live_objects.hpp"
#include "sys/plain_text.hpp"
#include "sys/text.hpp"

namespace tenon {

namespace {

// What sentences call an object of this class.
std::string nounOf(std::string_view className) {
  if (className == "DTensor")
    return "tensor";
  if (className == "LinearOp")
    return "operator";
  std::string noun; // "placement list" of PlacementList
  for (const char c : className)
    noun += (c >= 'A' && c <= 'Z' && !noun.empty()) ? std::string(" ") + c : std::string(1, c);
  return lowered(noun);
}

} // namespace

Object::Object(const char* className) : className_(className), title_("the " + nounOf(className)) {
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
  checkPlain("the new name of " + title_, name);
  name_ = std::move(name);
  const std::string noun = nounOf(className_);
  title_ = name_.empty() ? "the " + noun : noun + " \"" + name_ + '"';
}

} // namespace tenon
