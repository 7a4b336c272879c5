// SPDX-License-Identifier: BSD-2-Clause
// Tests the functions that replace those of the device in a library without CUDA (no_device.cpp),
// which this program links alone: a clear error, and calls that must work without a device.
#include "sys/device.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(NoDevice, SaysWhyAndWhatToDo) {
  for (void (*call)() : {+[] { Device::get(); }, +[] { Stream::make(); }})
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TENON_ERR_SUPPORT);
      EXPECT_EQ(error.text(),
                "there is no device: this Tenon was built without CUDA; configure it with "
                "-DTENON_WITH_CUDA=ON, or use the space host");
    }
  EXPECT_EQ(Device::list(), "no device: this Tenon was built without CUDA\n");
}

TEST(NoDevice, LetsTheHostWork) {
  int here = 0;
  Device::setPlaceOnNode(1, 2);
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
  EXPECT_EQ(Device::holderOf(&here), -1);
}

} // namespace
} // namespace tenon
