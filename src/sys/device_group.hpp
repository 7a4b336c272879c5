// SPDX-License-Identifier: BSD-2-Clause
// A group of devices of several processes, one per process, whose sums and copies use NCCL. The
// order of NCCL's additions depends on the machine and on the size of the arrays. Life cycle,
// collective on the group except where noted:
//     name = makeName();                     // on one process, which sends it to the others
//     DeviceGroup group(name, members, member);
//     group.confirm();                       // local; once all members have reported success
//     group.allReduce(...); ...              // queues work
//     group.failure(); group.end();          // or giveUp() (local) if all know of a failure
// The header is independent of CUDA, like device.hpp.
#pragma once

#include "sys/device.hpp"

#include <tenon/types.h>

#include <optional>
#include <span>

namespace tenon {

class DeviceGroup {
public:
  // Identifier by which the processes of a group find each other.
  using Name = std::array<char, 128>;

  // Opens the library on first use and returns its version, such as "NCCL 2.27.3". Throws
  // TENON_ERR_SUPPORT with the loader's text if it cannot be opened.
  static std::string library();
  static Name makeName();

  // Waits for the other processes of the group; `member` is the number of this one. Two members on
  // one device are an error of the library.
  DeviceGroup(const Name& name, int members, int member);
  // A confirmed group (see confirm()) that was neither ended nor given up is leaked: other members
  // can still read data that this process has sent, or its memory.
  ~DeviceGroup();
  void confirm() noexcept { isConfirmed_ = true; }
  // Waits for the work that this process has queued. Returns the error, if any, that prevents a
  // collective end().
  std::optional<Error> failure() noexcept;
  // Waits for all members, which must all call end(). Throws TENON_ERR_LIBRARY.
  void end();
  // Ends the group locally, after a failure that all members know of.
  void giveUp() noexcept;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  // Each call queues work, which waits on the device for the work of the other members. All members
  // must make the same calls in the same order. Throws TENON_ERR_LIBRARY, also for the failure of
  // an earlier call. Arrays must be on the device and must not overlap.

  // Sums n elements; the result is on all members.
  void allReduce(const void* from, void* to, Index n, TenonDataType type, const Stream& stream);
  // Sums n elements; the result is on member 0, and other members write nothing.
  void reduce(const void* from, void* to, Index n, TenonDataType type, const Stream& stream);
  // Copies n elements of member 0 to all members.
  void broadcast(const void* from, void* to, Index n, TenonDataType type, const Stream& stream);
  // Sums an array and distributes the result: member i receives [cuts[i], cuts[i + 1]). allGather()
  // assembles such an array from the pieces of all members.
  void reduceScatter(const void* from, void* to, std::span<const Index> cuts, TenonDataType type,
                     const Stream& stream);
  void allGather(const void* from, void* to, std::span<const Index> cuts, TenonDataType type,
                 const Stream& stream);

private:
  void checkNoFailure() const;
  template <class Call>
  void queue(const char* what, const Stream& stream, Call call);

  void* handle_ = nullptr; // null after the end
  Event last_;             // follows the work that was queued last
  std::optional<Error> failure_;
  bool isConfirmed_ = false;
};

} // namespace tenon
