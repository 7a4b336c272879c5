// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: distributed tensors, and their arrays as long as they are lent. */
#ifndef TENON_CXX_DTENSOR_HPP
#define TENON_CXX_DTENSOR_HPP

#include <tenon/cxx/layout.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon {

namespace detail {

template <class T>
constexpr TenonDataType dataType() {
  using Element = std::remove_const_t<T>;
  static_assert(std::is_same_v<Element, float> || std::is_same_v<Element, double> ||
                    std::is_same_v<Element, TenonInt>,
                "elements are float, double or TenonInt");
  return std::is_same_v<Element, float>    ? TENON_FLOAT32
         : std::is_same_v<Element, double> ? TENON_FLOAT64
                                           : TENON_INT64;
}

/** @brief What loans have in common: an array that a call has lent, until the end of the scope. A loan
 *         holds a reference to its tensor, so that the array is there as long as the loan. */
template <class T>
class Lent {
public:
  ~Lent() { restore(); }
  Lent(Lent&& other) noexcept
      : x_(std::move(other.x_)), array_(std::exchange(other.array_, nullptr)),
        size_(std::exchange(other.size_, 0)), strides_(std::move(other.strides_)),
        isContiguous_(other.isContiguous_) {}
  Lent& operator=(Lent&&) = delete;

  /** The first element of this rank's box. */
  T* data() const noexcept { return static_cast<T*>(array_); }
  /** The number of elements in the box. */
  std::size_t size() const noexcept { return size_; }
  /** In elements, for each dimension. */
  const std::vector<TenonInt>& strides() const noexcept { return strides_; }

protected:
  static constexpr bool kReads = std::is_const_v<T>;
  using Address = std::conditional_t<kReads, const void*, void*>;

  template <class Call>
  Lent(TenonDTensor x, Call lend, const Where& where) {
    run(where, TenonObjectRetain, reinterpret_cast<TenonObject>(x));
    x_ = Handle<TenonDTensor>(x);
    run(where, lend, x, dataType<T>(), &array_);
    try {
      describe(where);
    } catch (...) {
      restore();
      throw;
    }
  }
  bool isContiguous() const noexcept { return isContiguous_; }

private:
  void describe(const Where& where) {
    TenonInt elements = 0;
    run(where, TenonDTensorGetLocalSize, x_, &elements);
    size_ = static_cast<std::size_t>(elements);
    Layout layout;
    run(where, TenonDTensorGetLayout, x_, layout.out());
    const auto dimensions = static_cast<std::size_t>(layout.dimensions(where));
    std::vector<TenonInt> low(dimensions), high(dimensions);
    strides_.resize(dimensions);
    run(where, TenonDTensorGetBox, x_, low.data(), high.data());
    run(where, TenonDTensorGetStrides, x_, strides_.data());
    TenonInt expected = 1;
    for (std::size_t d = dimensions; size_ > 0 && d-- > 0; expected *= high[d] - low[d])
      isContiguous_ = isContiguous_ && (high[d] - low[d] == 1 || strides_[d] == expected);
  }
  void restore() noexcept {
    if (!x_)
      return;
    if constexpr (kReads)
      TenonDTensorRestoreArrayRead(x_, &array_);
    else
      TenonDTensorRestoreArray(x_, &array_);
    x_.reset();
  }

  Handle<TenonDTensor> x_;
  Address array_ = nullptr;
  std::size_t size_ = 0;
  std::vector<TenonInt> strides_;
  bool isContiguous_ = true;
};

} // namespace detail

/** @brief First and last index (excluded) of a rank's elements in each dimension. */
struct Box {
  std::vector<TenonInt> low, high;
};

/** @brief The local array of a tensor in host memory, lent until the loan goes out of scope: of T for
 *         writing, of const T for reading. It must end before the tensor is used otherwise. */
template <class T>
class Loan : public detail::Lent<T> {
  using Lent = detail::Lent<T>;

public:
  Loan(TenonDTensor x, const Where& where) : Lent(x, call(), where) {}

  T& operator[](std::ptrdiff_t offset) const { return this->data()[offset]; }
  /** All elements in row-major order; of a tensor that is not contiguous an exception. */
  T* begin() const {
    if (!this->isContiguous())
      throw std::logic_error("tenon::Loan: the array is not contiguous; use its strides");
    return this->data();
  }
  T* end() const { return begin() + this->size(); }

private:
  static constexpr auto call() {
    if constexpr (Lent::kReads)
      return TenonDTensorGetArrayRead;
    else
      return TenonDTensorGetArray;
  }
};

/** @brief The same on the device: addresses for kernels, which the host cannot read. Kernels of
 *         the program must be complete when the loan ends. */
template <class T>
class DeviceLoan : public detail::Lent<T> {
  using Lent = detail::Lent<T>;

public:
  DeviceLoan(TenonDTensor x, const Where& where) : Lent(x, call(), where) {}

private:
  static constexpr auto call() {
    if constexpr (Lent::kReads)
      return TenonDTensorGetDeviceArrayRead;
    else
      return TenonDTensorGetDeviceArray;
  }
};

/** @brief How an array of the program holds a tensor, as in TenonDTensorPlaceArray(). Empty lists are
 *         those that may be NULL there; a length of 0 is not checked. */
struct Arrangement {
  Ints strides = {}, ghostsLow = {}, ghostsHigh = {};
  TenonInt length = 0;
};

/** @brief A tensor that uses an array of the program, until the placement goes out of scope. Loans of the
 *         tensor must end before. */
