// SPDX-License-Identifier: BSD-2-Clause
// Part of the stand-in, a library with the functions of CUDA, cuBLAS, cuDNN, cuFFT and NCCL that
// runs on the host, to test device code without a GPU. This file makes the requested call fail
// ("F:N", failures.hpp), and limits the memory of the pretended device.
#include "standin/failures.hpp"

#include "standin/memory.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

namespace tenon::standin {

namespace {

// The request "function:number", where the number "*" means all calls.
struct Failure {
  std::mutex mutex;
  std::string function, number;
  int calls = 0; // of the function since the request

  Failure() {
    const char* given = std::getenv("TENON_STANDIN_FAIL");
    set(given ? given : "");
  }
  void set(const std::string& request) {
    const std::size_t colon = request.find(':');
    function = request.substr(0, colon);
    number = colon == std::string::npos ? "1" : request.substr(colon + 1);
    calls = 0;
  }
};

Failure& failure() {
  static auto* one = new Failure;
  return *one;
}

std::atomic<unsigned long long> libraryBytes{0};

} // namespace

bool hasRoomForLibraries() {
  return libraryBytes == 0 || DeviceMemory::get().hasRoomFor(libraryBytes);
}

// Counts this call of the function.
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
