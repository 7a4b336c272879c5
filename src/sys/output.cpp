// SPDX-License-Identifier: BSD-2-Clause
#include "sys/output.hpp"

#include "sys/immortal.hpp"

#include <cstdio>
#include <mutex>

namespace tenon {

namespace {

struct Sinks {
  // Recursive: a sink may print.
  std::recursive_mutex mutex;
  TextSink output;
  TextSink error;
};

// Errors are printed while static objects are destroyed.
Sinks& sinks() noexcept {
  return immortal<Sinks>();
}

void write(const TextSink& sink, std::FILE* stream, std::string_view text) {
  if (sink)
    return sink(text);
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

} // namespace

void print(std::string_view text) noexcept {
  std::lock_guard lock(sinks().mutex);
  write(sinks().output, stdout, text);
}

void printError(std::string_view text) noexcept {
  std::lock_guard lock(sinks().mutex);
  write(sinks().error, stderr, text);
}

bool isOutputLost() noexcept {
  std::lock_guard lock(sinks().mutex);
  return std::ferror(stdout) != 0;
}

void setOutputSink(TextSink sink) {
  std::lock_guard lock(sinks().mutex);
  sinks().output = std::move(sink);
}

void setErrorSink(TextSink sink) {
  std::lock_guard lock(sinks().mutex);
  sinks().error = std::move(sink);
}

} // namespace tenon
