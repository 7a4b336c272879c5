// SPDX-License-Identifier: BSD-2-Clause
// Linked into tests of device code that run on a GPU. On a machine without one, all tests of the
// program are skipped, with the reason; any other error of the device is a failure.
#include "sys/device.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

class NeedsDevice : public testing::Environment {
  void SetUp() override {
    try {
      Device::get();
    } catch (const Error& error) {
      if (error.code() != TENON_ERR_SUPPORT)
        throw;
      GTEST_SKIP() << error.text();
    }
  }
};

testing::Environment* const kNeedsDevice = testing::AddGlobalTestEnvironment(new NeedsDevice);

} // namespace
} // namespace tenon
