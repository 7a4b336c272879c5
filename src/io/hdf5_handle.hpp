// SPDX-License-Identifier: BSD-2-Clause
// Helpers for calls of HDF5's C interface, which returns identifiers (hid_t) and negative numbers
// for errors. Typical use:
//
//   const Silence silence;                                 // HDF5 prints no error messages
//   const Subject subject{TENON_ERR_FILE, "read", path};   // for the text of exceptions
//   const Handle file(subject.check(H5Fopen(...), "/"), H5Fclose);   // closed by the destructor
//
// Also collectors for HDF5's callbacks, and the types of numbers in files and in memory.
#pragma once

#include "comm/mpi.hpp"
#include "io/keep_loaded.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::hdf5 {

// Keeps parallel HDF5 loaded until the process ends (keep_loaded.hpp says why). Serial HDF5 does
// not call MPI, so it can be unloaded.
inline bool keepHdf5Loaded() noexcept {
#ifdef H5_HAVE_PARALLEL
  return keepLoaded(H5open);
#else
  return false;
#endif
}

// While an object of this class exists, HDF5 prints no error messages. The destructor restores the
// host program's setting.
class Silence {
public:
  Silence() {
    [[maybe_unused]] static const bool isKept = keepHdf5Loaded();
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

// Collects texts in a callback of HDF5. An exception must not propagate through HDF5, which would
// leak open objects, so it is stored and thrown later by take().
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

// Returns HDF5's description of its last error, from the innermost function.
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

// The file and the operation, for error messages of HDF5 calls.
struct Subject {
  TenonErrorCode code; // error code of a failure
  const char* doing;   // verb: "read" or "write"
  std::string file;

  // Throws an error about an object of the file (its path in the file, "/" for the whole file).
  [[noreturn]] void fail(std::string_view object, const std::string& reason) const {
    const std::string part = object == "/" ? "" : fmt::format("'{}' of ", object);
    throw Error(code, fmt::format("cannot {} {}file '{}': {}", doing, part, file, reason));
  }
  // Returns the result of an HDF5 call, or throws if it is negative. The name is a string_view
  // because constructing a string could fail and leak the object that the call has opened.
  template <class Result>
  Result check(Result result, std::string_view object) const {
    if (result < 0)
      fail(object, lastReason());
    return result;
  }
};

// An HDF5 identifier that is closed by the destructor.
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

// Whether HDF5 can convert numbers of this type: integers of at most 8 bytes and real numbers of at
// most 16, whose bit fields (sign, exponent, mantissa) are all inside these bytes. HDF5 does not
// check the sizes in a damaged file, and would write beyond its buffers.
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

// The HDF5 types of data: storedType() in the file (little-endian), nativeType() in memory.
inline hid_t storedType(TenonDataType type) {
  switch (type) {
  case TENON_FLOAT32:
    return H5T_IEEE_F32LE;
  case TENON_FLOAT64:
    return H5T_IEEE_F64LE;
  case TENON_INT32:
    return H5T_STD_I32LE;
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
  case TENON_INT32:
    return H5T_NATIVE_INT32;
  default:
    return H5T_NATIVE_INT64;
  }
}

} // namespace tenon::hdf5
