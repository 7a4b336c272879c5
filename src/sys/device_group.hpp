// SPDX-License-Identifier: BSD-2-Clause
// The devices of several processes as a group, among which a library of the device's vendor, NCCL,
// sums and copies arrays. It adds in an order of its own, which depends on the machine and on the
// size of the arrays. Nothing here names CUDA, as in device.hpp.
#pragma once

#include "sys/device.hpp"

#include <tenon/types.h>

#include <optional>
#include <span>

namespace tenon {

class DeviceGroup {
public:
  // By which the processes of a group find each other. One of them makes it, and tells the others.
  using Name = std::array<char, 128>;

  // The library, opened by the first call, and its version, such as "NCCL 2.27.3". Throws
  // TENON_ERR_SUPPORT with the text of the loader if it cannot be opened.
  static std::string library();
  static Name makeName();

  // Waits for the other processes of the group, of which this one is number `member`. Two of them
  // on one device are an error of the library.
  DeviceGroup(const Name& name, int members, int member);
  // A group that others have too, as confirm() says, stays with the process unless it was ended or
  // given up: they may still read what this process has sent, or its memory.
  ~DeviceGroup();
  void confirm() noexcept { isConfirmed_ = true; }
  // Waits for what this process has queued, and says why the group cannot be ended with the others.
  std::optional<Error> failure() noexcept;
  // Waits for the others, which all end it. Throws TENON_ERR_LIBRARY.
  void end();
  // Ends it alone, after a failure that all members know of.
  void giveUp() noexcept;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  // Each call queues its work, which waits on the device for that of the others. All members make
  // the same calls in one order. They throw TENON_ERR_LIBRARY, also for a failure of an earlier
  // one. Arrays are on the device and apart from each other.

  // The sum of n elements, on all members.
  void allReduce(const void* from, void* to, Index n, TenonDataType type, const Stream& stream);
  // The sum of n elements, on the first member; others write nothing.
  void reduce(const void* from, void* to, Index n, TenonDataType type, const Stream& stream);
  // Copies n elements of the first member to all.
  void broadcast(const void* from, void* to, Index n, TenonDataType type, const Stream& stream);
  // The sum of an array that is cut in a piece for each member, by `cuts` with both ends, which
  // each member gets its piece of; and such an array from the pieces of all.
  void reduceScatter(const void* from, void* to, std::span<const Index> cuts, TenonDataType type,
                     const Stream& stream);
  void allGather(const void* from, void* to, std::span<const Index> cuts, TenonDataType type,
                 const Stream& stream);

private:
  void checkNoFailure() const;
  template <class Call>
  void queue(const char* what, const Stream& stream, Call call);

  void* handle_ = nullptr; // null: was ended
  Event last_;             // behind what was queued last
  std::optional<Error> failure_;
  bool isConfirmed_ = false;
};

} // namespace tenon
