// SPDX-License-Identifier: BSD-2-Clause
// Writes a NetCDF-4 file by the NetCDF library. open() defines everything and writes the
// coordinates; write() takes boxes of tensors. A box of a tensor [components, y, x] has the
// elements of each component one after the other; in one of [rows, components] they alternate, and
// are gathered first.
#include "io/cf/cf_file.hpp"

#include "io/hdf5_file.hpp"
#include "io/keep_loaded.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>

namespace tenon {

namespace {

nc_type netcdfType(const CfVariable& variable) {
  return variable.type == TENON_FLOAT32                         ? NC_FLOAT
         : variable.type == TENON_FLOAT64                       ? NC_DOUBLE
         : variable.type == TENON_INT32 || variable.storesInt32 ? NC_INT
                                                                : NC_INT64;
}

class CfFile final : public DataAccess {
public:
  CfFile(std::string path, const CfContents& contents)
      : path_(std::move(path)), contents_(contents) {}
  ~CfFile() override {
    if (file_ >= 0)
      nc_close(file_);
  }

  void open() override;
  void write(std::size_t number, const Box& box, const void* elements) override;
  void read(std::size_t, const Box&, void*) override {
    throw Error(TENON_ERR_INTERNAL, "a file of fields is written only");
  }
  void close() override { check(nc_close(std::exchange(file_, -1)), "the file"); }

private:
  void check(int status, const std::string& what) const {
    if (status != NC_NOERR)
      throw Error(TENON_ERR_FILE,
                  fmt::format("cannot write '{}': {}: {}", path_, what, nc_strerror(status)));
  }
  int define(const CfVariable& variable);
  void putAttributes(int variable, const std::vector<CfAttribute>& attributes);
  void writeComponent(const CfTensor& tensor, int id, const Box& space, const void* elements);

