// SPDX-License-Identifier: BSD-2-Clause
// The memory of the stand-in's device: pages that nobody may touch, except while work of a stream runs. Each
// allocation ends at a guard page, freed addresses are never given out again, and fresh memory is NaN (of a large
// piece the first and the last MiB, so that the rest takes no time).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace tenon::standin {

// Ends the program with a line on standard error.
[[noreturn]] void refuse(const std::string& what);

class DeviceMemory {
public:
  static DeviceMemory& get();

  // NULL beyond TENON_STANDIN_BYTES.
  void* take(std::size_t bytes);
  bool giveBack(void* memory);
  bool contains(const void* p) const { return p >= base_ && p < base_ + kBytes; }
  // Refuses a range that is not within one allocation.
  void checkRange(const void* p, std::size_t bytes, const char* who) const;

  // Between them, possibly nested, the device's work runs.
  void open();
  void close();
  bool isOpen() const { return depth_ > 0; }

  // For the report of a fault: "byte 24 of an allocation of 1680 bytes".
  std::string describe(const void* p) const;

private:
  struct Allocation {
    std::size_t bytes, pages;
    bool isAlive;
  };
  static constexpr std::size_t kBytes = std::size_t(256) << 30, kPage = 4096,
                               kFilled = std::size_t(1) << 20;

  DeviceMemory();
  const std::pair<char* const, Allocation>* around(const void* p) const;
  void protectAll(bool usable);

  char* base_;
  std::size_t next_ = kPage, inUse_ = 0, limit_;
  std::map<char*, Allocation> known_;
  std::set<char*> alive_; // of these
  int depth_ = 0;
};

} // namespace tenon::standin
