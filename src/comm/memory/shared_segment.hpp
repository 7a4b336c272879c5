// SPDX-License-Identifier: BSD-2-Clause
// A file in /dev/shm that the processes of a node map: each makes one and maps those of the others.
// Its size is only reserved: memory is committed range by range, so that a full /dev/shm is an
// answer and not a signal. Once its name is removed it vanishes with its last process. Only the
// owner keeps it open, with one descriptor for each segment, and leaves some to the program.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <string>

namespace tenon {

class SharedSegment {
public:
  SharedSegment() = default;
  // Makes a new file. Throws TENON_ERR_MEMORY with the reason, also for a file larger than the
  // process may have, and if too few descriptors are left.
  static SharedSegment create(const std::string& name, Index bytes);
  // Maps another process's file.
  static SharedSegment open(const std::string& name, Index bytes);
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  ~SharedSegment();

  std::byte* data() const noexcept { return data_; }
  Index bytes() const noexcept { return bytes_; }

  // Gives the range memory; false if there is none left.
  bool commit(Index begin, Index bytes) noexcept;
  // Gives back the memory of the range's whole pages.
  void discard(Index begin, Index bytes) noexcept;

  // Copies pages of this process into the range and maps it in their place; false, with errno, if
  // the system does not do it. Throws TENON_ERR_MEMORY if the pages cannot be read.
  bool takeOver(std::byte* pages, Index begin, Index bytes);
  // Puts private pages, with the content of the range, in the place of pages that the range was
  // mapped over.
  bool giveUp(std::byte* pages, Index begin, Index bytes) noexcept;
  // Whether all these pages are mapped from this file.
  bool isMappedOver(const std::byte* pages, Index bytes) const;

  static void unlink(const std::string& name) noexcept;
  static Index pageBytes() noexcept;
  // The size of /dev/shm; 0 if there is none.
  static Index capacity() noexcept;
  // The largest file that this process may have: beyond it the system sends a signal.
  static Index largest() noexcept;

private:
  SharedSegment(const std::string& name, Index bytes, int flags);
  void closeFile() noexcept;

  int file_ = -1; // the owner's, to commit and discard memory
  std::byte* data_ = nullptr;
  Index bytes_ = 0;
};

} // namespace tenon
