// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: layers by the name of their type, and settings whose type the value
 *         tells. */
#ifndef TENON_CXX_SETTINGS_HPP
#define TENON_CXX_SETTINGS_HPP

#include <tenon/cxx/generated/object.hpp>

#include <type_traits>

namespace tenon {

namespace detail {

template <class Layer>
class LayerSettings : public Object<TenonLayer> {
public:
  using Object::Object;
  /** A layer of a type: "conv", "affine", "tanh", "sequential", ... See TenonLayerSetType(). */
  LayerSettings(MPI_Comm comm, Text type, const Where& where = Where::current()) {
    Call(where).check(TenonLayerCreate(comm, out()));
    Call(where).check(TenonLayerSetType(get(), type.get()));
  }

  /** Settings by name: set("kernel", {3, 3}).set("in_channels", 1).set("data_type", "float64"). */
  Layer& set(Text name, Ints values, const Where& where = Where::current()) {
    Call(where).check(TenonLayerSetIntegers(get(), name.get(), static_cast<TenonInt>(values.size()),
                                            values.data()));
    return self();
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Layer& set(Text name, T value, const Where& where = Where::current()) {
    if constexpr (std::is_same_v<T, bool>) {
      Call(where).check(TenonLayerSetBool(get(), name.get(), truth(value)));
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = static_cast<TenonInt>(value);
      Call(where).check(TenonLayerSetIntegers(get(), name.get(), 1, &number));
    } else {
      Call(where).check(TenonLayerSetReal(get(), name.get(), static_cast<double>(value)));
    }
    return self();
  }
  Layer& set(Text name, Text text, const Where& where = Where::current()) {
    Call(where).check(TenonLayerSetText(get(), name.get(), text.get()));
    return self();
  }

private:
  Layer& self() noexcept { return static_cast<Layer&>(*this); }
};

} // namespace detail

} // namespace tenon

#endif
