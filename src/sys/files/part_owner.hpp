// SPDX-License-Identifier: BSD-2-Clause
// Ownership of a file that is being written (a part file, part_file.hpp). A small file PART.owner
// beside it is locked by the writer. The system releases the lock when the writer ends, even if it
// is killed; thus leftovers of killed programs can be distinguished from files that another program
// is writing now. For example, run.h5 is written as .run.h5.part.1f3c, and .run.h5.part.1f3c.owner
// contains "812 n3": process 812 on host n3.
#pragma once

#include <optional>
#include <string>

namespace tenon {

class PartOwner {
public:
  // Creates and locks the owner file for a part that does not exist yet. isHeld() is false, with
  // the reason in errno, if the name is taken.
  explicit PartOwner(const std::string& part);
  ~PartOwner();
  PartOwner(const PartOwner&) = delete;
  PartOwner& operator=(const PartOwner&) = delete;

  bool isHeld() const noexcept { return file_ >= 0; }

private:
  std::string path_;
  int file_ = -1;
};

// The name of the part to which a file belongs: `name` without .owner, or `name` itself.
std::string partOf(const std::string& name);
// The writer of the part, such as "process 812 on host n3", or nothing if it has ended. On file
// systems without locks, the process is looked up if it is on this host; a process on another host
// counts as ended after a day.
std::optional<std::string> writerOf(const std::string& part);

} // namespace tenon
