// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: the arrays of tensors as long as they are lent, and arrays of the
 *         program as long as tensors use them. */
#ifndef TENON_CXX_LOAN_HPP
#define TENON_CXX_LOAN_HPP

#include <tenon/cxx/handle.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon {

namespace detail {

/* The type of the numbers in an element of an array: its own, or that of a struct which holds
 * nothing else, such as std::array<double, 3> and OpenFOAM's vector and tensor. */
template <class T, class = void>
struct NumberIn {
  using Type = T;
};
template <class T, std::size_t n>
struct NumberIn<std::array<T, n>> : NumberIn<T> {};
template <class T>
struct NumberIn<T, std::void_t<typename T::cmptType>> : NumberIn<typename T::cmptType> {};
template <class T>
struct NumberIn<const T> {
  using Type = const typename NumberIn<T>::Type;
};

template <class T>
constexpr TenonDataType dataTypeOf() {
  using Element = std::remove_const_t<T>;
  static_assert(std::is_same_v<Element, float> || std::is_same_v<Element, double> ||
                    std::is_same_v<Element, TenonInt> || std::is_same_v<Element, std::int32_t>,
                "elements are float, double, TenonInt or std::int32_t");
  return std::is_same_v<Element, float>      ? TENON_FLOAT32
         : std::is_same_v<Element, double>   ? TENON_FLOAT64
         : std::is_same_v<Element, TenonInt> ? TENON_INT64
                                             : TENON_INT32;
}

inline const char* nameOf(TenonDataType type) {
  return type == TENON_FLOAT32   ? "float32"
         : type == TENON_FLOAT64 ? "float64"
         : type == TENON_INT64   ? "int64"
                                 : "int32";
}

inline std::size_t dimensionsOf(TenonDTensor x, const Where& where) {
  TenonLayout layout = nullptr;
  Call(where).check(TenonDTensorGetLayout(x, &layout));
  int count = 0;
  const TenonErrorCode code = TenonLayoutGetDim(layout, &count);
  TenonLayoutDestroy(&layout);
  Call(where).check(code);
  return size(count);
}

/** @brief What loans have in common: an array that a call has lent, until the end of the scope. A
 *         loan holds a reference to its tensor, which keeps the array valid as long as the loan. */
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

