// SPDX-License-Identifier: BSD-2-Clause
// Prints all text of the library. A text is written in pieces, plain ones unchanged and each other
// byte as \x1b, without building a new string, since the text can be about missing memory.
#include "sys/text/output.hpp"

#include "sys/memory/immortal.hpp"
#include "sys/text/plain_text.hpp"

#include <array>
#include <cstdio>
#include <mutex>

namespace tenon {

namespace {

struct Sinks {
  // Recursive, since a sink can print.
  std::recursive_mutex mutex;
  TextSink output;
  TextSink error;
};

// Never destroyed: errors are printed while static objects are destroyed.
Sinks& sinks() noexcept {
  return immortal<Sinks>();
}

void put(const TextSink& sink, std::FILE* stream, std::string_view text) {
  if (sink)
    try {
      return sink(text);
    } catch (...) { // callers do not expect exceptions, and the text must not be lost
      std::fputs(
          "Tenon: the program's text handler threw an exception, which ends here; its text:\n",
          stderr);
    }
  std::fwrite(text.data(), 1, text.size(), stream);
  if (sink) // write() flushes only without a sink
    std::fflush(stream);
}

// Writes a text as printable() would convert it, but without allocation.
void write(const TextSink& sink, std::FILE* stream, std::string_view text) {
  std::size_t plain = plainLength(text, kLineLayout);
  for (; plain < text.size(); plain = plainLength(text, kLineLayout)) {
    if (plain > 0)
      put(sink, stream, text.substr(0, plain));
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[plain]);
    const std::array<char, 4> shown = {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    put(sink, stream, {shown.data(), shown.size()});
    text.remove_prefix(plain + 1);
  }
  put(sink, stream, text);
  if (!sink)
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
