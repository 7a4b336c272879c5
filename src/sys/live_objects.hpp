// SPDX-License-Identifier: BSD-2-Clause
// The list of objects that are alive: for the report at Finalize of what was never destroyed, and
// to tell a handle from a stale or foreign pointer without reading what it points to.
#pragma once

#include <string>
#include <vector>

namespace tenon {

class Object;

struct LiveObject {
  std::string className;
  std::string name;
  int references = 0;
  int handles = 0; // those of the references that callers hold
};

// In order of creation.
std::vector<LiveObject> liveObjects();
bool isLiveObject(const void* pointer) noexcept;

// Called by Object alone.
void addLiveObject(const Object* object);
void removeLiveObject(const Object* object) noexcept;

} // namespace tenon
