// SPDX-License-Identifier: BSD-2-Clause
// Reads one dataset of numbers from an HDF5 file of any program. The offset of its data is known
// only if they are contiguous and in the type in which they are read; a reader then does not need
// HDF5. Attributes have the meaning that NetCDF and CF give them, also in files of other programs:
// packed numbers are unpacked, and missing ones marked. openHdf5Samples() is declared in
// sample_file.hpp.
#include "io/dataset/sample_file.hpp"

#include "io/hdf5_handle.hpp"

#include <algorithm>

namespace tenon {

namespace {

using hdf5::Handle;
using hdf5::Silence;
using hdf5::Subject;

// An attribute that exists.
struct Attribute {
  Handle handle, type, space;

  Attribute(const Subject& subject, hid_t set, const char* name)
      : handle(subject.check(H5Aopen(set, name, H5P_DEFAULT), name), H5Aclose),
        type(subject.check(H5Aget_type(handle), name), H5Tclose),
        space(subject.check(H5Aget_space(handle), name), H5Sclose) {}

  hssize_t count() const { return H5Sget_simple_extent_npoints(space); }
  AttributeKind kind() const {
    const H5T_class_t of = H5Tget_class(type);
    if (of == H5T_STRING && count() == 1 && H5Tget_size(type) <= kMaxAttributeText)
      return AttributeKind::Text;
    if ((of != H5T_INTEGER && of != H5T_FLOAT) || !hdf5::isSoundNumber(type) || count() < 1 ||
        count() > kMaxAttributeNumbers)
      return AttributeKind::Other;
    return of == H5T_FLOAT ? AttributeKind::Reals : AttributeKind::Integers;
  }
};

bool hasAttribute(const Subject& subject, hid_t set, const char* name) {
  return subject.check(H5Aexists(set, name), name) > 0;
}

AttributeKind kindOf(const Subject& subject, hid_t set, const char* name) {
  return hasAttribute(subject, set, name) ? Attribute(subject, set, name).kind()
                                          : AttributeKind::None;
}

// An attribute that consists of numbers, or nothing. Texts and other types are errors.
std::optional<std::vector<double>> numbersOf(const Subject& subject, hid_t set, const char* name) {
  if (!hasAttribute(subject, set, name))
    return std::nullopt;
  const Attribute attribute(subject, set, name);
  if (const AttributeKind kind = attribute.kind();
      kind != AttributeKind::Integers && kind != AttributeKind::Reals)
    subject.fail(name, fmt::format("this attribute does not consist of 1 to {} numbers",
                                   kMaxAttributeNumbers));
  std::vector<double> numbers(static_cast<std::size_t>(attribute.count()));
  subject.check(H5Aread(attribute.handle, H5T_NATIVE_DOUBLE, numbers.data()), name);
  return numbers;
}

// An attribute that is one text of fixed or variable length, or nothing.
std::optional<std::string> textOf(const Subject& subject, hid_t set, const char* name) {
  if (!hasAttribute(subject, set, name))
    return std::nullopt;
  const Attribute attribute(subject, set, name);
  if (attribute.kind() != AttributeKind::Text)
    subject.fail(name, "this attribute is not a text of usual length");
  if (H5Tis_variable_str(attribute.type) > 0) {
    char* text = nullptr;
    subject.check(H5Aread(attribute.handle, attribute.type, &text), name);
    const std::unique_ptr<char, herr_t (*)(void*)> owner(text, H5free_memory);
    return text ? std::string(text) : std::string();
  }
  std::string text(H5Tget_size(attribute.type), '\0');
  subject.check(H5Aread(attribute.handle, attribute.type, text.data()), name);
  return text.substr(0, text.find('\0'));
}

// Whether NetCDF-4 has written the file: since 4.4.1 it says so, and it notes the dimensions of
// each variable.
bool isOfNetcdf4(hid_t file, hid_t set) {
  return H5Aexists_by_name(file, "/", "_NCProperties", H5P_DEFAULT) > 0 ||
         H5Aexists_by_name(file, "/", "_nc3_strict", H5P_DEFAULT) > 0 ||
         (set >= 0 && H5Aexists(set, "DIMENSION_LIST") > 0);
}

// The number that NetCDF-4 stores where nothing has been written. In variables of bytes each number
// can be a value, so none marks a missing one.
std::optional<double> fillValueOf(const Subject& subject, const std::string& name, hid_t set,
                                  hid_t type) {
  if (H5Tget_size(type) == 1)
    return std::nullopt;
  const Handle creation(subject.check(H5Dget_create_plist(set), name), H5Pclose);
  H5D_fill_value_t kind = H5D_FILL_VALUE_ERROR;
  subject.check(H5Pfill_value_defined(creation, &kind), name);
  double value = 0;
  if (kind != H5D_FILL_VALUE_USER_DEFINED)
    return std::nullopt;
  subject.check(H5Pget_fill_value(creation, H5T_NATIVE_DOUBLE, &value), name);
  return value;
}

// An unsigned type whose numbers int64 does not all hold: HDF5 would convert the upper half of them
// to the largest int64.
bool isUnsigned64(hid_t type) {
  return H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 8 &&
         H5Tget_sign(type) == H5T_SGN_NONE;
}

Encoding encodingOf(const Subject& subject, const std::string& name, hid_t file, hid_t set,
                    hid_t type) {
  return Encoding(
      {.areIntegers = H5Tget_class(type) == H5T_INTEGER,
       .bytes = static_cast<int>(H5Tget_size(type)),
       .areUnsigned64 = isUnsigned64(type)},
      {.kind = [&](const char* attribute) { return kindOf(subject, set, attribute); },
       .numbers = [&](const char* attribute) { return numbersOf(subject, set, attribute); },
       .text = [&](const char* attribute) { return textOf(subject, set, attribute); },
       .fail = [&](const std::string& reason) { subject.fail(name, reason); }},
      isOfNetcdf4(file, set) ? fillValueOf(subject, name, set, type) : std::nullopt);
}

// The offset of a dataset whose data are contiguous and of that type of the machine.
std::optional<Index> offsetOf(hid_t set, hid_t type, TenonDataType as) {
  const haddr_t offset = H5Dget_offset(set); // undefined if chunked, compressed or external
  if (offset == HADDR_UNDEF || H5Tequal(type, hdf5::nativeType(as)) <= 0)
    return std::nullopt;
  return static_cast<Index>(offset);
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

class Hdf5Samples final : public SampleFile {
public:
  Hdf5Samples(const std::string& path, const std::string& dataset);
  ~Hdf5Samples() override {
    const Silence silence;
    space_.close();
    set_.close();
    file_.close();
  }
  void read(const Box& box, TenonDataType type, std::byte* to) override;

private:
  Subject subject_;
  Handle file_, set_, space_;
  bool isUnsigned64_ = false;
};

Hdf5Samples::Hdf5Samples(const std::string& path, const std::string& dataset)
    : SampleFile(path, dataset), subject_{TENON_ERR_FORMAT, "read", path} {
  const Silence silence;
  const auto check = [&](auto result) { return subject_.check(result, dataset); };
  file_ = Handle(subject_.check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "/"), H5Fclose);
  set_ = Handle(check(H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT)), H5Dclose);
  space_ = Handle(check(H5Dget_space(set_)), H5Sclose);
  const Handle type(check(H5Dget_type(set_)), H5Tclose);
  facts_.type = typeOf(subject_, dataset, type);
  isUnsigned64_ = isUnsigned64(type);
  facts_.encoding = encodingOf(subject_, dataset, file_, set_, type);
  const int rank = H5Sget_simple_extent_ndims(space_);
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0))), limits = extents;
  check(H5Sget_simple_extent_dims(space_, extents.data(), limits.data()));
  facts_.shape.assign(extents.begin(), extents.end());
  checkShape();
  facts_.canGrow = limits[0] == H5S_UNLIMITED;
  facts_.offset = offsetOf(set_, type, facts_.type);
}