class Placement {
public:
  /** Takes over a reference. */
  explicit Placement(TenonDTensor x) noexcept : x_(x) {}
  ~Placement() {
    if (x_)
      TenonDTensorResetArray(x_);
    TenonDTensorDestroy(&x_);
  }
  Placement(Placement&& other) noexcept : x_(std::exchange(other.x_, nullptr)) {}
  Placement& operator=(Placement&&) = delete;

private:
  TenonDTensor x_;
};

class DTensor : public Handle<TenonDTensor> {
public:
  using Handle::Handle;
  DTensor(const Layout& layout, TenonDataType type, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorCreate, layout, type, out());
  }
  DTensor share(const Where& where = Where::current()) const { return DTensor(retained(where)); }

  /** Before the first use of the values. */
  void setSpace(TenonMemorySpace space, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorSetSpace, get(), space);
  }
  TenonMemorySpace space(const Where& where = Where::current()) const {
    TenonMemorySpace space = TENON_MEMORY_HOST;
    detail::run(where, TenonDTensorGetSpace, get(), &space);
    return space;
  }

  /** The local array in host memory, for writing and for reading. */
  template <class T>
  Loan<T> array(const Where& where = Where::current()) {
    static_assert(!std::is_const_v<T>, "read<T>() lends for reading");
    return Loan<T>(get(), where);
  }
  template <class T>
  Loan<const T> read(const Where& where = Where::current()) const {
    return Loan<const T>(get(), where);
  }
  /** The same on the device, of a tensor that is there. */
  template <class T>
  DeviceLoan<T> deviceArray(const Where& where = Where::current()) {
    static_assert(!std::is_const_v<T>, "readDevice<T>() lends for reading");
    return DeviceLoan<T>(get(), where);
  }
  template <class T>
  DeviceLoan<const T> readDevice(const Where& where = Where::current()) const {
    return DeviceLoan<const T>(get(), where);
  }
  /** The first element that the rank owns, in an array of const elements for reading only. Keep what
   *  is returned as long as the tensor shall use the array. */
  template <class T>
  [[nodiscard]] Placement place(T* firstOwned, const Arrangement& a = {},
                                const Where& where = Where::current()) {
    checkPlace(detail::dataType<T>(), a, where);
    const TenonInt *strides = orNull(a.strides), *low = orNull(a.ghostsLow),
                   *high = orNull(a.ghostsHigh);
    if constexpr (std::is_const_v<T>)
      detail::run(where, TenonDTensorPlaceArrayRead, get(), firstOwned, strides, low, high,
                  a.length);
    else
      detail::run(where, TenonDTensorPlaceArray, get(), firstOwned, strides, low, high, a.length);
    return Placement(retained(where));
  }

  Layout layout(const Where& where = Where::current()) const {
    Layout made;
    detail::run(where, TenonDTensorGetLayout, get(), made.out());
    return made;
  }
  TenonDataType dataType(const Where& where = Where::current()) const {
    TenonDataType type = TENON_FLOAT32;
    detail::run(where, TenonDTensorGetDataType, get(), &type);
    return type;
  }
  /** This rank's elements, halo included. */
  Box box(const Where& where = Where::current()) const {
    const auto dimensions = static_cast<std::size_t>(layout(where).dimensions(where));
    Box box{std::vector<TenonInt>(dimensions), std::vector<TenonInt>(dimensions)};
    detail::run(where, TenonDTensorGetBox, get(), box.low.data(), box.high.data());
    return box;
  }

  void fill(double value, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorFillConstant, get(), value);
  }
  void fillUniform(TenonInt seed, TenonInt stream, double low, double high,
                   const Where& where = Where::current()) {
    detail::run(where, TenonDTensorFillUniform, get(), seed, stream, low, high);
  }
  void fillNormal(TenonInt seed, TenonInt stream, double mean, double deviation,
                  const Where& where = Where::current()) {
    detail::run(where, TenonDTensorFillNormal, get(), seed, stream, mean, deviation);
  }
  /** This tensor becomes x. */
  void copy(const DTensor& x, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorCopy, x.get(), get());
  }
  /** This tensor becomes alpha x + beta times itself. */
  void axpby(double alpha, const DTensor& x, double beta, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorAXPBY, alpha, x.get(), beta, get());
  }
  void scale(double factor, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorScale, factor, get());
  }
  double norm(const Where& where = Where::current()) const {
    double value = 0;
    detail::run(where, TenonDTensorNorm, get(), &value);
    return value;
  }
  double maxAbs(const Where& where = Where::current()) const {
    double value = 0;
    detail::run(where, TenonDTensorMaxAbs, get(), &value);
    return value;
  }
  /** With a tensor in the dual layout. */
  double pairing(const DTensor& y, const Where& where = Where::current()) const {
    double value = 0;
    detail::run(where, TenonDTensorPairing, get(), y.get(), &value);
    return value;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonObjectView, object());
  }

private:
  static const TenonInt* orNull(const Ints& list) {
    return list.size() > 0 ? list.data() : nullptr;
  }
  void checkPlace(TenonDataType type, const Arrangement& a, const Where& where) const {
    if (dataType(where) != type) {
      const std::string message =
          "the elements of the array are of another type than those of the tensor";
      throw Error(TENON_ERR_DATATYPE, message, message);
    }
    const auto dimensions = static_cast<std::size_t>(layout(where).dimensions(where));
    for (const Ints* list : {&a.strides, &a.ghostsLow, &a.ghostsHigh})
      if (list->size() != 0 && list->size() != dimensions)
        throw std::length_error(
            "tenon::DTensor::place: strides and ghosts have one number for each "
            "dimension of the tensor");
  }
};

} // namespace tenon

#endif
