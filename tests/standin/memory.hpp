// SPDX-License-Identifier: BSD-2-Clause
// The device memory of the stand-in for CUDA. It consists of pages of this process, made so that
// mistakes in the use of device memory are found:
//   - pages cannot be accessed (PROT_NONE) except while work of a stream runs, so an access by host
//     code ends the program with a message
//   - each allocation is followed by a guard page, and freed addresses are never used again
//   - new memory is NaN (bytes 0xff); of a large allocation only the first and the last MiB, to
//     save time
//
// As in CUDA IPC, a process can export an allocation ("show" it), and other processes can map it
// ("open" it). Such memory is in an anonymous file (memfd_create()), which they map. If the owner
// frees it while others have it open, it becomes NaN for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

using CUcontext = struct CUctx_st*;

namespace tenon::standin {

// Ends the program with a line on standard error and exit code 86 (refused.hpp), because it has
// used CUDA wrongly.
[[noreturn]] void refuse(const std::string& what);

// Whether host memory was allocated by CUDA or registered with it, which makes it accessible to
// kernels. Implemented in cudart.cpp.
bool isRegistered(const void* p);

// The memory of the stand-in's device, in this process.
class DeviceMemory {
public:
  static DeviceMemory& get();

  // Private memory is from a memory pool (cudaMallocFromPoolAsync()), which retains freed bytes for
  // later allocations until it is trimmed. Showable memory is from cudaMalloc(); it is Shown once
  // it was exported.
  enum class Kind { Private, Showable, Shown };
  // Returns NULL if the limit of device memory would be exceeded.
  void* allocate(std::size_t bytes, Kind kind, CUcontext context);
  // Returns false if this is not an allocation of this process that is in use.
  bool deallocate(void* memory);
  // Lets the pool release memory until it retains at most `bytes` bytes.
  void trimPool(std::size_t bytes) { kept_ = std::min(kept_, bytes); }
  // Whether so many bytes are free for the driver and NVIDIA's libraries, which cannot use the
  // memory that the pool retains.
  bool hasRoomFor(std::size_t bytes) const { return inUse_ + kept_ + bytes <= limit_; }
  // Sets the limit of device memory, in place of TENON_STANDIN_BYTES.
  void setLimit(std::size_t bytes) { limit_ = bytes; }

  // The address of an allocation for other processes: its process, the descriptor of the file in
  // that process, and the bytes in the file. It is the content of a cudaIpcMemHandle_t.
  struct Place {
    int process, file;
    std::size_t offset, bytes;
  };
  // Exports an allocation. Returns none for an address that is not the begin of an allocation, and
  // for private memory.
  std::optional<Place> show(const void* memory);
  // Maps an allocation of another process. If it is open already, the same address is returned, and
  // it must be closed once more. Returns NULL if the other process cannot be reached.
  void* openShown(const Place& place, CUcontext context);
  bool closeShown(void* memory);

  // Whether this is an address of the device, allocated or not.
  bool contains(const void* p) const { return p >= base_ && p < base_ + kBytes; }
  // Returns the context in which the memory was allocated; NULL for other addresses.
  CUcontext contextOf(const void* p) const;
  // Ends the program if these bytes are not within one allocation in use; `who` is the user of the
  // range, for the message.
  void checkRange(const void* p, std::size_t bytes, const char* who) const;

  // Begin and end of work of the device; pairs can be nested. In between, each allocation becomes
  // accessible when the work first touches it; close() makes all inaccessible again.
  void open() { ++depth_; }
  void close();
  bool isOpen() const { return depth_ > 0; }
  // Makes the pages of an allocation accessible. Called by the handler of SIGSEGV. Returns false if
  // this address is in none, or its pages were accessible already: the access is then an error.
  bool makeUsable(const void* p);

  // For the report of a fault: "byte 24 of an allocation of 1680 bytes".
  std::string describe(const void* p) const;

private:
  struct Allocation {
    std::size_t bytes, pages;
    bool isAlive;
    Kind kind = Kind::Private;
    int timesOpened = 0; // for memory of another process: openShown() calls without closeShown()
    CUcontext context = nullptr;
  };
  // Bytes of the range of addresses, which is reserved once, and of a page.
  static constexpr std::size_t kBytes = std::size_t(256) << 30, kPage = 4096;

  DeviceMemory();
  // The last allocation that begins at or before an address; null if there is none.
  const std::pair<char* const, Allocation>* around(const void* p) const;
  char* addressesFor(std::size_t pages);
  void mapFile(char* memory, std::size_t pages, int file, std::size_t offset);
  char* mapShown(const Place& place, CUcontext context);
  void end(char* memory);

  char* base_;                        // begin of the range of addresses
  std::size_t next_ = kPage;          // offset of the first address that was never used
  std::size_t inUse_ = 0;             // bytes of allocations in use
  std::size_t kept_ = 0;              // freed bytes that the pool retains
  std::size_t limit_;                 // bound of both together
  std::map<char*, Allocation> known_; // all allocations, also freed ones, by address
  std::set<char*> usable_;            // allocations whose pages are accessible while work runs
  std::map<std::pair<int, std::size_t>, char*> opened_; // mapped memory, by process and offset
  int file_ = -1;                                       // of showable memory
  int depth_ = 0;                                       // open() calls without close()
};

} // namespace tenon::standin
