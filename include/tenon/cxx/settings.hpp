// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: settings whose type the value tells, and layers by the name of their
 *         type. */
#ifndef TENON_CXX_SETTINGS_HPP
#define TENON_CXX_SETTINGS_HPP

#include <tenon/cxx/handle.hpp>

#include <type_traits>

namespace tenon {

/** @brief set() of the classes whose objects have settings by name. */
template <class Class, class Base>
class Settings : public Base {
public:
  using Base::Base;

  /** Settings by name: set("kernel", {3, 3}).set("in_channels", 1).set("data_type", "float64"). */
  Class& set(Text name, Ints values, const Where& where = Where::current()) {
    return self().setIntegers(name, values, where);
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Class& set(Text name, T value, const Where& where = Where::current()) {
    if constexpr (std::is_same_v<T, bool>)
      return self().setBool(name, value, where);
    else if constexpr (std::is_integral_v<T>)
      return self().setIntegers(name, {static_cast<TenonInt>(value)}, where);
    else
      return self().setReal(name, static_cast<double>(value), where);
  }
  Class& set(Text name, Text text, const Where& where = Where::current()) {
    return self().setText(name, text, where);
  }

private:
  Class& self() noexcept { return static_cast<Class&>(*this); }
};

namespace detail {

template <class Base>
class Typed : public Base {
public:
  using Base::Base;
  /** A layer of a type: "conv", "affine", "tanh", "sequential", ... See TenonLayerCreateType(). */
  Typed(MPI_Comm comm, Text type, const Where& where = Where::current()) {
    Call(where).check(TenonLayerCreateType(comm, type.get(), this->out()));
  }
};

} // namespace detail

} // namespace tenon

#endif
