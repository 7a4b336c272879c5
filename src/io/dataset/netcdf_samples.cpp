// SPDX-License-Identifier: BSD-2-Clause
// Reads one variable of numbers from a NetCDF file, classic or NetCDF-4, by the NetCDF library. A
// variable in a group has its path, as in "/forecast/t2m"; dimensions and their coordinates can be
// those of the groups above. openNetcdfSamples() is declared in sample_file.hpp.
//
// Only calls that the serial and the parallel library have in common are used, and each rank opens
// the file for itself: batches are read by calls that are not collective, and a host program may
// have loaded another build of the library, whose functions have the same names.
#include "io/dataset/sample_file.hpp"

#include "io/dataset/netcdf_open.hpp"
#include "io/hdf5_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netcdf.h>

#include <algorithm>
#include <array>

namespace tenon {

namespace {

struct NumberKind {
  bool isInteger;
  int bytes;
  std::optional<double> defaultFill; // what the library stores where nothing was written
};

// The numbers of a type of NetCDF; nothing for texts and types of the user. Bytes have no default
// fill value, since each of their 256 numbers can be a value.
std::optional<NumberKind> numbersOfType(nc_type type) {
  switch (type) {
  case NC_BYTE:
  case NC_UBYTE:
    return NumberKind{true, 1, {}};
  case NC_SHORT:
    return NumberKind{true, 2, NC_FILL_SHORT};
  case NC_USHORT:
    return NumberKind{true, 2, NC_FILL_USHORT};
  case NC_INT:
    return NumberKind{true, 4, NC_FILL_INT};
  case NC_UINT:
    return NumberKind{true, 4, NC_FILL_UINT};
  case NC_INT64:
    return NumberKind{true, 8, static_cast<double>(NC_FILL_INT64)};
  case NC_UINT64:
    return NumberKind{true, 8, static_cast<double>(NC_FILL_UINT64)};
  case NC_FLOAT:
    return NumberKind{false, 4, NC_FILL_FLOAT};
  case NC_DOUBLE:
    return NumberKind{false, 8, NC_FILL_DOUBLE};
  default:
    return std::nullopt;
  }
}

class NetcdfSamples final : public SampleFile {
public:
  NetcdfSamples(const std::string& path, const std::string& variable);
  ~NetcdfSamples() override { nc_close(file_); }
  void read(const Box& box, TenonDataType type, std::byte* to) override;

private:
  // Throws unless a call has succeeded; `of` is the object that it failed for.
  void check(int status, const std::string& of = "") const;
  void open();
  void findVariable();
  void readDimensions();
  void readCoordinate(int dimension);
  VariableAttributes attributesOf(int group, int variable) const;
  struct Attribute {
    nc_type type = NC_NAT;
    std::size_t count = 0;
  };
  std::optional<Attribute> attribute(int group, int variable, const char* name) const;
  std::optional<std::vector<double>> numbers(int group, int variable, const char* name) const;
  std::optional<std::string> text(int group, int variable, const char* name) const;
  AttributeKind kindOf(int group, int variable, const char* name) const;
  std::string contents() const;

