// SPDX-License-Identifier: BSD-2-Clause
// A file of text that is written beside its place and renamed into it once it is whole
// (part_file.hpp): a failure leaves what was there before.
#pragma once

#include "sys/part_file.hpp"

#include <cstdio>
#include <string_view>

namespace tenon {

class NewFile {
public:
  // Throws TENON_ERR_FILE, saying why, as all calls here do.
  explicit NewFile(std::string path);
  // Removes what was written, unless it was committed.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  void commit();

private:
  PartFile part_;
  std::FILE* file_;
};

} // namespace tenon
