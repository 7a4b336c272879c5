// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: handles that release themselves, and handles that are only lent. */
#ifndef TENON_CXX_HANDLE_HPP
#define TENON_CXX_HANDLE_HPP

#include <tenon.h>
#include <tenon/cxx/arguments.hpp>
#include <tenon/ext/reduction.h>

#include <utility>

namespace tenon {

namespace detail {

// How the object behind a handle is released: static void call(C*), for each class of handles.
template <class C>
struct Destroy;

} // namespace detail

/** @brief One reference to an object. It can be moved, not copied; share() of each class is a
 *         second reference. */
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
  void reset() noexcept { detail::Destroy<C>::call(&handle_); }
  /** Where a C call puts a new handle. */
  C* out() noexcept {
    reset();
    return &handle_;
  }

protected:
  C retained(const Where& where) const {
    detail::Call(where).check(TenonObjectRetain(object()));
    return handle_;
  }
  TenonObject object() const noexcept { return reinterpret_cast<TenonObject>(handle_); }

private:
  C handle_ = nullptr;
};

/** @brief A handle that somebody else holds and that is not destroyed here, such as an argument of
 *         a function that Tenon calls: Borrowed<DTensor> x(handle); x->norm(). It is valid as long
 *         as the handle; x->share() keeps the object. */
template <class Class>
class Borrowed {
public:
  template <class C>
  explicit Borrowed(C handle) noexcept : object_(handle) {}
  ~Borrowed() { object_.release(); }
  Borrowed(const Borrowed& other) noexcept : object_(other.object_.get()) {}
  Borrowed& operator=(const Borrowed&) = delete;

  Class& operator*() const noexcept { return object_; }
  Class* operator->() const noexcept { return &object_; }
  /** As an argument of other calls. */
  operator Class&() const noexcept { return object_; }
  /** Of NULL it is false. */
  explicit operator bool() const noexcept { return static_cast<bool>(object_); }

private:
  mutable Class object_; /* as behind a pointer */
};

} // namespace tenon

#endif
