// SPDX-License-Identifier: BSD-2-Clause
// A file that is written beside its place and renamed into it once it is whole, so that a failure
// leaves what was there before.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tenon {

class NewFile {
public:
  // Opens path.part for writing. Throws TENON_ERR_FILE, saying why, as all calls here do.
  explicit NewFile(std::string path);
  // Removes what was written, unless it was committed.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  void commit();

private:
  [[noreturn]] void fail(int reason) const;

  std::string path_, part_;
  std::FILE* file_ = nullptr;
};

} // namespace tenon
