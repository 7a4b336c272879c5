// SPDX-License-Identifier: BSD-2-Clause
// Reads all variables of numbers in the root group of a NetCDF file, as the bytes of a safetensors
// file: floats as F32, all other numbers as F64. The module import reads networks from them
// (import/ann/ann.hpp), on one process, so only calls of the serial library are used. Numbers with
// scale_factor or add_offset are refused, since they are not the tensor's.
//
// This source is an object library of its own, because the command `tenon import` has it as well,
// without the rest of the module.
#include "import/model_file.hpp"
#include "io/dataset/netcdf_open.hpp"
#include "sys/errors/error.hpp"
#include "weights/safetensors.hpp"

#include <fmt/format.h>
#include <netcdf.h>

#include <array>

namespace tenon {

namespace {

constexpr Index kMaxBytes = Index(1) << 30; // of all tensors, which are in memory

class NetcdfTensors {
public:
  explicit NetcdfTensors(const std::string& path) : path_(path), file_(openNetcdf(path)) {}
  ~NetcdfTensors() { nc_close(file_); }
  NetcdfTensors(const NetcdfTensors&) = delete;
  NetcdfTensors& operator=(const NetcdfTensors&) = delete;

  std::string bytes() {
    findTensors();
    std::string bytes = safetensorsHeader(tensors_);
    auto at = bytes.size();
    bytes.resize(at + static_cast<std::size_t>(total_));
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      char* to = bytes.data() + at;
      check(tensors_[i].type == ElementType::F32
                ? nc_get_var_float(file_, ids_[i], reinterpret_cast<float*>(to))
                : nc_get_var_double(file_, ids_[i], reinterpret_cast<double*>(to)),
            tensors_[i].name);
      at += static_cast<std::size_t>(tensors_[i].bytes);
    }
    return bytes;
  }

private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(TENON_ERR_FORMAT,
                fmt::format("cannot read file '{}' as NetCDF: {}", path_, reason));
  }
  void check(int status, const std::string& of = "") const {
    if (status != NC_NOERR)
      fail(fmt::format("{}{}{}", of, of.empty() ? "" : ": ", nc_strerror(status)));
  }

  // Lists the variables that are numbers.
  void findTensors() {
    int count = 0;
    check(nc_inq_nvars(file_, &count));
    for (int id = 0; id < count; ++id) {
      std::array<char, NC_MAX_NAME + 1> name{};
      std::array<int, NC_MAX_VAR_DIMS> dimensions{};
      nc_type type = NC_NAT;
      int rank = 0;
      check(nc_inq_var(file_, id, name.data(), &type, &rank, dimensions.data(), nullptr));
      if (type == NC_CHAR || type == NC_STRING || type > NC_MAX_ATOMIC_TYPE)
        continue;
      StoredTensor tensor{.name = name.data(),
                          .type = type == NC_FLOAT ? ElementType::F32 : ElementType::F64};
      for (const char* packing : {"scale_factor", "add_offset"})
        if (int attribute = 0; nc_inq_attid(file_, id, packing, &attribute) == NC_NOERR)
          fail(fmt::format("{}: it is packed, by the attribute {}; write it without", tensor.name,
                           packing));
      for (int d = 0; d < rank; ++d) {
        std::size_t length = 0;
        check(nc_inq_dimlen(file_, dimensions[static_cast<std::size_t>(d)], &length), tensor.name);
        tensor.shape.push_back(static_cast<Index>(length));
      }
      tensor.bytes = bytesOf(tensor.shape, tensor.type).value_or(kMaxBytes + 1);
      if (tensor.bytes > kMaxBytes - total_)
        fail(fmt::format("its variables have more than {} MiB, the most of a network in NetCDF",
                         kMaxBytes >> 20));
      total_ += tensor.bytes;
      ids_.push_back(id);
      tensors_.push_back(std::move(tensor));
    }
  }

  const std::string path_;
  const int file_;
  Index total_ = 0; // bytes of all tensors
  std::vector<int> ids_;
  std::vector<StoredTensor> tensors_;
};

// Registers the reader with the module import when the library is loaded; before there was none.
[[maybe_unused]] const NetcdfReader kNone =
    setNetcdfReader([](const std::string& path) { return NetcdfTensors(path).bytes(); });

} // namespace

} // namespace tenon
