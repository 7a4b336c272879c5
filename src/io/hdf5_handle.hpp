// SPDX-License-Identifier: BSD-2-Clause
// HDF5's identifiers with their closing calls, and its errors as ours.
#pragma once

#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <dlfcn.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::hdf5 {

// Parallel HDF5 leaves a function of its own with MPI, which MPI_Finalize calls. Were HDF5 unloaded
// before, with the plugin of a host program that brought it, that call would end the process: so
// HDF5 stays loaded from its first use on.
inline bool keepLoaded() noexcept {
#ifdef H5_HAVE_PARALLEL
  Dl_info found;
  return dladdr(reinterpret_cast<const void*>(&H5open), &found) != 0 &&
         dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
#else
  return false;
#endif
}

// HDF5 prints no errors while one of these lives: what a host program has set is back afterwards.
class Silence {
public:
  Silence() {
    [[maybe_unused]] static const bool stays = keepLoaded();
    H5Eget_auto2(H5E_DEFAULT, &print_, &context_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, print_, context_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

private:
  H5E_auto2_t print_ = nullptr;
  void* context_ = nullptr;
};

// Texts that a function called by HDF5 notes. No exception passes through HDF5, which would not
// close what it has opened: it waits here.
class Notes {
public:
  herr_t add(const char* text) noexcept {
    try {
      texts_.emplace_back(text);
      return 0;
    } catch (...) {
      failure_ = std::current_exception();
      return -1;
    }
  }
  std::size_t size() const noexcept { return texts_.size(); }
  std::vector<std::string> take() {
    if (failure_)
      std::rethrow_exception(failure_);
    return std::move(texts_);
  }

private:
  std::vector<std::string> texts_;
  std::exception_ptr failure_;
};

// What HDF5 says of its last error: the words of the innermost function.
inline std::string lastReason() {
  Notes reasons;
  const auto first = [](unsigned, const H5E_error2_t* error, void* notes) noexcept -> herr_t {
    auto& noted = *static_cast<Notes*>(notes);
    return error->desc && noted.size() == 0 ? noted.add(error->desc) : 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &reasons);
  const std::vector<std::string> found = reasons.take();
  return found.empty() || found[0].empty() ? "HDF5 gives no reason" : found[0];
}

// The file and what is being done with it, for messages about calls of HDF5.
struct Subject {
  TenonErrorCode code; // of a failure
  const char* doing;   // "write"
  std::string file;

  [[noreturn]] void fail(std::string_view object, const std::string& reason) const {
    const std::string part = object == "/" ? "" : fmt::format("'{}' of ", object);
    throw Error(code, fmt::format("cannot {} {}file '{}': {}", doing, part, file, reason));
  }
  // The result of a call, which is below 0 if it failed. Its name is no string of its own, since
  // what the call has opened would be lost if there were no memory for one.
  template <class Result>
  Result check(Result result, std::string_view object) const {
    if (result < 0)
      fail(object, lastReason());
    return result;
  }
};

class Handle {
public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  operator hid_t() const noexcept { return id_; }
  herr_t close() noexcept {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id >= 0 ? close_(id) : 0;
  }

private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// The HDF5 types of the data on the disk, and in memory. Whether HDF5 can convert numbers of this
// type: at most 8 bytes of an integer and 16 of a real number, all of whose parts are within. It
// takes the sizes of a damaged file as they are, and writes beyond its own buffers.
inline bool isSoundNumber(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t bytes = H5Tget_size(type), bits = 8 * bytes;
  if (bytes < 1 || bytes > (kind == H5T_INTEGER ? 8 : 16))
    return false;
  const std::size_t precision = H5Tget_precision(type);
  const int offset = H5Tget_offset(type);
  if (precision < 1 || precision > bits || offset < 0 ||
      static_cast<std::size_t>(offset) > bits - precision)
    return false;
  if (kind == H5T_INTEGER)
    return true;
  std::size_t sign = 0, exponent = 0, exponentBits = 0, mantissa = 0, mantissaBits = 0;
  return kind == H5T_FLOAT &&
         H5Tget_fields(type, &sign, &exponent, &exponentBits, &mantissa, &mantissaBits) >= 0 &&
         sign < bits && exponentBits <= 32 && exponent <= bits - exponentBits &&
         mantissaBits <= bits && mantissa <= bits - mantissaBits;
}

inline hid_t storedType(TenonDataType type) {
  switch (type) {
  case TENON_FLOAT32:
    return H5T_IEEE_F32LE;
  case TENON_FLOAT64:
    return H5T_IEEE_F64LE;
  default:
    return H5T_STD_I64LE;
  }
}
inline hid_t nativeType(TenonDataType type) {
  switch (type) {
  case TENON_FLOAT32:
    return H5T_NATIVE_FLOAT;
  case TENON_FLOAT64:
    return H5T_NATIVE_DOUBLE;
  default:
    return H5T_NATIVE_INT64;
  }
}

} // namespace tenon::hdf5
