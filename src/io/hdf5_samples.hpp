// SPDX-License-Identifier: BSD-2-Clause
// One dataset in an HDF5 file of any program. Its first dimension counts samples. Each rank opens
// the file independently and reads boxes.
#pragma once

#include "geometry/layout/box.hpp"
#include "sys/data_type.hpp"

#include <memory>
#include <optional>
#include <string>

namespace tenon {

// An open dataset; not collective.
class Hdf5Samples {
public:
  // Throws TENON_ERR_FILE if the file cannot be read, TENON_ERR_FORMAT if it is not HDF5, or its
  // dataset does not consist of numbers. Messages contain the file, the dataset and the reason.
  Hdf5Samples(const std::string& path, const std::string& dataset);
  ~Hdf5Samples();
  Hdf5Samples(Hdf5Samples&&) noexcept;

  const Shape& shape() const noexcept { return shape_; }
  // The type in which elements are read: int64 for integers, float32 for real numbers of at most 4
  // bytes, otherwise float64.
  TenonDataType type() const noexcept { return type_; }
  bool areIntegers() const noexcept { return type_ == TENON_INT64; }
  // Offset of the data in the file, if they are stored contiguously and in the same representation
  // as in memory.
  std::optional<Index> offset() const noexcept { return offset_; }

  // Reads the elements of a box, row-major, as `type`; int64 is allowed for integers only.
  void read(const Box& box, TenonDataType type, std::byte* to);
  // Throws TENON_ERR_FILE with the names of the file and the dataset.
  [[noreturn]] void fail(const std::string& reason) const;

private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
  Shape shape_;
  TenonDataType type_ = TENON_FLOAT64;
  std::optional<Index> offset_;
};

} // namespace tenon