  template <class Lend>
  Lent(TenonDTensor x, Lend lend, const Where& where) {
    Call(where).check(TenonObjectRetain(reinterpret_cast<TenonObject>(x)));
    x_ = Handle<TenonDTensor>(x);
    Call(where).check(lend(x, dataTypeOf<T>(), &array_));
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
    Call(where).check(TenonDTensorGetLocalSize(x_, &elements));
    size_ = detail::size(elements);
    const std::size_t dimensions = dimensionsOf(x_.get(), where);
    std::vector<TenonInt> low(dimensions), high(dimensions);
    strides_.resize(dimensions);
    Call(where).check(TenonDTensorGetBox(x_, low.data(), high.data()));
    Call(where).check(TenonDTensorGetStrides(x_, strides_.data()));
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

/** @brief The local array of a tensor in host memory, lent until the loan leaves its scope: of T
 *         for writing, of const T for reading. It must end before the tensor is used otherwise. */
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

/** @brief How an array of the program holds a tensor, as in TenonDTensorPlaceArray(). Empty lists
 *         are those that may be NULL there; a length of 0 is not checked. */
struct Arrangement {
  Ints strides = {}, ghostsLow = {}, ghostsHigh = {};
  TenonInt length = 0;
};

/** @brief A tensor that uses an array of the program, until the placement leaves its scope. Loans
 *         of the tensor must end before. */
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

namespace detail {

template <class Base>
class Arrays : public Base {
public:
  using Base::Base;

  /** The local array in host memory, for writing and for reading. */
  template <class T>
  Loan<T> array(const Where& where = Where::current()) {
    static_assert(!std::is_const_v<T>, "read<T>() lends for reading");
    return Loan<T>(this->get(), where);
  }
  template <class T>
  Loan<const T> read(const Where& where = Where::current()) const {
    return Loan<const T>(this->get(), where);
  }
  /** The same on the device, of a tensor that is there. */
  template <class T>
  DeviceLoan<T> deviceArray(const Where& where = Where::current()) {
    static_assert(!std::is_const_v<T>, "readDevice<T>() lends for reading");
    return DeviceLoan<T>(this->get(), where);
  }
  template <class T>
  DeviceLoan<const T> readDevice(const Where& where = Where::current()) const {
    return DeviceLoan<const T>(this->get(), where);
  }
  /** The first element that the rank owns, in an array of const elements for reading only. Keep
   *  what is returned as long as the tensor shall use the array. Elements of std::array or of
   *  OpenFOAM's vector are taken as their numbers, which strides and the length count. */
  template <class T>
  [[nodiscard]] Placement place(T* firstOwned, const Arrangement& a = {},
                                const Where& where = Where::current()) {
    using Number = typename detail::NumberIn<T>::Type;
    if constexpr (!std::is_same_v<T, Number>)
      return place<Number>(firstOwned, a, where);
    else
      return placeNumbers(firstOwned, a, where);
  }
  /** The same for any struct of equal numbers, whose type is named: place<double>(structs). */
  template <class Number, class Struct,
            class = std::enable_if_t<std::is_class_v<Struct> && std::is_arithmetic_v<Number>>>
  [[nodiscard]] Placement place(Struct* firstOwned, const Arrangement& a = {},
                                const Where& where = Where::current()) {
    static_assert(std::is_standard_layout_v<Struct> && sizeof(Struct) % sizeof(Number) == 0 &&
                      alignof(Struct) % alignof(Number) == 0,
                  "a struct of numbers holds nothing else");
    using Element = std::conditional_t<std::is_const_v<Struct>, const Number, Number>;
    return placeNumbers(reinterpret_cast<Element*>(firstOwned), a, where);
  }
  /** A list, with size() and data() or cdata(), that begins with the first owned element. Its
   *  length is that of the arrangement. */
  template <class Container, class T = std::remove_pointer_t<FirstOf<Container>>>
  [[nodiscard]] Placement place(Container& list, Arrangement a = {},
                                const Where& where = Where::current()) {
    using Number = std::remove_const_t<typename NumberIn<T>::Type>;
    for (std::size_t d = 0; d < a.ghostsLow.size(); ++d)
      if (a.ghostsLow.data()[d] != 0)
        throw std::invalid_argument("tenon::DTensor::place: a list begins with the first owned "
                                    "element; pass the address of this element where ghosts are "
                                    "before it");
    TenonInt elements = 0;
    Call(where).check(TenonDTensorGetLocalSize(this->get(), &elements));
    a.length = static_cast<TenonInt>(list.size()) * TenonInt(sizeof(T) / sizeof(Number));
    if (a.length == 0 && elements > 0) /* which the call would not check */
      throw std::length_error("tenon::DTensor::place: the list is empty, but needs " +
                              std::to_string(elements) + " numbers");
    return place(firstOf(list, 0), a, where);
  }
  /** The same for one array for each index of a dimension, whose values gatherArrays() and
   *  scatterArrays() copy: placeArrays<double>(1, {u, v}). */
  template <class T>
  [[nodiscard]] Placement placeArrays(int dim, List<T*> firstOwned, const Arrangement& a = {},
                                      const Where& where = Where::current()) {
    checkPlace(dataTypeOf<T>(), a, where);
    using Address = std::conditional_t<std::is_const_v<T>, const void*, void*>;
    const std::vector<Address> addresses(firstOwned.data(), firstOwned.data() + firstOwned.size());
    const auto count = static_cast<int>(addresses.size());
    const TenonInt *strides = orNull(a.strides), *low = orNull(a.ghostsLow),
                   *high = orNull(a.ghostsHigh);
    if constexpr (std::is_const_v<T>)
      Call(where).check(TenonDTensorPlaceArraysRead(this->get(), dim, count, addresses.data(), 1,
                                                    strides, low, high, &a.length));
    else
      Call(where).check(TenonDTensorPlaceArrays(this->get(), dim, count, addresses.data(), 1,
                                                strides, low, high, &a.length));
    return Placement(this->retained(where));
  }

  /** The same for components that differ in strides and ghost cells, each as it is arranged, with
   *  strides for all or for none:
   *  placeComponents<double>(1, {u, v}, {{{}, low, high}, {{}, low, wider}}). */
  template <class T>
  [[nodiscard]] Placement placeComponents(int dim, List<T*> firstOwned,
                                          const std::vector<Arrangement>& arrangements,
                                          const Where& where = Where::current()) {
    const std::size_t dimensions = dimensionsOf(this->get(), where);
    checkLength("tenon::DTensor::placeComponents: arrangements", arrangements.size(),
                firstOwned.size());
    const bool hasStrides = !arrangements.empty() && arrangements[0].strides.size() > 0;
    using Address = std::conditional_t<std::is_const_v<T>, const void*, void*>;
    const std::vector<Address> addresses(firstOwned.data(), firstOwned.data() + firstOwned.size());
    const auto count = static_cast<int>(addresses.size());
    std::vector<TenonInt> strides, low, high, lengths;
    for (const Arrangement& a : arrangements) {
      checkPlace(dataTypeOf<T>(), a, where);
      checkLength("tenon::DTensor::placeComponents: strides", a.strides.size(),
                  hasStrides ? dimensions : 0);
      append(a.strides, dimensions, strides);
      append(a.ghostsLow, dimensions, low);
      append(a.ghostsHigh, dimensions, high);
      lengths.push_back(a.length);
    }
    const TenonInt* stridesOrNull = hasStrides ? strides.data() : nullptr;
    if constexpr (std::is_const_v<T>)
      Call(where).check(TenonDTensorPlaceArraysRead(this->get(), dim, count, addresses.data(),
                                                    count, stridesOrNull, low.data(), high.data(),
                                                    lengths.data()));
    else
      Call(where).check(TenonDTensorPlaceArrays(this->get(), dim, count, addresses.data(), count,
                                                stridesOrNull, low.data(), high.data(),
                                                lengths.data()));
    return Placement(this->retained(where));
  }

private:
  template <class T>
  Placement placeNumbers(T* firstOwned, const Arrangement& a, const Where& where) {
    checkPlace(dataTypeOf<T>(), a, where);
    const TenonInt *strides = orNull(a.strides), *low = orNull(a.ghostsLow),
                   *high = orNull(a.ghostsHigh);
    if constexpr (std::is_const_v<T>)
      Call(where).check(
          TenonDTensorPlaceArrayRead(this->get(), firstOwned, strides, low, high, a.length));
    else
      Call(where).check(
          TenonDTensorPlaceArray(this->get(), firstOwned, strides, low, high, a.length));
    return Placement(this->retained(where));
  }
  // Adds a list, or zeros where it was left out.
  static void append(const Ints& list, std::size_t dimensions, std::vector<TenonInt>& all) {
    if (list.size() == 0)
      all.insert(all.end(), dimensions, 0);
    else
      all.insert(all.end(), list.data(), list.data() + list.size());
  }
  void checkPlace(TenonDataType type, const Arrangement& a, const Where& where) const {
    TenonDataType own = type;
    Call(where).check(TenonDTensorGetDataType(this->get(), &own));
    if (own != type) {
      const std::string message =
          std::string("the array has ") + nameOf(type) + " elements, but the tensor has " +
          nameOf(own) +
          "; give both the same type (tensors of a layer have its setting data_type, which is "
          "float32 by default)";
      throw Error(TENON_ERR_DATATYPE, message, message);
    }
    const std::size_t dimensions = dimensionsOf(this->get(), where);
    checkLengthIfAny("tenon::DTensor::place: strides", a.strides.size(), dimensions);
    checkLengthIfAny("tenon::DTensor::place: ghostsLow", a.ghostsLow.size(), dimensions);
    checkLengthIfAny("tenon::DTensor::place: ghostsHigh", a.ghostsHigh.size(), dimensions);
  }
};

} // namespace detail

} // namespace tenon

#endif