  int file_ = -1, group_ = -1, id_ = -1;
  bool isUnsigned64_ = false; // which int64 has only by its bits
};

void NetcdfSamples::check(int status, const std::string& of) const {
  if (status != NC_NOERR)
    fail(TENON_ERR_FORMAT, fmt::format("{}{}{}", of, of.empty() ? "" : ": ", nc_strerror(status)));
}

// Calls a function of the library that returns a name.
template <class Call>
std::string nameBy(Call call) {
  std::array<char, NC_MAX_NAME + 1> name{};
  return call(name.data()) == NC_NOERR ? std::string(name.data()) : "?";
}

void NetcdfSamples::open() {
  file_ = openNetcdf(path_);
  int format = 0;
  check(nc_inq_format(file_, &format));
  facts_.format = format == NC_FORMAT_CLASSIC        ? "NetCDF (CDF-1)"
                  : format == NC_FORMAT_64BIT_OFFSET ? "NetCDF (CDF-2)"
                  : format == NC_FORMAT_64BIT_DATA   ? "NetCDF (CDF-5)"
                                                     : "NetCDF-4";
}

// The names of the variables and groups of the group in which a name was not found.
std::string NetcdfSamples::contents() const {
  int variables = 0, groups = 0;
  nc_inq_nvars(group_, &variables);
  nc_inq_grps(group_, &groups, nullptr);
  std::vector<int> ids(static_cast<std::size_t>(groups));
  nc_inq_grps(group_, &groups, ids.data());
  std::vector<std::string> names;
  for (int i = 0; i < variables; ++i)
    names.push_back(nameBy([&](char* name) { return nc_inq_varname(group_, i, name); }));
  for (const int id : ids)
    names.push_back(nameBy([&](char* name) { return nc_inq_grpname(id, name); }) + "/");
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

void NetcdfSamples::findVariable() {
  group_ = file_;
  std::string_view rest = variable_;
  for (;;) {
    const std::size_t length = rest.find('/');
    const std::string name(rest.substr(0, length));
    const bool isGroup = length != std::string_view::npos;
    int found = -1;
    // An empty name before a slash is the root group of a path such as "/forecast/t2m".
    const int status = name.empty() && isGroup ? NC_NOERR
                       : isGroup               ? nc_inq_grp_ncid(group_, name.c_str(), &found)
                                               : nc_inq_varid(group_, name.c_str(), &id_);
    // A classic file has only the root group, which the library returns for every name.
    if (status != NC_NOERR || found == group_)
      fail(TENON_ERR_FORMAT, fmt::format("there is no {} '{}', but: {}",
                                         isGroup ? "group" : "variable", name, contents()));
    if (!isGroup)
      return;
    if (found >= 0)
      group_ = found;
    rest.remove_prefix(length + 1);
  }
}

// Whether a dimension, which can be of a group above, is unlimited.
bool isUnlimited(int group, int dimension) {
  for (;;) {
    int count = 0;
    nc_inq_unlimdims(group, &count, nullptr);
    std::vector<int> ids(static_cast<std::size_t>(count));
    nc_inq_unlimdims(group, &count, ids.data());
    if (std::ranges::find(ids, dimension) != ids.end())
      return true;
    if (nc_inq_grp_parent(group, &group) != NC_NOERR)
      return false;
  }
}

void NetcdfSamples::readDimensions() {
  int count = 0;
  check(nc_inq_varndims(group_, id_, &count));
  std::vector<int> ids(static_cast<std::size_t>(count));
  check(nc_inq_vardimid(group_, id_, ids.data()));
  for (const int id : ids) {
    std::size_t length = 0;
    check(nc_inq_dimlen(group_, id, &length));
    facts_.shape.push_back(static_cast<Index>(length));
    facts_.dimensions.push_back(
        nameBy([&](char* name) { return nc_inq_dimname(group_, id, name); }));
  }
  checkShape();
  facts_.canGrow = isUnlimited(group_, ids[0]);
  readCoordinate(ids[0]);
}

// The coordinate is the variable with the name of the dimension, and has this dimension alone.
void NetcdfSamples::readCoordinate(int dimension) {
  const std::string& name = facts_.dimensions[0];
  int group = group_, variable = -1;
  while (nc_inq_varid(group, name.c_str(), &variable) != NC_NOERR)
    if (nc_inq_grp_parent(group, &group) != NC_NOERR)
      return;
  int dimensions = 0, only = -1;
  nc_type type = NC_NAT;
  check(nc_inq_varndims(group, variable, &dimensions), name);
  check(nc_inq_vartype(group, variable, &type), name);
  if (dimensions != 1 || !numbersOfType(type))
    return;
  check(nc_inq_vardimid(group, variable, &only), name);
  if (only != dimension)
    return;
  const std::size_t first = 0, last = static_cast<std::size_t>(facts_.shape[0]) - 1;
  std::pair<double, double> ends;
  check(nc_get_var1_double(group, variable, &first, &ends.first), name);
  check(nc_get_var1_double(group, variable, &last, &ends.second), name);
  facts_.coordinate = ends;
  if (kindOf(group, variable, "units") == AttributeKind::Text)
    facts_.coordinateUnits = *text(group, variable, "units");
}

std::optional<NetcdfSamples::Attribute> NetcdfSamples::attribute(int group, int variable,
                                                                 const char* name) const {
  Attribute found;
  const int status = nc_inq_att(group, variable, name, &found.type, &found.count);
  if (status == NC_ENOTATT)
    return std::nullopt;
  check(status, name);
  return found;
}

AttributeKind NetcdfSamples::kindOf(int group, int variable, const char* name) const {
  const auto found = attribute(group, variable, name);
  if (!found)
    return AttributeKind::None;
  const auto [type, count] = *found;
  if ((type == NC_CHAR && count <= kMaxAttributeText) || (type == NC_STRING && count == 1))
    return AttributeKind::Text;
  if (!numbersOfType(type) || count < 1 || count > kMaxAttributeNumbers)
    return AttributeKind::Other;
  return type == NC_FLOAT || type == NC_DOUBLE ? AttributeKind::Reals : AttributeKind::Integers;
}

std::optional<std::vector<double>> NetcdfSamples::numbers(int group, int variable,
                                                          const char* name) const {
  const AttributeKind kind = kindOf(group, variable, name);
  if (kind == AttributeKind::None)
    return std::nullopt;
  if (kind != AttributeKind::Integers && kind != AttributeKind::Reals)
    fail(TENON_ERR_FORMAT, fmt::format("its attribute {} does not consist of 1 to {} numbers", name,
                                       kMaxAttributeNumbers));
  std::vector<double> read(attribute(group, variable, name)->count);
  check(nc_get_att_double(group, variable, name, read.data()), name);
  return read;
}

std::optional<std::string> NetcdfSamples::text(int group, int variable, const char* name) const {
  const AttributeKind kind = kindOf(group, variable, name);
  if (kind == AttributeKind::None)
    return std::nullopt;
  if (kind != AttributeKind::Text)
    fail(TENON_ERR_FORMAT, fmt::format("its attribute {} is not a text of usual length", name));
  const auto [type, count] = *attribute(group, variable, name);
  if (type == NC_CHAR) {
    std::string read(count, '\0');
    check(nc_get_att_text(group, variable, name, read.data()), name);
    return read.substr(0, read.find('\0'));
  }
  char* read = nullptr;
  check(nc_get_att_string(group, variable, name, &read), name);
  const std::unique_ptr<char*, void (*)(char**)> owner(&read,
                                                       [](char** one) { nc_free_string(1, one); });
  return read ? std::string(read) : std::string();
}

VariableAttributes NetcdfSamples::attributesOf(int group, int variable) const {
  return {[=, this](const char* name) { return kindOf(group, variable, name); },
          [=, this](const char* name) { return numbers(group, variable, name); },
          [=, this](const char* name) { return text(group, variable, name); },
          [this](const std::string& reason) { fail(TENON_ERR_FORMAT, reason); }};
}

NetcdfSamples::NetcdfSamples(const std::string& path, const std::string& variable)
    : SampleFile(path, variable) {
  const std::shared_ptr<void> silence = silenceHdf5();
  // The destructor does not run if the constructor fails.
  try {
    open();
    findVariable();
    nc_type type = NC_NAT;
    check(nc_inq_vartype(group_, id_, &type));
    const auto kind = numbersOfType(type);
    if (!kind)
      fail(TENON_ERR_FORMAT, "its elements do not have a type of numbers");
    facts_.type = kind->isInteger ? TENON_INT64 : type == NC_FLOAT ? TENON_FLOAT32 : TENON_FLOAT64;
    readDimensions();
    int isWithoutFill = 0;
    check(nc_inq_var_fill(group_, id_, &isWithoutFill, nullptr));
    const bool isNetcdf4 = std::string_view(facts_.format) == "NetCDF-4";
    isUnsigned64_ = type == NC_UINT64;
    // Where nothing was written, the library stores the default fill value, unless the writer has
    // switched this off for the variable. A classic file does not record that.
    facts_.encoding =
        Encoding({kind->isInteger, kind->bytes, isUnsigned64_}, attributesOf(group_, id_),
                 isNetcdf4 && isWithoutFill ? std::nullopt : kind->defaultFill);
  } catch (...) {
    if (file_ >= 0)
      nc_close(file_);
    throw;
  }
}

void NetcdfSamples::read(const Box& box, TenonDataType type, std::byte* to) {
  const std::shared_ptr<void> silence = silenceHdf5();
  std::vector<std::size_t> start, count;
  for (const Interval& side : box) {
    start.push_back(static_cast<std::size_t>(side.begin));
    count.push_back(static_cast<std::size_t>(side.size()));
  }
  const std::size_t *const at = start.data(), *const of = count.data();
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  const int status =
      type == TENON_FLOAT32 ? nc_get_vara_float(group_, id_, at, of, reinterpret_cast<float*>(to))
      : type == TENON_FLOAT64
          ? nc_get_vara_double(group_, id_, at, of, reinterpret_cast<double*>(to))
      : isUnsigned64_
          ? nc_get_vara_ulonglong(group_, id_, at, of, reinterpret_cast<unsigned long long*>(to))
          : nc_get_vara_longlong(group_, id_, at, of, reinterpret_cast<long long*>(to));
  check(status);
}

} // namespace

std::unique_ptr<SampleFile> openNetcdfSamples(const std::string& path,
                                              const std::string& variable) {
  return std::make_unique<NetcdfSamples>(path, variable);
}

std::string netcdfLibrary() {
  const std::string_view version = nc_inq_libvers(); // "4.9.0 of Jan  1 2024 $"
  return std::string(version.substr(0, version.find(' ')));
}

bool hasNetcdf() {
  return true;
}

} // namespace tenon
