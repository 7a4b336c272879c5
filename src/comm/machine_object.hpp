// SPDX-License-Identifier: BSD-2-Clause
// A machine, and which processes or cores are its devices: what the handle TenonMachine points to.
#pragma once

#include "comm/communicator.hpp"
#include "machine/places.hpp"
#include "sys/object.hpp"

namespace tenon {

class MachineObject : public Object {
public:
  static constexpr const char* kClass = "Machine";
  static constexpr const char* kNoSource = "written by TenonMachineSave(), which does not know it";
  // Of a description: device i is rank i.
  explicit MachineObject(Machine machine);
  // As it was found; `comm` is that of the job, or NULL.
  MachineObject(JoinedPlaces found, CommPtr comm, std::string source = kNoSource);

  const CommPtr& comm() const noexcept { return comm_; }
  const Machine& machine() const noexcept { return found_.machine; }
  // The rank that device i is, or the core.
  Index placed(Index device) const { return isInOrder_ ? device : found_.order[device]; }
  void addLink(Link link);
  std::string describe() const;
  // Where its numbers come from.
  const std::string& source() const noexcept { return source_; }

private:
  JoinedPlaces found_;
  CommPtr comm_;
  std::string source_ = kNoSource;
  bool isInOrder_;
};

} // namespace tenon
