// SPDX-License-Identifier: BSD-2-Clause
// Reads one dataset of numbers from an HDF5 file of any program. The offset of its data is known
// only if they are contiguous and in the type in which they are read; a reader then does not need
// HDF5.
#include "io/hdf5_samples.hpp"

#include "io/hdf5_handle.hpp"
#include "sys/files/foreign_file.hpp"
#include "sys/files/regular_file.hpp"

#include <unistd.h>

#include <array>
#include <cmath>

namespace tenon {

namespace {

using hdf5::Handle;
using hdf5::Silence;
using hdf5::Subject;

// Checks that the file exists, is regular, readable, and not of a format that is often mistaken for
// HDF5; HDF5's own messages are less clear.
void checkReadable(const std::string& path) {
  const int file = openRegularFile(path, "cannot open");
  std::array<char, kForeignBytes> bytes{};
  const ssize_t count = pread(file, bytes.data(), bytes.size(), 0);
  ::close(file);
  const ForeignFile foreign = foreignFile({bytes.data(), std::size_t(std::max<ssize_t>(count, 0))});
  if (foreign == ForeignFile::None || foreign == ForeignFile::Hdf5)
    return;
  const char* advice =
      foreign == ForeignFile::NetCdf3
          ? "; convert it to NetCDF-4, which is HDF5 (nccopy -k nc4 OLD NEW, or ncks -4 OLD NEW)"
          : "";
  throw Error(TENON_ERR_FORMAT, fmt::format("cannot read file '{}' as HDF5: it is {}{}", path,
                                            foreignFileText(foreign), advice));
}

// Returns a numeric attribute of the dataset; none if there is no such attribute, NaN if it is not
// a number.
std::optional<double> numberOf(const Subject& subject, hid_t set, const char* name) {
  if (subject.check(H5Aexists(set, name), name) == 0)
    return std::nullopt;
  const Handle attribute(subject.check(H5Aopen(set, name, H5P_DEFAULT), name), H5Aclose);
  const Handle type(subject.check(H5Aget_type(attribute), name), H5Tclose),
      space(subject.check(H5Aget_space(attribute), name), H5Sclose);
  double number = std::nan("");
  if (hdf5::isSoundNumber(type) && H5Sget_simple_extent_npoints(space) == 1)
    subject.check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &number), name);
  return number;
}

// Rejects datasets whose stored numbers are not the values that are meant: by conventions of NetCDF
// they can be packed, or mark missing values.
void checkNotPacked(const Subject& subject, const std::string& dataset, hid_t set,
                    TenonDataType type) {
  for (const auto& [name, neutral] : {std::pair("scale_factor", 1.0), {"add_offset", 0.0}})
    if (const auto number = numberOf(subject, set, name); number && *number != neutral)
      subject.fail(dataset,
                   fmt::format("it is packed: its attribute {} is {}, and the numbers in the file "
                               "are others than those that are meant; unpack it first (ncpdq -U "
                               "OLD NEW, or xarray.open_dataset(OLD).astype('float32') with "
                               "cleared encoding), or take the attribute away and set "
                               "sample_scale and sample_shift of the dataset",
                               name, *number));
  if (subject.check(H5Aexists(set, "_Unsigned"), dataset) > 0)
    subject.fail(dataset, "its attribute _Unsigned says that its integers are others than those in "
                          "the file; convert it to a type that holds them first");
  for (const char* name : {"_FillValue", "missing_value"}) {
    const auto number = numberOf(subject, set, name);
    if (number && (type == TENON_INT64 || !std::isnan(*number)))
      subject.fail(dataset,
                   fmt::format("its attribute {} is {}, and elements with that number have no "
                               "value; fill them first (cdo setmisstoc,0 OLD NEW, with a mask as a "
                               "channel of its own), and take the attribute away "
                               "(ncatted -a {},{},d,, FILE), also where no value is missing",
                               name, *number, name, dataset));
  }
}

TenonDataType typeOf(const Subject& subject, const std::string& name, hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  // Integers of any size are read as int64, real numbers of at most 32 bits as float32.
  if (kind != H5T_INTEGER && kind != H5T_FLOAT)
    subject.fail(name, "its elements are no numbers");
  if (!hdf5::isSoundNumber(type))
    subject.fail(name, fmt::format("its elements are numbers of {} bytes, {} bits of which count; "
                                   "integers of at most 8 bytes and real numbers of at most 16 "
                                   "can be read",
                                   H5Tget_size(type), H5Tget_precision(type)));
  if (kind == H5T_INTEGER)
    return TENON_INT64;
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
  checkNotPacked(h.subject, dataset, h.set, type_);
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
