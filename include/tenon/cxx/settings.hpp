// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: settings whose type the value tells, and layers by the name of their
 *         type. */
#ifndef TENON_CXX_SETTINGS_HPP
#define TENON_CXX_SETTINGS_HPP

#include <tenon/cxx/generated/object.hpp>

#include <type_traits>

namespace tenon {

namespace detail {

/** Objects with settings: layers, optimizers, trainers, datasets, checkpoints, series of fields and
 *  plans. */
template <class Class, class Handle>
class SettableObject : public Object<Handle> {
public:
  using Object<Handle>::Object;

  /** Settings by name: set("kernel", {3, 3}).set("in_channels", 1).set("data_type", "float64"). */
  Class& set(Text name, Ints values, const Where& where = Where::current()) {
    Call(where).check(TenonObjectSetIntegers(this->object(), name.get(),
                                             static_cast<TenonInt>(values.size()), values.data()));
    return self();
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Class& set(Text name, T value, const Where& where = Where::current()) {
    if constexpr (std::is_same_v<T, bool>) {
      Call(where).check(TenonObjectSetBool(this->object(), name.get(), truth(value)));
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = static_cast<TenonInt>(value);
      Call(where).check(TenonObjectSetIntegers(this->object(), name.get(), 1, &number));
    } else {
      Call(where).check(TenonObjectSetReal(this->object(), name.get(), static_cast<double>(value)));
    }
    return self();
  }
  Class& set(Text name, Text text, const Where& where = Where::current()) {
    Call(where).check(TenonObjectSetText(this->object(), name.get(), text.get()));
    return self();
  }

private:
  Class& self() noexcept { return static_cast<Class&>(*this); }
};

template <class Layer>
class LayerOfType : public SettableObject<Layer, TenonLayer> {
public:
  using SettableObject<Layer, TenonLayer>::SettableObject;
  /** A layer of a type: "conv", "affine", "tanh", "sequential", ... See TenonLayerCreateType(). */
  LayerOfType(MPI_Comm comm, Text type, const Where& where = Where::current()) {
    Call(where).check(TenonLayerCreateType(comm, type.get(), this->out()));
  }
};

} // namespace detail

} // namespace tenon

#endif
