// SPDX-License-Identifier: BSD-2-Clause
// The values of the tensors in a file, as transport.hpp writes and reads them.
#pragma once

#include "geometry/layout/box.hpp"

#include <cstddef>

namespace tenon {

// Calls: open(), any number of write() or read(), close(). They throw TENON_ERR_FILE or
// TENON_ERR_FORMAT.
class DataAccess {
public:
  DataAccess() = default;
  virtual ~DataAccess() = default;
  DataAccess(const DataAccess&) = delete;
  DataAccess& operator=(const DataAccess&) = delete;

  virtual void open() = 0;
  // Accesses the elements of a box of tensor `number`, row-major. A rank without elements passes
  // an empty box.
  virtual void write(std::size_t number, const Box& box, const void* elements) = 0;
  virtual void read(std::size_t number, const Box& box, void* elements) = 0;
  virtual void close() = 0;
};

} // namespace tenon
