// SPDX-License-Identifier: BSD-2-Clause
#include "standin/memory.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenon::standin {

namespace {

constexpr int kRefused = 86, kFaulted = 87; // exit codes

void protect(char* memory, std::size_t bytes, bool usable) {
  mprotect(memory, bytes, usable ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void onFault(int number, siginfo_t* info, void*) {
  const DeviceMemory& memory = DeviceMemory::get();
  if (!memory.contains(info->si_addr)) {
    signal(number, SIG_DFL); // the instruction is tried again
    return;
  }
  const std::string text = std::string("stand-in for CUDA: ") +
                           (memory.isOpen() ? "a kernel" : "the host") +
                           " touches device memory: " + memory.describe(info->si_addr) + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) {
  }
  _exit(kFaulted);
}

std::size_t limitOf(std::size_t most) {
  const char* text = std::getenv("TENON_STANDIN_BYTES");
  return text ? std::strtoull(text, nullptr, 10) : most;
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

DeviceMemory::DeviceMemory() : limit_(limitOf(kBytes)) {
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

void* DeviceMemory::take(std::size_t bytes) {
  const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
  if (next_ + pages + kPage > kBytes || inUse_ + bytes > limit_)
    return nullptr;
  char* memory = base_ + next_;
  next_ += pages + kPage;
  known_[memory] = {bytes, pages, true};
  alive_.insert(memory);
  inUse_ += bytes;
  protect(memory, pages, true);
  std::memset(memory, 0xff, std::min(pages, kFilled));
  std::memset(memory + pages - std::min(pages, kFilled), 0xff, std::min(pages, kFilled));
#ifdef __SANITIZE_ADDRESS__
  const std::size_t granules = (bytes + 7) / 8 * 8;
  __asan_poison_memory_region(memory + granules, pages - granules);
#endif
  if (depth_ == 0)
    protect(memory, pages, false);
  return memory;
}

bool DeviceMemory::giveBack(void* memory) {
  const auto found = known_.find(static_cast<char*>(memory));
  if (found == known_.end() || !found->second.isAlive)
    return false;
  Allocation& a = found->second;
  a.isAlive = false;
  alive_.erase(found->first);
  inUse_ -= a.bytes;
  madvise(found->first, a.pages, MADV_DONTNEED);
  protect(found->first, a.pages, false);
  return true;
}

const std::pair<char* const, DeviceMemory::Allocation>* DeviceMemory::around(const void* p) const {
  auto after = known_.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  return after == known_.begin() ? nullptr : &*--after;
}

void DeviceMemory::checkRange(const void* p, std::size_t bytes, const char* who) const {
  const auto* at = around(p);
  if (!at || !at->second.isAlive ||
      static_cast<const char*>(p) + bytes > at->first + at->second.bytes)
    refuse(std::string(who) + " reaches beyond device memory that is allocated");
}

void DeviceMemory::open() {
  if (depth_++ == 0)
    protectAll(true);
}

void DeviceMemory::close() {
  if (--depth_ == 0)
    protectAll(false);
}

void DeviceMemory::protectAll(bool usable) {
  for (char* memory : alive_)
    protect(memory, known_.at(memory).pages, usable);
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
