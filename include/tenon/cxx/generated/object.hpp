// SPDX-License-Identifier: BSD-2-Clause
// Made by src/interfaces/cxx/generate.py from the public headers. Do not edit.
// clang-format off
/** @file
 *  @brief Part of tenon.hpp: what all objects have. */
#ifndef TENON_CXX_GENERATED_OBJECT_HPP
#define TENON_CXX_GENERATED_OBJECT_HPP

#include <tenon/cxx/handle.hpp>

#include <string>

namespace tenon {

namespace detail {

template <>
struct Destroy<TenonTrainer> {
  static void call(TenonTrainer* handle) noexcept {
    TenonTrainerDestroy(handle);
  }
};
template <>
struct Destroy<TenonPartition> {
  static void call(TenonPartition* handle) noexcept {
    TenonPartitionDestroy(handle);
  }
};
template <>
struct Destroy<TenonLayout> {
  static void call(TenonLayout* handle) noexcept {
    TenonLayoutDestroy(handle);
  }
};
template <>
struct Destroy<TenonIndexMap> {
  static void call(TenonIndexMap* handle) noexcept {
    TenonIndexMapDestroy(handle);
  }
};
template <>
struct Destroy<TenonEdges> {
  static void call(TenonEdges* handle) noexcept {
    TenonEdgesDestroy(handle);
  }
};
template <>
struct Destroy<TenonLinks> {
  static void call(TenonLinks* handle) noexcept {
    TenonLinksDestroy(handle);
  }
};
template <>
struct Destroy<TenonDTensor> {
  static void call(TenonDTensor* handle) noexcept {
    TenonDTensorDestroy(handle);
  }
};
template <>
struct Destroy<TenonLinearOp> {
  static void call(TenonLinearOp* handle) noexcept {
    TenonLinearOpDestroy(handle);
  }
};
template <>
struct Destroy<TenonLayer> {
  static void call(TenonLayer* handle) noexcept {
    TenonLayerDestroy(handle);
  }
};
template <>
struct Destroy<TenonMachine> {
  static void call(TenonMachine* handle) noexcept {
    TenonMachineDestroy(handle);
  }
};
template <>
struct Destroy<TenonOptimizer> {
  static void call(TenonOptimizer* handle) noexcept {
    TenonOptimizerDestroy(handle);
  }
};
template <>
struct Destroy<TenonDataset> {
  static void call(TenonDataset* handle) noexcept {
    TenonDatasetDestroy(handle);
  }
};
template <>
struct Destroy<TenonCheckpoint> {
  static void call(TenonCheckpoint* handle) noexcept {
    TenonCheckpointDestroy(handle);
  }
};
template <>
struct Destroy<TenonFieldSeries> {
  static void call(TenonFieldSeries* handle) noexcept {
    TenonFieldSeriesDestroy(handle);
  }
};
template <>
struct Destroy<TenonPlacementList> {
  static void call(TenonPlacementList* handle) noexcept {
    TenonPlacementListDestroy(handle);
  }
};
template <>
struct Destroy<TenonReductionPrograms> {
  static void call(TenonReductionPrograms* handle) noexcept {
    TenonReductionProgramsDestroy(handle);
  }
};
template <>
struct Destroy<TenonPlan> {
  static void call(TenonPlan* handle) noexcept {
    TenonPlanDestroy(handle);
  }
};

} // namespace detail

/** @brief One reference to an object: what all classes have. */
template <class Class, class C>
class Object : public Handle<C> {
public:
  using Handle<C>::Handle;

