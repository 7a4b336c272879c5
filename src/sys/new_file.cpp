// SPDX-License-Identifier: BSD-2-Clause
#include "sys/new_file.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tenon {

NewFile::NewFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
  std::error_code ignored;
  if (path_.empty() || std::filesystem::is_directory(path_, ignored))
    fail(path_.empty() ? ENOENT : EISDIR);
  file_ = std::fopen(part_.c_str(), "wb");
  if (!file_)
    fail(errno);
}

NewFile::~NewFile() {
  if (!file_)
    return;
  std::fclose(file_);
  std::remove(part_.c_str());
}

void NewFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size())
    fail(errno);
}

void NewFile::commit() {
  if (std::fflush(file_) != 0)
    fail(errno);
  if (std::rename(part_.c_str(), path_.c_str()) != 0)
    fail(errno);
  std::fclose(file_);
  file_ = nullptr;
}

void NewFile::fail(int reason) const {
  throw Error(TENON_ERR_FILE,
              fmt::format("cannot write file '{}': {}", path_, std::strerror(reason)));
}

} // namespace tenon