  std::string path_;
  const CfContents& contents_;
  std::shared_ptr<void> silence_; // while the file is open
  int file_ = -1;
  std::vector<std::vector<int>> ids_; // of the variables of each tensor
  std::vector<std::byte> gathered_;
};

void CfFile::putAttributes(int variable, const std::vector<CfAttribute>& attributes) {
  for (const CfAttribute& one : attributes)
    check(one.number ? nc_put_att_int(file_, variable, one.name.c_str(), NC_INT, 1, &*one.number)
                     : nc_put_att_text(file_, variable, one.name.c_str(), one.text.size(),
                                       one.text.data()),
          one.name);
}

int CfFile::define(const CfVariable& variable) {
  std::vector<int> dimensions;
  for (const std::string& name : variable.dimensions) {
    dimensions.emplace_back();
    check(nc_inq_dimid(file_, name.c_str(), &dimensions.back()), name);
  }
  int id = -1;
  const std::string what = fmt::format("variable '{}'", variable.name);
  check(nc_def_var(file_, variable.name.c_str(), netcdfType(variable),
                   static_cast<int>(dimensions.size()), dimensions.data(), &id),
        what);
  // All elements are written, so a fill value is an attribute alone.
  const int fill = variable.fill.value_or(0);
  const std::int64_t wideFill = fill;
  const void* const filled = variable.storesInt32 ? static_cast<const void*>(&fill) : &wideFill;
  check(variable.fill ? nc_def_var_fill(file_, id, NC_FILL, filled)
                      : nc_def_var_fill(file_, id, NC_NOFILL, nullptr),
        what);
  putAttributes(id, variable.attributes);
  return id;
}

void CfFile::open() {
  // The library must not be unloaded before the program ends (keep_loaded.hpp).
  [[maybe_unused]] static const bool isKept = keepLoaded(nc_create);
  silence_ = silenceHdf5();
  check(nc_create(path_.c_str(), NC_CLOBBER | NC_NETCDF4, &file_), "the file");
  for (const auto& [name, length] : contents_.dimensions) {
    int id = -1;
    check(nc_def_dim(file_, name.c_str(), length == 0 ? NC_UNLIMITED : std::size_t(length), &id),
          fmt::format("dimension '{}' of {} elements", name, length));
  }
  putAttributes(NC_GLOBAL, contents_.attributes);
  std::vector<int> coordinates;
  for (const CfVariable& one : contents_.coordinates)
    coordinates.push_back(define(one));
  for (const CfTensor& tensor : contents_.tensors) {
    ids_.emplace_back();
    for (const CfVariable& one : tensor.variables)
      ids_.back().push_back(define(one));
  }
  check(nc_enddef(file_), "the header");
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    // An unlimited dimension has no elements yet, so the extents are those of the values.
    const CfVariable& one = contents_.coordinates[i];
    std::vector<std::size_t> count;
    for (const std::string& name : one.dimensions)
      for (const auto& [dimension, length] : contents_.dimensions)
        if (dimension == name)
          count.push_back(length == 0 ? 1 : std::size_t(length));
    const std::vector<std::size_t> start(count.size(), 0);
    if (!one.values.empty())
      check(
          nc_put_vara_double(file_, coordinates[i], start.data(), count.data(), one.values.data()),
          one.name);
  }
}

// Writes one component of the elements in a box, contiguous, whose spatial dimensions are `space`.
void CfFile::writeComponent(const CfTensor& tensor, int id, const Box& space,
                            const void* elements) {
  // The dimensions before the spatial ones, such as time, have one index, 0.
  const std::size_t leading = tensor.variables.front().dimensions.size() - space.size();
  std::vector<std::size_t> start(leading, 0), count(leading, 1);
  for (const Interval& side : space) {
    start.push_back(static_cast<std::size_t>(side.begin));
    count.push_back(static_cast<std::size_t>(side.size()));
  }
  const CfVariable& variable = tensor.variables.front();
  // nc_put_vara_longlong() converts 64-bit integers to the type of the variable.
  check(variable.storesInt32 ? nc_put_vara_longlong(file_, id, start.data(), count.data(),
                                                    static_cast<const long long*>(elements))
                             : nc_put_vara(file_, id, start.data(), count.data(), elements),
        variable.name);
}

void CfFile::write(std::size_t number, const Box& box, const void* elements) {
  const CfTensor& tensor = contents_.tensors[number];
  const auto components = static_cast<std::ptrdiff_t>(tensor.components.size());
  const auto middle = tensor.areComponentsFirst ? box.begin() + components : box.end() - components;
  const Box first(box.begin(), middle), second(middle, box.end());
  const Box &ofComponents = tensor.areComponentsFirst ? first : second,
            &space = tensor.areComponentsFirst ? second : first;
  const Index count = components == 0 ? 1 : tenon::elements(ofComponents),
              places = tenon::elements(space);
  if (count == 0 || places == 0)
    return;
  const auto size = static_cast<std::size_t>(dataTypeSize(tensor.variables.front().type));
  const Shape within = rowMajorStrides(extents(ofComponents)),
              strides = rowMajorStrides(tensor.components);
  const auto* from = static_cast<const std::byte*>(elements);
  for (Index c = 0; c < count; ++c) {
    Index component = 0; // its number among all components
    for (std::size_t d = 0; d < ofComponents.size(); ++d)
      component += (ofComponents[d].begin + c / within[d] % ofComponents[d].size()) * strides[d];
    const int id = ids_[number][static_cast<std::size_t>(component)];
    if (tensor.areComponentsFirst || count == 1) {
      writeComponent(tensor, id, space, from + static_cast<std::size_t>(c * places) * size);
      continue;
    }
    gathered_.resize(static_cast<std::size_t>(places) * size);
    for (Index i = 0; i < places; ++i)
      std::copy_n(from + static_cast<std::size_t>(i * count + c) * size, size,
                  gathered_.data() + static_cast<std::size_t>(i) * size);
    writeComponent(tensor, id, space, gathered_.data());
  }
}

} // namespace

void requireNetcdf(const char*) {}

std::unique_ptr<DataAccess> makeCfFile(const std::string& path, const CfContents& contents) {
  return std::make_unique<CfFile>(path, contents);
}

} // namespace tenon
