// SPDX-License-Identifier: BSD-2-Clause
// One dataset of a file that any program may have written, whose first dimension counts samples:
// opened by each rank for itself, and read by boxes. With hdf5_file.hpp it is all that the library
// knows of HDF5.
#pragma once

#include "dtensor/data_type.hpp"
#include "geometry/layout/box.hpp"

#include <memory>
#include <optional>
#include <string>

namespace tenon {

class Hdf5Samples {
public:
  // Throws TENON_ERR_FILE if the file cannot be read, TENON_ERR_FORMAT if it is not HDF5, or its
  // dataset is none of numbers. Both name the file, the dataset and the reason.
  Hdf5Samples(const std::string& path, const std::string& dataset);
  ~Hdf5Samples();
  Hdf5Samples(Hdf5Samples&&) noexcept;

  const Shape& shape() const noexcept { return shape_; }
  // The type in which its numbers are read: int64 for integers, float32 for reals of at most 4
  // bytes, else float64.
  TenonDataType type() const noexcept { return type_; }
  bool areIntegers() const noexcept { return type_ == TENON_INT64; }
  // The first byte of its data in the file, if they are stored contiguously and as they will be in
  // memory.
  std::optional<Index> offset() const noexcept { return offset_; }

  // The numbers of a box, row-major, as `type`: int64 only of integers.
  void read(const Box& box, TenonDataType type, std::byte* to);
  // TENON_ERR_FILE, naming the file and the dataset.
  [[noreturn]] void fail(const std::string& reason) const;

private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
  Shape shape_;
  TenonDataType type_ = TENON_FLOAT64;
  std::optional<Index> offset_;
};

} // namespace tenon
