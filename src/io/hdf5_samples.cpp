// SPDX-License-Identifier: BSD-2-Clause
// One dataset of numbers in a file of any program. The position of its data is known only if they
// are stored in one piece and in the type in which they are read; then a reader can do without
// HDF5.
#include "io/hdf5_samples.hpp"

#include "io/hdf5_handle.hpp"
#include "sys/files/regular_file.hpp"

#include <unistd.h>

namespace tenon {

namespace {

using hdf5::Handle;
using hdf5::Silence;
using hdf5::Subject;

// Checks that the file is there, is a regular one, and may be read, which HDF5 says less plainly.
void checkReadable(const std::string& path) {
  ::close(openRegularFile(path, "cannot open"));
}

TenonDataType typeOf(const Subject& subject, const std::string& name, hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  // Integers of any size are read as the widest, floating numbers of at most 32 bits as float32.
  if (kind == H5T_INTEGER)
    return TENON_INT64;
  if (kind != H5T_FLOAT)
    subject.fail(name, "its elements are no numbers");
  return H5Tget_size(type) <= 4 ? TENON_FLOAT32 : TENON_FLOAT64;
}

} // namespace

struct Hdf5Samples::Handles {
  Subject subject;
  std::string name;
  Handle file, set, space;
};

Hdf5Samples::Hdf5Samples(const std::string& path, const std::string& dataset)
    : handles_(std::make_unique<Handles>()) {
  checkReadable(path);
  const Silence silence;
  Handles& h = *handles_;
  h.subject = {TENON_ERR_FORMAT, "read", path};
  h.name = dataset;
  h.file =
      Handle(h.subject.check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "/"), H5Fclose);
  h.set =
      Handle(h.subject.check(H5Dopen2(h.file, dataset.c_str(), H5P_DEFAULT), dataset), H5Dclose);
  h.space = Handle(h.subject.check(H5Dget_space(h.set), dataset), H5Sclose);
  const Handle type(h.subject.check(H5Dget_type(h.set), dataset), H5Tclose);
  type_ = typeOf(h.subject, dataset, type);
  const int rank = H5Sget_simple_extent_ndims(h.space);
  if (rank < 1 || rank > kMaxRank)
    h.subject.fail(dataset, fmt::format("it has {} dimensions; expected 1 to {}, of which the "
                                        "first counts the samples",
                                        rank, kMaxRank));
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  h.subject.check(H5Sget_simple_extent_dims(h.space, extents.data(), nullptr), dataset);
  shape_.assign(extents.begin(), extents.end());
  if (elements(shape_) == 0)
    h.subject.fail(dataset, fmt::format("it is empty: [{}]", fmt::join(shape_, ",")));
  const haddr_t offset = H5Dget_offset(h.set); // undefined if chunked, compressed or external
  if (offset != HADDR_UNDEF && H5Tequal(type, hdf5::nativeType(type_)) > 0)
    offset_ = static_cast<Index>(offset);
}

Hdf5Samples::~Hdf5Samples() {
  const Silence silence;
  handles_.reset();
}

Hdf5Samples::Hdf5Samples(Hdf5Samples&&) noexcept = default;

void Hdf5Samples::read(const Box& box, TenonDataType type, std::byte* to) {
  const Silence silence;
  Handles& h = *handles_;
  const auto count = static_cast<hsize_t>(elements(box));
  const Handle memory(h.subject.check(H5Screate_simple(1, &count, nullptr), h.name), H5Sclose);
  std::vector<hsize_t> start, extent;
  for (const Interval& side : box) {
    start.push_back(static_cast<hsize_t>(side.begin));
    extent.push_back(static_cast<hsize_t>(side.size()));
  }
  h.subject.check(
      H5Sselect_hyperslab(h.space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr),
      h.name);
  h.subject.check(H5Dread(h.set, hdf5::nativeType(type), memory, h.space, H5P_DEFAULT, to), h.name);
}

void Hdf5Samples::fail(const std::string& reason) const {
  Subject subject = handles_->subject;
  subject.code = TENON_ERR_FILE;
  subject.fail(handles_->name, reason);
}

} // namespace tenon
