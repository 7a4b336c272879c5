// SPDX-License-Identifier: BSD-2-Clause
// Tests the registry of types: lookup by name, and the messages for unknown, duplicate and empty
// names.
#include "sys/errors/registry.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace {

using namespace tenon;

using Factory = std::function<int(int)>;

TEST(TypeRegistry, FindsWhatWasAdded) {
  TypeRegistry<Factory> types("layer type");
  types.add("twice", [](int x) { return 2 * x; });
  types.add("negative", [](int x) { return -x; });
  EXPECT_EQ(types.find("twice")(21), 42);
  EXPECT_EQ(types.find("negative")(1), -1);
  EXPECT_EQ(types.names(), (std::vector<std::string>{"negative", "twice"}));
  EXPECT_TRUE(types.contains("twice"));
  EXPECT_FALSE(types.contains("thrice"));
}

TEST(TypeRegistry, AnUnknownNameListsTheKnownAndTheNearest) {
  TypeRegistry<Factory> types("layer type");
  types.add("conv", {});
  types.add("affine", {});
  expectError(TENON_ERR_TYPE,
              {"unknown layer type 'afine'", "did you mean 'affine'", "affine, conv"},
              [&] { types.find("afine"); });
}

TEST(TypeRegistry, AnEmptyRegistrySaysSo) {
  TypeRegistry<Factory> types("viewer type");
  expectError(TENON_ERR_TYPE, {"unknown viewer type 'hdf5'", "none is registered"},
              [&] { types.find("hdf5"); });
}

TEST(TypeRegistry, NamesAreTakenOnce) {
  TypeRegistry<Factory> types("layer type");
  types.add("conv", {});
  expectError(TENON_ERR_ARG, {"'conv'", "already registered"}, [&] { types.add("conv", {}); });
  expectError(TENON_ERR_ARG, {"empty"}, [&] { types.add("", {}); });
}

} // namespace
