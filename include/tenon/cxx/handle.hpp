// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: lists of numbers, handles that release themselves, and sessions. */
#ifndef TENON_CXX_HANDLE_HPP
#define TENON_CXX_HANDLE_HPP

#include <tenon.h>
#include <tenon/cxx/error.hpp>
#include <tenon/ext/reduction.h>

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

namespace tenon {

namespace detail {

// How the object behind a handle is released.
inline TenonErrorCode destroy(TenonPartition* handle) {
  return TenonPartitionDestroy(handle);
}
inline TenonErrorCode destroy(TenonLayout* handle) {
  return TenonLayoutDestroy(handle);
}
inline TenonErrorCode destroy(TenonDTensor* handle) {
  return TenonDTensorDestroy(handle);
}
inline TenonErrorCode destroy(TenonLinearOp* handle) {
  return TenonLinearOpDestroy(handle);
}
inline TenonErrorCode destroy(TenonLayer* handle) {
  return TenonLayerDestroy(handle);
}
inline TenonErrorCode destroy(TenonMachine* handle) {
  return TenonMachineDestroy(handle);
}
inline TenonErrorCode destroy(TenonOptimizer* handle) {
  return TenonOptimizerDestroy(handle);
}
inline TenonErrorCode destroy(TenonDataset* handle) {
  return TenonDatasetDestroy(handle);
}
inline TenonErrorCode destroy(TenonTrainer* handle) {
  return TenonTrainerDestroy(handle);
}
inline TenonErrorCode destroy(TenonPlacementList* handle) {
  return TenonPlacementListDestroy(handle);
}
inline TenonErrorCode destroy(TenonReductionPrograms* handle) {
  return TenonReductionProgramsDestroy(handle);
}
inline TenonErrorCode destroy(TenonPlan* handle) {
  return TenonPlanDestroy(handle);
}

} // namespace detail

/** @brief A list of constant numbers that somebody else holds. */
template <class T>
class List {
public:
  List() = default;
  List(const T* first, std::size_t size) : first_(first), size_(size) {}
  /* For the length of a call: the list in braces lives as long as the call. */
  List(std::initializer_list<T> list) : first_(std::data(list)), size_(list.size()) {}
  template <std::size_t n>
  List(const T (&array)[n]) : first_(array), size_(n) {}
  template <class Container, class = std::enable_if_t<std::is_convertible_v<
                                 decltype(std::declval<const Container&>().data()), const T*>>>
  List(const Container& list) : first_(list.data()), size_(list.size()) {}

  const T* data() const noexcept { return first_; }
  std::size_t size() const noexcept { return size_; }

private:
  const T* first_ = nullptr;
  std::size_t size_ = 0;
};

using Ints = List<TenonInt>;

/** @brief One reference to an object; the base of all classes with methods. */
template <class C>
class Handle {
public:
  Handle() = default;
  /** Takes over a reference that a C call has returned. */
  explicit Handle(C handle) noexcept : handle_(handle) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    C handle = other.release();
    reset();
    handle_ = handle;
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator C() const noexcept { return handle_; }
  C get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** The C handle, which the caller then destroys. */
  C release() noexcept { return std::exchange(handle_, nullptr); }
  void reset() noexcept { detail::destroy(&handle_); }
  /** Where a C call puts a new handle. */
  C* out() noexcept {
    reset();
    return &handle_;
  }

  void setName(const std::string& name, const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetName, object(), name.c_str());
  }
  void setOptionsPrefix(const std::string& prefix, const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetOptionsPrefix, object(), prefix.c_str());
  }
  std::string name() const {
    return detail::textOf([this](char* text, TenonInt length, TenonInt* needed) {
      return TenonObjectGetName(object(), text, length, needed);
    });
  }
  MPI_Comm comm(const Where& where = Where::current()) const {
    MPI_Comm comm = MPI_COMM_NULL;
    detail::run(where, TenonObjectGetComm, object(), &comm);
    return comm;
  }

protected:
  C retained(const Where& where) const {
    detail::run(where, TenonObjectRetain, object());
    return handle_;
  }
  TenonObject object() const noexcept { return reinterpret_cast<TenonObject>(handle_); }

private:
  C handle_ = nullptr;
};

using Machine = Handle<TenonMachine>;
using PlacementList = Handle<TenonPlacementList>;
using ReductionPrograms = Handle<TenonReductionPrograms>;
using Plan = Handle<TenonPlan>;

/** @brief Tenon, initialised and finalised. Errors are thrown instead of printed meanwhile. A session
 *         that is left by an exception is not finalised, since other ranks may not take part.
 *
 *  Without argc and argv, as where the command line belongs to a host program, the options are those
 *  of the environment variable TENON_OPTIONS, which can name an options file. */
class Session {
public:
  explicit Session(const Where& where = Where::current())
      : exceptions_(std::uncaught_exceptions()) {
    detail::run(where, TenonInitialize, nullptr, nullptr, nullptr);
    check(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr), where);
  }
  Session(int& argc, char**& argv, const char* help = nullptr,
          const Where& where = Where::current())
      : exceptions_(std::uncaught_exceptions()) {
    detail::run(where, TenonInitialize, &argc, &argv, help);
    check(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr), where);
  }
  explicit Session(MPI_Comm comm, const Where& where = Where::current())
      : exceptions_(std::uncaught_exceptions()) {
    detail::run(where, TenonInitializeWithComm, comm, nullptr, nullptr, nullptr);
    check(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr), where);
  }
  Session(MPI_Comm comm, int& argc, char**& argv, const char* help = nullptr,
          const Where& where = Where::current())
      : exceptions_(std::uncaught_exceptions()) {
    detail::run(where, TenonInitializeWithComm, comm, &argc, &argv, help);
    check(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr), where);
  }
  ~Session() {
    TenonPopErrorHandler();
    if (std::uncaught_exceptions() == exceptions_)
      TenonFinalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

private:
  int exceptions_;
};

} // namespace tenon

#endif
