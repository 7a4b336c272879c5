// SPDX-License-Identifier: BSD-2-Clause
// Device memory as protected pages of this process (memory.hpp). A handler of SIGSEGV decides about
// each access to a protected page: the first access of the device's work to an allocation makes its
// pages accessible, and every other access ends the program with a message.
#include "standin/memory.hpp"

#include "standin/kernels.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenon::standin {

namespace {

constexpr int kRefused = 86, kFaulted = 87;           // exit codes
constexpr std::size_t kFilled = std::size_t(1) << 20; // bytes at each end that are filled with NaN

void protect(char* memory, std::size_t bytes, bool usable) {
  mprotect(memory, bytes, usable ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void onFault(int number, siginfo_t* info, void*) {
  DeviceMemory& memory = DeviceMemory::get();
  if (!memory.contains(info->si_addr)) {
    // Not device memory: the instruction is repeated, and then ends the program as usual.
    signal(number, SIG_DFL);
    return;
  }
  if (memory.isOpen() && memory.makeUsable(info->si_addr))
    return;
  const std::string text =
      std::string("stand-in for CUDA: ") + (memory.isOpen() ? "a kernel" : "the host") +
      " touches device memory: " + memory.describe(info->si_addr) + runningKernel() + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) {
  }
  _exit(kFaulted);
}

// Tells AddressSanitizer whether accesses to these bytes are allowed, in builds with it.
void allow([[maybe_unused]] char* memory, [[maybe_unused]] std::size_t bytes,
           [[maybe_unused]] bool allowed) {
#ifdef __SANITIZE_ADDRESS__
  if (allowed)
    __asan_unpoison_memory_region(memory, bytes);
  else
    __asan_poison_memory_region(memory, bytes);
#endif
}

void fillWithNan(char* memory, std::size_t bytes) {
  const std::size_t filled = std::min(bytes, kFilled);
  std::memset(memory, 0xff, filled);
  std::memset(memory + bytes - filled, 0xff, filled);
}

std::size_t limitOr(std::size_t byDefault) {
  const char* text = std::getenv("TENON_STANDIN_BYTES");
  return text ? std::strtoull(text, nullptr, 10) : byDefault;
}

} // namespace

void refuse(const std::string& what) {
  std::fprintf(stderr, "stand-in for CUDA: %s\n", what.c_str());
  std::fflush(stderr);
  std::_Exit(kRefused);
}

DeviceMemory& DeviceMemory::get() {
  static auto* memory = new DeviceMemory;
  return *memory;
}

DeviceMemory::DeviceMemory() : limit_(limitOr(kBytes)) {
  void* memory =
      mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    refuse("no addresses for a device's memory");
  base_ = static_cast<char*>(memory);
  struct sigaction action {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

char* DeviceMemory::addressesFor(std::size_t pages) {
  char* const memory = base_ + next_;
  if (next_ + pages + kPage > kBytes)
    return nullptr;
  next_ += pages + kPage;
  return memory;
}

void DeviceMemory::mapFile(char* memory, std::size_t pages, int file, std::size_t offset) {
  if (mmap(memory, pages, PROT_NONE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset)) ==
      MAP_FAILED)
    refuse("pages of shown memory cannot be mapped");
}

void* DeviceMemory::allocate(std::size_t bytes, Kind kind, CUcontext context) {
  const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
  // Private memory first uses bytes that the pool retains.
  const std::size_t ofKept = kind == Kind::Private ? std::min(kept_, bytes) : 0;
  char* const memory = inUse_ + kept_ - ofKept + bytes > limit_ ? nullptr : addressesFor(pages);
  if (!memory)
    return nullptr;
  if (kind == Kind::Showable) {
    if (file_ < 0 && ((file_ = memfd_create("stand-in for CUDA", MFD_CLOEXEC)) < 0 ||
                      ftruncate(file_, static_cast<off_t>(kBytes)) != 0))
      refuse("no file for memory that is shown");
    mapFile(memory, pages, file_, static_cast<std::size_t>(memory - base_));
  }
  known_[memory] = {bytes, pages, true, kind, 0, context};
  inUse_ += bytes;
  kept_ -= ofKept;
  protect(memory, pages, /*usable=*/true);
  fillWithNan(memory, pages);
  // AddressSanitizer forbids bytes in units of 8.
  const std::size_t granules = (bytes + 7) / 8 * 8;
  allow(memory + granules, pages - granules, false);
  protect(memory, pages, /*usable=*/false);
  return memory;
}

bool DeviceMemory::deallocate(void* memory) {
  const auto found = known_.find(static_cast<char*>(memory));
  if (found == known_.end() || !found->second.isAlive || found->second.timesOpened > 0)
    return false;
  const auto& [begin, a] = *found;
  inUse_ -= a.bytes;
  allow(begin, a.pages, true);
  if (a.kind == Kind::Private)
    kept_ += a.bytes;
  // Other processes may have shown memory open: its content becomes NaN. The file's bytes of memory
  // that was never shown are given back to the system.
  if (a.kind == Kind::Shown) {
    protect(begin, a.pages, /*usable=*/true);
    fillWithNan(begin, a.pages);
  } else if (a.kind == Kind::Showable) {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin - base_,
              static_cast<off_t>(a.pages));
  }
  end(begin);
  return true;
}

// Replaces the pages of an allocation by inaccessible ones without memory; its addresses stay
// reserved.
void DeviceMemory::end(char* memory) {
  Allocation& a = known_.at(memory);
  a.isAlive = false;
  usable_.erase(memory);
  if (mmap(memory, a.pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED)
    refuse("freed pages cannot be unmapped");
}

std::optional<DeviceMemory::Place> DeviceMemory::show(const void* memory) {
  const auto found = known_.find(static_cast<char*>(const_cast<void*>(memory)));
  if (found == known_.end() || !found->second.isAlive || found->second.kind == Kind::Private)
    return std::nullopt;
  auto& [begin, a] = *found;
  a.kind = Kind::Shown;
  return Place{getpid(), file_, static_cast<std::size_t>(begin - base_), a.bytes};
}

void* DeviceMemory::openShown(const Place& place, CUcontext context) {
  char*& memory = opened_[{place.process, place.offset}];
  if (!memory)
    memory = mapShown(place, context);
  if (!memory) {
    opened_.erase({place.process, place.offset});
    return nullptr;
  }
  ++known_.at(memory).timesOpened;
  return memory;
}

// With TENON_STANDIN_SHOWS_OTHER, memory that is not the other process's is found at the address:
// an error of the system that Tenon must detect.
char* DeviceMemory::mapShown(const Place& place, CUcontext context) {
  const std::string name =
      "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
  const int file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  const std::size_t pages = (place.bytes + kPage - 1) / kPage * kPage;
  char* const memory = addressesFor(pages);
  if (memory) {
    if (!std::getenv("TENON_STANDIN_SHOWS_OTHER"))
      mapFile(memory, pages, file, place.offset);
    known_[memory] = {place.bytes, pages, true, Kind::Private, 0, context};
  }
  ::close(file);
  return memory;
}

bool DeviceMemory::closeShown(void* memory) {
  const auto found = std::find_if(opened_.begin(), opened_.end(),
                                  [&](const auto& entry) { return entry.second == memory; });
  if (found == opened_.end())
    return false;
  if (--known_.at(found->second).timesOpened == 0) {
    end(found->second);
    opened_.erase(found);
  }
  return true;
}

const std::pair<char* const, DeviceMemory::Allocation>* DeviceMemory::around(const void* p) const {
  auto after = known_.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  return after == known_.begin() ? nullptr : &*--after;
}

CUcontext DeviceMemory::contextOf(const void* p) const {
  const auto* at = around(p);
  return at ? at->second.context : nullptr;
}

void DeviceMemory::checkRange(const void* p, std::size_t bytes, const char* who) const {
  const auto* at = around(p);
  if (!at || !at->second.isAlive ||
      static_cast<const char*>(p) + bytes > at->first + at->second.bytes)
    refuse(std::string(who) + " reaches beyond device memory that is allocated");
}

bool DeviceMemory::makeUsable(const void* p) {
  const auto* at = around(p);
  if (!at || !at->second.isAlive || p >= at->first + at->second.pages)
    return false;
  protect(at->first, at->second.pages, /*usable=*/true);
  return usable_.insert(at->first).second;
}

void DeviceMemory::close() {
  if (--depth_ > 0)
    return;
  for (char* memory : usable_)
    protect(memory, known_.at(memory).pages, /*usable=*/false);
  usable_.clear();
}

std::string DeviceMemory::describe(const void* p) const {
  const auto* at = around(p);
  if (!at)
    return "before all allocations";
  return "byte " + std::to_string(static_cast<const char*>(p) - at->first) + " of " +
         (at->second.isAlive ? "an" : "a freed") + " allocation of " +
         std::to_string(at->second.bytes) + " bytes";
}

} // namespace tenon::standin
