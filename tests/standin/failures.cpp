// SPDX-License-Identifier: BSD-2-Clause
#include "standin/failures.hpp"

#include "standin/memory.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

namespace tenon::standin {

namespace {

// The call that is to fail.
struct Failure {
  std::mutex mutex;
  std::string function, number;
  int calls = 0;

  Failure() {
    const char* given = std::getenv("TENON_STANDIN_FAIL");
    set(given ? given : "");
  }
  void set(const std::string& which) {
    const std::size_t colon = which.find(':');
    function = which.substr(0, colon);
    number = colon == std::string::npos ? "1" : which.substr(colon + 1);
    calls = 0;
  }
};

Failure& failure() {
  static auto* one = new Failure;
  return *one;
}

} // namespace

namespace {
std::atomic<unsigned long long> libraryBytes{0};
}

bool hasRoomForLibraries() {
  return libraryBytes == 0 || DeviceMemory::get().hasRoomFor(libraryBytes);
}

bool isToFail(const char* function) {
  Failure& f = failure();
  const std::scoped_lock lock(f.mutex);
  return f.function == function && (f.number == "*" || ++f.calls == std::atoi(f.number.c_str()));
}

} // namespace tenon::standin

void tenonStandinFail(const char* which) {
  auto& f = tenon::standin::failure();
  const std::scoped_lock lock(f.mutex);
  f.set(which);
}

void tenonStandinLibraryBytes(unsigned long long bytes) {
  tenon::standin::libraryBytes = bytes;
}

void tenonStandinBytes(unsigned long long bytes) {
  tenon::standin::DeviceMemory::get().setLimit(bytes);
}
