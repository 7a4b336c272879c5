// SPDX-License-Identifier: BSD-2-Clause
#include "sys/whole_file.hpp"

#include "sys/error.hpp"
#include "sys/regular_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tenon {

std::string readWholeFile(const std::string& path, const std::string& kind) {
  const auto failed = [&](const std::string& reason) {
    return Error(TENON_ERR_FILE, fmt::format("cannot read {} '{}': {}", kind, path, reason));
  };
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      fdopen(openRegularFile(path, fmt::format("cannot read {}", kind)), "rb"), close);
  if (!file)
    throw failed(std::strerror(errno));
  std::string text;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, got);
    if (text.size() > kMostFileText)
      throw failed(fmt::format("it has more than {} bytes", kMostFileText));
  }
  if (std::ferror(file.get()))
    throw failed(std::strerror(errno));
  return text;
}

} // namespace tenon
