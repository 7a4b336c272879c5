// SPDX-License-Identifier: BSD-2-Clause
// Linked into tests of device code that run on a GPU: where there is none, all of them are skipped,
// with the reason.
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
