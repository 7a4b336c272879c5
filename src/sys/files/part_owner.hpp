// SPDX-License-Identifier: BSD-2-Clause
// Who writes a file that is not whole yet. Beside it is a small file PART.owner, which the writer
// holds locked: the system gives the lock back when the writer ends, however it ends. So what a
// killed program has left is told from what another program is writing at this moment.
#pragma once

#include <optional>
#include <string>

namespace tenon {

class PartOwner {
public:
  // Makes and locks the file for a part that is not there yet. It is not `isHeld` where somebody
  // has that name, and the reason is in errno.
  explicit PartOwner(const std::string& part);
  ~PartOwner();
  PartOwner(const PartOwner&) = delete;
  PartOwner& operator=(const PartOwner&) = delete;

  bool isHeld() const noexcept { return file_ >= 0; }

private:
  std::string path_;
  int file_ = -1;
};

// The name of the part that a file belongs to: that of an owner's file, or the name itself.
std::string partOf(const std::string& name);
// Who writes the part, such as "process 812 on host n3"; nothing if nobody does any more. Where the
// file system has no locks, a process of this host is looked for, and one of another host is taken
// for gone after a day.
std::optional<std::string> writerOf(const std::string& part);

} // namespace tenon
