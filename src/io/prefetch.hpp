// SPDX-License-Identifier: BSD-2-Clause
// Pieces of a file read by a thread while the program computes. The thread knows nothing but a descriptor and
// positions: it calls pread(), and neither HDF5 nor MPI, which may belong to one thread alone. It takes no
// signals.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace tenon {

struct FilePiece {
  Index offset = 0, bytes = 0;
  std::byte* to = nullptr;
};

class Prefetch {
public:
  // Throws TENON_ERR_FILE if the file cannot be opened.
  explicit Prefetch(const std::string& path);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // Begins to read; the memory of the pieces belongs to the thread until wait(), which comes first if
  // there was a start before.
  void start(std::vector<FilePiece> pieces);
  // Why it failed; "" if all was read.
  std::string wait();

private:
  void run(const std::vector<FilePiece>& pieces);

  int file_ = -1;
  std::thread thread_;
  std::string failure_; // of the thread, until it is joined
};

} // namespace tenon
