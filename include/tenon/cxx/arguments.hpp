// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: lists, texts and functions as arguments of calls. */
#ifndef TENON_CXX_ARGUMENTS_HPP
#define TENON_CXX_ARGUMENTS_HPP

#include <tenon/cxx/error.hpp>
#include <tenon/types.h>

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon {

template <class C>
class Handle;

namespace detail {

/* The first element: data(), or cdata() where data() is not const, as in OpenFOAM. */
template <class Container>
auto firstOf(Container& list, int) -> decltype(list.data()) {
  return list.data();
}
template <class Container>
auto firstOf(Container& list, long) -> decltype(list.cdata()) {
  return list.cdata();
}
template <class Container>
using FirstOf = decltype(firstOf(std::declval<Container&>(), 0));

/* Integers of another type than To, not wider, which are copied: lists of int for TenonInt. */
template <class From, class To>
constexpr bool kIsCopied =
    !std::is_same_v<From, To> && std::is_same_v<To, TenonInt> && sizeof(From) <= sizeof(To) &&
    (std::is_same_v<From, short> || std::is_same_v<From, unsigned short> ||
     std::is_same_v<From, int> || std::is_same_v<From, unsigned> || std::is_same_v<From, long> ||
     std::is_same_v<From, unsigned long> || std::is_same_v<From, long long> ||
     std::is_same_v<From, unsigned long long>);

} // namespace detail

/** @brief A list of constant numbers that somebody else holds: in braces, an array, or a container
 *         with size() and data() or cdata(). Lists of other integers, such as int, are copied to
 *         TenonInt. */
template <class T>
class List {
  template <class Element>
  static constexpr bool kIsCopied = detail::kIsCopied<std::remove_cv_t<Element>, T>;

public:
  List() = default;
  List(const T* first, std::size_t size) : first_(first), size_(size) {}
  /* For the length of a call: the list in braces lives as long as the call. */
  List(std::initializer_list<T> list) : first_(std::data(list)), size_(list.size()) {}
  template <std::size_t n>
  List(const T (&array)[n]) : first_(array), size_(n) {}
  template <class Container, class = std::enable_if_t<
                                 std::is_convertible_v<detail::FirstOf<const Container>, const T*>>>
  List(const Container& list)
      : first_(detail::firstOf(list, 0)), size_(static_cast<std::size_t>(list.size())) {}
  template <class Container,
            class Element = std::remove_pointer_t<detail::FirstOf<const Container>>,
            class = std::enable_if_t<kIsCopied<Element>>, class = void>
  List(const Container& list)
      : List(detail::firstOf(list, 0), static_cast<std::size_t>(list.size())) {}
  template <class Element, class = std::enable_if_t<kIsCopied<Element>>>
  List(const Element* first, std::size_t size)
      : copy_(std::make_shared<std::vector<T>>(first, first + size)), first_(copy_->data()),
        size_(size) {
    if constexpr (std::is_unsigned_v<Element> && sizeof(Element) == sizeof(T))
      for (const Element* value = first; value != first + size; ++value)
        if (*value > static_cast<Element>(std::numeric_limits<T>::max()))
          throw std::out_of_range("tenon::Ints: " + std::to_string(*value) +
                                  " is more than a TenonInt holds");
  }

  const T* data() const noexcept { return first_; }
  std::size_t size() const noexcept { return size_; }

private:
  std::shared_ptr<const std::vector<T>> copy_; /* of integers of another type */
  const T* first_ = nullptr;
  std::size_t size_ = 0;
};

using Ints = List<TenonInt>;

/** @brief A list of objects: one object, several in braces, {x, y}, or a container of C handles or
 *         of objects such as std::vector<tenon::DTensor>. nullptr and empty objects are NULL. */
template <class C>
class Handles : public List<C> {
public:
  using List<C>::List;
  template <
      class Container,
      class Object = std::remove_reference_t<decltype(*std::declval<const Container&>().data())>,
      class = std::enable_if_t<std::is_base_of_v<Handle<C>, Object>>, class = void>
  Handles(const Container& list) : List<C>(reinterpret_cast<const C*>(list.data()), list.size()) {
    /* An object contains its handle and nothing else: an array of objects is one of handles. */
    static_assert(std::is_standard_layout_v<Object> && sizeof(Object) == sizeof(C));
  }
  Handles(const Handle<C>& one) : List<C>(reinterpret_cast<const C*>(&one), 1) {}
};

/** @brief An array of the program that a call fills, where no object tells the length. */
template <class T>
class Array {
public:
  Array(T* first, std::size_t size) : first_(first), size_(size) {}
  template <std::size_t n>
  Array(T (&array)[n]) : first_(array), size_(n) {}
  template <class Container, class = std::enable_if_t<std::is_convertible_v<
                                 decltype(std::declval<Container&>().data()), T*>>>
  Array(Container& list) : first_(list.data()), size_(list.size()) {}

  T* data() const noexcept { return first_; }
  std::size_t size() const noexcept { return size_; }

private:
  T* first_;
  std::size_t size_;
};

/** @brief A text that ends with NUL and that somebody else holds: a literal, a std::string, or
 *         whatever has c_str(). A std::string_view is none, since no NUL ends it. Text() is
 *         NULL. */
class Text {
public:
  Text() = default;
  /* A template, because the number 0 must not convert to a text. */
  template <class Pointer,
            std::enable_if_t<std::is_convertible_v<const Pointer&, const char*>, int> = 0>
  Text(const Pointer& text) noexcept : text_(text) {}
  template <class String, class = std::enable_if_t<std::is_convertible_v<
                              decltype(std::declval<const String&>().c_str()), const char*>>>
  Text(const String& text) noexcept : text_(text.c_str()) {}

  const char* get() const noexcept { return text_; }

private:
  const char* text_ = nullptr;
};

/** @brief First and last index (excluded) of a rank's elements in each dimension. */
struct Box {
  std::vector<TenonInt> low, high;
};

template <class Signature>
class Function;

/** @brief What Tenon calls: a function, a lambda expression or whatever else can be called so. It
 *         may throw. Where the result is a TenonErrorCode it may return nothing, which is success.
 */
template <class Result, class... Arguments>
class Function<Result(Arguments...)> {
  template <class Called>
  static constexpr bool fits() {
    if constexpr (std::is_invocable_v<Called&, Arguments...>) {
      using Given = std::invoke_result_t<Called&, Arguments...>;
      constexpr bool isCode = std::is_same_v<Given, TenonErrorCode>;
      if constexpr (std::is_same_v<Result, TenonErrorCode>)
        return isCode || std::is_void_v<Given>;
      else
        return !isCode && std::is_convertible_v<Given, Result>;
    }
    return false;
  }

public:
  Function() = default;
  Function(std::nullptr_t) noexcept {}
  template <class Called, class Kept = std::decay_t<Called>,
            class = std::enable_if_t<!std::is_same_v<Kept, Function> && fits<Kept>()>>
  Function(Called&& called) : held_(new Held<Kept>(std::forward<Called>(called))) {}
  ~Function() { delete held_; }
  Function(Function&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Function& operator=(Function&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  Result operator()(Arguments... arguments) const {
    return held_->call(std::forward<Arguments>(arguments)...);
  }

private:
  struct Base {
    virtual ~Base() = default;
    virtual Result call(Arguments... arguments) = 0;
  };
  template <class Called>
  struct Held final : Base {
    template <class From>
    explicit Held(From&& from) : called(std::forward<From>(from)) {}
    Result call(Arguments... arguments) override {
      if constexpr (std::is_void_v<std::invoke_result_t<Called&, Arguments...>>)
        return called(std::forward<Arguments>(arguments)...), TENON_SUCCESS;
      else
        return called(std::forward<Arguments>(arguments)...);
    }
    Called called;
  };

  Base* held_ = nullptr;
};

namespace detail {

inline TenonBool truth(bool value) noexcept {
  return value ? TENON_TRUE : TENON_FALSE;
}
template <class T>
const T* orNull(const List<T>& list) noexcept {
  return list.size() > 0 ? list.data() : nullptr;
}
/* A negative length is that of no list. */
constexpr std::size_t size(TenonInt length) noexcept {
  return static_cast<std::size_t>(length);
}
template <class T>
std::size_t product(const List<T>& factors) noexcept {
  std::size_t result = 1;
  for (std::size_t i = 0; i < factors.size(); ++i)
    result *= size(factors.data()[i]);
  return result;
}

inline void checkLength(const char* what, std::size_t length, std::size_t wanted) {
  if (length != wanted)
    throw std::length_error(std::string(what) + " has " + std::to_string(length) +
                            " entries, but needs " + std::to_string(wanted));
}
/* Of a list that may be left out. */
inline void checkLengthIfAny(const char* what, std::size_t length, std::size_t wanted) {
  if (length != 0)
    checkLength(what, length, wanted);
}

// What functions of the program find behind their void*, until an object has taken it over.
template <class Functions>
class Context {
public:
  explicit Context(Functions&& functions) : held_(new Functions(std::move(functions))) {}
  ~Context() { delete held_; }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Functions* get() const noexcept { return held_; }
  void release() noexcept { held_ = nullptr; }
  static void destroy(void* context) { delete static_cast<Functions*>(context); }

private:
  Functions* held_;
};

} // namespace detail

} // namespace tenon

#endif
