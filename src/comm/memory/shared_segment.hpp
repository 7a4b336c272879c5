// SPDX-License-Identifier: BSD-2-Clause
// SharedSegment: a file in /dev/shm that the processes of a node map. Each process creates one
// segment and maps the segments of the other processes:
//
//   create()   by the owner: reserves the size, without memory
//   open()     by the other processes, with the name and the size; then unlink() removes the name
//   commit()   by the owner: allocates memory for a range. A store to a range that is not committed
//              raises a signal if /dev/shm is full; commit() returns false instead
//   discard()  by the owner: frees the memory of a range
//
// Without a name, the system deletes the file when the last process that maps it ends. Only the
// owner has the file open, with one descriptor per segment; create() fails if too few descriptors
// would remain for the program.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <string>

namespace tenon {

class SharedSegment {
public:
  SharedSegment() = default;
  // Creates a file. Throws TENON_ERR_MEMORY with the reason, also for a file larger than the
  // process can create, and if too few descriptors are left.
  static SharedSegment create(const std::string& name, Index bytes);
  // Maps the file of another process.
  static SharedSegment open(const std::string& name, Index bytes);
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  ~SharedSegment();

  std::byte* data() const noexcept { return data_; }
  Index bytes() const noexcept { return bytes_; }

  // Allocates memory for the range; false if there is none left.
  bool commit(Index begin, Index bytes) noexcept;
  // Frees the memory of the whole pages in the range.
  void discard(Index begin, Index bytes) noexcept;

  // Copies pages of this process into the range and maps it in their place. Returns false, with
  // errno, if the system does not allow it. Throws TENON_ERR_MEMORY if the pages cannot be read.
  bool commitPages(std::byte* pages, Index begin, Index bytes);
  // The inverse: replaces pages that the range was mapped over by private pages with the same
  // content.
  bool giveUp(std::byte* pages, Index begin, Index bytes) noexcept;
  // True if all these pages are mapped from this file.
  bool isMappedOver(const std::byte* pages, Index bytes) const;

  static void unlink(const std::string& name) noexcept;
  static Index pageBytes() noexcept;
  // The size of /dev/shm, or 0 if it does not exist.
  static Index capacity() noexcept;
  // The largest file that this process can create; beyond it the system sends a signal.
  static Index largest() noexcept;

private:
  SharedSegment(const std::string& name, Index bytes, int flags);
  void closeFile() noexcept;

  int file_ = -1; // Descriptor, only of the owner, to commit and discard memory.
  std::byte* data_ = nullptr;
  Index bytes_ = 0;
};

} // namespace tenon
