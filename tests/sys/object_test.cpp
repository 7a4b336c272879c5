// SPDX-License-Identifier: BSD-2-Clause
// Tests the base class of objects: references, names and titles, the state counter, and the list of
// live objects, by which stale handles are detected.
#include "sys/errors/object.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tenon;

class Thing : public Object {
public:
  explicit Thing(int& destroyed) : Object("Thing"), destroyed_(destroyed) {}
  ~Thing() override { ++destroyed_; }

private:
  int& destroyed_;
};

TEST(Object, DiesWithItsLastReference) {
  int destroyed = 0;
  {
    auto first = makeRef<Thing>(destroyed);
    Ref<Object> second = first;
    EXPECT_EQ(first->references(), 2);
    first = {};
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(second->references(), 1);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Object, HasAPlainName) {
  int destroyed = 0;
  const auto thing = makeRef<Thing>(destroyed);
  thing->setName("gr\u00f6\u00dfe");
  expectError(TENON_ERR_ARG, {"'a\\x1b[2J'", "\\x1b at position 2", "control character"},
              [&] { thing->setName("a\x1b[2J"); });
  expectError(TENON_ERR_ARG, {"'a\\x0a'", "position 2"}, [&] { thing->setName("a\n"); });
  expectError(TENON_ERR_ARG, {"position 1", "control"}, [&] { thing->setName("\u0080"); });
  for (const char* name : {"gr\xf6", "\xed\xa0\x80", "\xc0\x80", "\xe2\x82"})
    expectError(TENON_ERR_ARG, {"not UTF-8"}, [&] { thing->setName(name); });
  EXPECT_EQ(thing->title(), "thing \"gr\u00f6\u00dfe\"");
}

TEST(Object, DetachLeavesTheReferenceToTheHandle) {
  int destroyed = 0;
  Thing* handle = makeRef<Thing>(destroyed).detach();
  EXPECT_EQ(handle->references(), 1);
  handle->release();
  EXPECT_EQ(destroyed, 1);
}

TEST(Object, TitleNamesClassAndName) {
  int destroyed = 0;
  auto thing = makeRef<Thing>(destroyed);
  EXPECT_EQ(thing->title(), "the thing");
  thing->setName("conv1");
  EXPECT_EQ(thing->title(), "thing \"conv1\"");
}

TEST(Object, StateGrowsWithChanges) {
  int destroyed = 0;
  auto thing = makeRef<Thing>(destroyed);
  const auto before = thing->state();
  thing->changed();
  EXPECT_GT(thing->state(), before);
}

TEST(LiveObjects, AreListedInOrderOfCreation) {
  int destroyed = 0;
  ASSERT_TRUE(liveObjects().empty());
  auto first = makeRef<Thing>(destroyed);
  auto second = makeRef<Thing>(destroyed);
  first->setName("first");
  second->setName("second");
  auto again = second;
  const auto list = liveObjects();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].className, "Thing");
  EXPECT_EQ(list[0].name, "first");
  EXPECT_EQ(list[0].references, 1);
  EXPECT_EQ(list[1].name, "second");
  EXPECT_EQ(list[1].references, 2);
}

TEST(LiveObjects, StaleAndForeignPointersAreNone) {
  int destroyed = 0;
  auto thing = makeRef<Thing>(destroyed);
  const Object* const pointer = thing.get();
  EXPECT_TRUE(isLiveObject(pointer));
  EXPECT_TRUE(pointer->isLive());
  thing = {};
  EXPECT_FALSE(isLiveObject(pointer));
  EXPECT_FALSE(isLiveObject(&destroyed));
  EXPECT_FALSE(isLiveObject(nullptr));
}

} // namespace