void Hdf5Samples::read(const Box& box, TenonDataType type, std::byte* to) {
  const Silence silence;
  const auto check = [&](auto result) { return subject_.check(result, variable_); };
  const auto count = static_cast<hsize_t>(elements(box));
  const Handle memory(check(H5Screate_simple(1, &count, nullptr)), H5Sclose);
  std::vector<hsize_t> start, extent;
  for (const Interval& side : box) {
    start.push_back(static_cast<hsize_t>(side.begin));
    extent.push_back(static_cast<hsize_t>(side.size()));
  }
  check(H5Sselect_hyperslab(space_, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr));
  const hid_t as =
      type == TENON_INT64 && isUnsigned64_ ? H5T_NATIVE_UINT64 : hdf5::nativeType(type);
  check(H5Dread(set_, as, memory, space_, H5P_DEFAULT, to));
}

} // namespace

std::unique_ptr<SampleFile> openHdf5Samples(const std::string& path, const std::string& variable) {
  return std::make_unique<Hdf5Samples>(path, variable);
}

bool isNetcdf4(const std::string& path, const std::string& variable) {
  const Silence silence;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file < 0)
    return false;
  const Handle set(H5Dopen2(file, variable.c_str(), H5P_DEFAULT), H5Dclose);
  return isOfNetcdf4(file, set);
}

std::optional<Index> offsetInHdf5(const std::string& path, const std::string& dataset,
                                  TenonDataType type) {
  const Silence silence;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const Handle set(file < 0 ? hid_t(H5I_INVALID_HID) : H5Dopen2(file, dataset.c_str(), H5P_DEFAULT),
                   H5Dclose);
  if (set < 0)
    return std::nullopt;
  const Handle stored(H5Dget_type(set), H5Tclose);
  return stored < 0 ? std::nullopt : offsetOf(set, stored, type);
}

} // namespace tenon
