// SPDX-License-Identifier: BSD-2-Clause
// The memory of the stand-in's device: pages that nobody may touch, except while work of a stream
// runs. Each allocation ends at a guard page, freed addresses are never given out again, and fresh
// memory is NaN (of a large piece the first and the last MiB, so that the rest takes no time).
//
// Memory that other processes may open lies in a file without a name, which they map. What its
// owner frees while they have it open becomes NaN there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

using CUcontext = struct CUctx_st*;

namespace tenon::standin {

// Ends the program with a line on standard error.
[[noreturn]] void refuse(const std::string& what);

// Whether host memory was allocated by CUDA or registered with it, so that kernels reach it.
// (cudart.cpp)
bool isRegistered(const void* p);

class DeviceMemory {
public:
  static DeviceMemory& get();

  // Private memory is of the pool, which keeps what is given back for more of it, until it is
  // trimmed.
  enum class Kind { Private, Showable, Shown };
  // NULL beyond the limit.
  void* allocate(std::size_t bytes, Kind kind, CUcontext context);
  bool deallocate(void* memory);
  // Until it keeps no more than this.
  void trimPool(std::size_t bytes) { kept_ = std::min(kept_, bytes); }
  // Whether the driver has as much for itself and for NVIDIA's libraries, beside what the pool
  // keeps.
  bool hasRoomFor(std::size_t bytes) const { return inUse_ + kept_ + bytes <= limit_; }
  // TENON_STANDIN_BYTES unless it is set.
  void setLimit(std::size_t bytes) { limit_ = bytes; }

  // Where another process finds an allocation of a process.
  struct Place {
    int process, file;
    std::size_t offset, bytes;
  };
  // Of an allocation, which is shown from now on; none for other addresses, and for those that may
  // not be shown.
  std::optional<Place> show(const void* memory);
  // The memory of another process, once however often it is opened; NULL if it cannot be reached.
  void* openShown(const Place& place, CUcontext context);
  bool closeShown(void* memory);

  bool contains(const void* p) const { return p >= base_ && p < base_ + kBytes; }
  // In which an allocation was made; NULL for other addresses.
  CUcontext contextOf(const void* p) const;
  // Refuses a range that is not within one allocation.
  void checkRange(const void* p, std::size_t bytes, const char* who) const;

  // Between them, possibly nested, the device's work runs, and an allocation becomes usable when it
  // is first touched.
  void open() { ++depth_; }
  void close();
  bool isOpen() const { return depth_ > 0; }
  // False if there is no allocation here, or it is usable already.
  bool makeUsable(const void* p);

  // For the report of a fault: "byte 24 of an allocation of 1680 bytes".
  std::string describe(const void* p) const;

private:
  struct Allocation {
    std::size_t bytes, pages;
    bool isAlive;
    Kind kind = Kind::Private;
    int timesOpened = 0; // if it is another process's
    CUcontext context = nullptr;
  };
  static constexpr std::size_t kBytes = std::size_t(256) << 30, kPage = 4096;

  DeviceMemory();
  const std::pair<char* const, Allocation>* around(const void* p) const;
  char* addressesFor(std::size_t pages);
  void mapFile(char* memory, std::size_t pages, int file, std::size_t offset);
  char* mapShown(const Place& place, CUcontext context);
  void end(char* memory);

  char* base_;
  std::size_t next_ = kPage, inUse_ = 0, kept_ = 0, limit_;
  std::map<char*, Allocation> known_;
  std::set<char*> usable_;                              // of these, while work runs
  std::map<std::pair<int, std::size_t>, char*> opened_; // by process and offset
  int file_ = -1;
  int depth_ = 0;
};

} // namespace tenon::standin