  /** Sets the name of an object, used in messages, views and reports. TenonObjectSetName() */
  Class& setName(Text name = {}, const Where& where = Where::current());
  /** Returns the name of an object. TenonObjectGetName() */
  std::string name(const Where& where = Where::current()) const;
  /** Sets the prefix of the object's options. TenonObjectSetOptionsPrefix() */
  Class& setOptionsPrefix(Text prefix = {}, const Where& where = Where::current());
  /** Returns the prefix of the object's options. TenonObjectGetOptionsPrefix() */
  std::string optionsPrefix(const Where& where = Where::current()) const;
  /** Returns the class of an object: "Partition", "Layout", "DTensor", . TenonObjectGetClass() */
  std::string className(const Where& where = Where::current()) const;
  /** Returns the type of an object within its class: "conv", "adam", "halo", .
   *  TenonObjectGetType() */
  std::string type(const Where& where = Where::current()) const;
  /** Returns the communicator of an object. TenonObjectGetComm() */
  MPI_Comm comm(const Where& where = Where::current()) const;
  /** Returns the number of references, Tenon's own included. TenonObjectGetReferences() */
  int references(const Where& where = Where::current()) const;
  /** Prints an object, on rank 0 of its communicator. TenonObjectView() */
  void view(const Where& where = Where::current()) const;
  /** Sets a setting that takes integers. TenonObjectSetIntegers() */
  Class& setIntegers(Text name, Ints values, const Where& where = Where::current());
  /** Sets a setting that takes a real number. TenonObjectSetReal() */
  Class& setReal(Text name, double value, const Where& where = Where::current());
  /** Sets a setting that takes text. TenonObjectSetText() */
  Class& setText(Text name, Text text, const Where& where = Where::current());
  /** Sets a setting that is true or false. TenonObjectSetBool() */
  Class& setBool(Text name, bool value, const Where& where = Where::current());
  /** Reads the options -tenon_[prefix_]name of all settings. TenonObjectSetFromOptions() */
  Class& setFromOptions(const Where& where = Where::current());
  /** Returns integers as set, or their default. TenonObjectGetIntegers() */
  std::vector<TenonInt> getIntegers(Text name, const Where& where = Where::current()) const;
  /** Returns a real number as set, or its default. TenonObjectGetReal() */
  double getReal(Text name, const Where& where = Where::current()) const;
  /** Returns text as set, or its default. TenonObjectGetText() */
  std::string getText(Text name, const Where& where = Where::current()) const;
  /** Returns whether a setting is true, as set or by default. TenonObjectGetBool() */
  bool getBool(Text name, const Where& where = Where::current()) const;
  /** Returns whether a setting has been set, or has its default. TenonObjectIsSet() */
  bool isSet(Text name, const Where& where = Where::current());
};

template <class Class, class C>
Class& Object<Class, C>::setName(Text name, const Where& where) {
  detail::Call(where).check(TenonObjectSetName(this->object(), name.get()));
  return static_cast<Class&>(*this);
}
template <class Class, class C>
std::string Object<Class, C>::name(const Where& where) const {
  detail::TextBuffer name;
  detail::Call(where).check(TenonObjectGetName(this->object(), nullptr, 0, name.needed()));
  detail::Call(where).check(TenonObjectGetName(this->object(), name.allocate(), name.length(),
      nullptr));
  return name.take();
}
template <class Class, class C>
Class& Object<Class, C>::setOptionsPrefix(Text prefix, const Where& where) {
  detail::Call(where).check(TenonObjectSetOptionsPrefix(this->object(), prefix.get()));
  return static_cast<Class&>(*this);
}
template <class Class, class C>
std::string Object<Class, C>::optionsPrefix(const Where& where) const {
  detail::TextBuffer prefix;
  detail::Call(where).check(TenonObjectGetOptionsPrefix(this->object(), nullptr, 0,
      prefix.needed()));
  detail::Call(where).check(TenonObjectGetOptionsPrefix(this->object(), prefix.allocate(),
      prefix.length(), nullptr));
  return prefix.take();
}
template <class Class, class C>
std::string Object<Class, C>::className(const Where& where) const {
  detail::TextBuffer name;
  detail::Call(where).check(TenonObjectGetClass(this->object(), nullptr, 0, name.needed()));
  detail::Call(where).check(TenonObjectGetClass(this->object(), name.allocate(), name.length(),
      nullptr));
  return name.take();
}
template <class Class, class C>
std::string Object<Class, C>::type(const Where& where) const {
  detail::TextBuffer type;
  detail::Call(where).check(TenonObjectGetType(this->object(), nullptr, 0, type.needed()));
  detail::Call(where).check(TenonObjectGetType(this->object(), type.allocate(), type.length(),
      nullptr));
  return type.take();
}
template <class Class, class C>
MPI_Comm Object<Class, C>::comm(const Where& where) const {
  MPI_Comm comm = MPI_COMM_NULL;
  detail::Call(where).check(TenonObjectGetComm(this->object(), &comm));
  return comm;
}
template <class Class, class C>
int Object<Class, C>::references(const Where& where) const {
  int references{};
  detail::Call(where).check(TenonObjectGetReferences(this->object(), &references));
  return references;
}
template <class Class, class C>
void Object<Class, C>::view(const Where& where) const {
  detail::Call(where).check(TenonObjectView(this->object()));
}
template <class Class, class C>
Class& Object<Class, C>::setIntegers(Text name, Ints values, const Where& where) {
  detail::Call(where).check(TenonObjectSetIntegers(this->object(), name.get(),
      static_cast<TenonInt>(values.size()), values.data()));
  return static_cast<Class&>(*this);
}
template <class Class, class C>
Class& Object<Class, C>::setReal(Text name, double value, const Where& where) {
  detail::Call(where).check(TenonObjectSetReal(this->object(), name.get(), value));
  return static_cast<Class&>(*this);
}
template <class Class, class C>
Class& Object<Class, C>::setText(Text name, Text text, const Where& where) {
  detail::Call(where).check(TenonObjectSetText(this->object(), name.get(), text.get()));
  return static_cast<Class&>(*this);
}
template <class Class, class C>
Class& Object<Class, C>::setBool(Text name, bool value, const Where& where) {
  detail::Call(where).check(TenonObjectSetBool(this->object(), name.get(), detail::truth(value)));
  return static_cast<Class&>(*this);
}
template <class Class, class C>
Class& Object<Class, C>::setFromOptions(const Where& where) {
  detail::Call(where).check(TenonObjectSetFromOptions(this->object()));
  return static_cast<Class&>(*this);
}
template <class Class, class C>
std::vector<TenonInt> Object<Class, C>::getIntegers(Text name, const Where& where) const {
  TenonInt count = 0;
  detail::Call(where).check(TenonObjectGetIntegers(this->object(), name.get(), 0, nullptr, &count));
  std::vector<TenonInt> values(detail::size(count));
  detail::Call(where).check(TenonObjectGetIntegers(this->object(), name.get(), count, values.data(),
      nullptr));
  return values;
}
template <class Class, class C>
double Object<Class, C>::getReal(Text name, const Where& where) const {
  double value{};
  detail::Call(where).check(TenonObjectGetReal(this->object(), name.get(), &value));
  return value;
}
template <class Class, class C>
std::string Object<Class, C>::getText(Text name, const Where& where) const {
  detail::TextBuffer text;
  detail::Call(where).check(TenonObjectGetText(this->object(), name.get(), nullptr, 0,
      text.needed()));
  detail::Call(where).check(TenonObjectGetText(this->object(), name.get(), text.allocate(),
      text.length(), nullptr));
  return text.take();
}
template <class Class, class C>
bool Object<Class, C>::getBool(Text name, const Where& where) const {
  TenonBool value{};
  detail::Call(where).check(TenonObjectGetBool(this->object(), name.get(), &value));
  return value != TENON_FALSE;
}
template <class Class, class C>
bool Object<Class, C>::isSet(Text name, const Where& where) {
  TenonBool isSet{};
  detail::Call(where).check(TenonObjectIsSet(this->object(), name.get(), &isSet));
  return isSet != TENON_FALSE;
}

} // namespace tenon

#endif
