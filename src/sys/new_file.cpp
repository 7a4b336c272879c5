// SPDX-License-Identifier: BSD-2-Clause
#include "sys/new_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon {

NewFile::NewFile(std::string path)
    : part_(std::move(path)), file_(fdopen(dup(part_.descriptor()), "wb")) {
  if (!file_)
    part_.fail(std::strerror(errno));
}

NewFile::~NewFile() {
  std::fclose(file_);
}

void NewFile::write(std::string_view text) {
  if (!text.empty() && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
    part_.fail(std::strerror(errno));
}

void NewFile::commit() {
  if (std::fflush(file_) != 0)
    part_.fail(std::strerror(errno));
  part_.sync();
  part_.commit();
}

} // namespace tenon
