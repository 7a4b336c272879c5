// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: calls of the C interface whose errors are thrown. */
#ifndef TENON_CXX_ERROR_HPP
#define TENON_CXX_ERROR_HPP

#include <tenon/error.h>
#include <tenon/ext/error.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tenon {

/** @brief The place of a call, for the call stack of an error; made by default arguments. */
struct Where {
  const char* function;
  const char* file;
  int line;

#if defined(__GNUC__)
  static constexpr Where current(const char* function = __builtin_FUNCTION(),
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {function, file, line};
  }
#else
  static constexpr Where current() {
    return {"", "", 0};
  }
#endif
};

/** @brief What a failed call throws. what() is the report with the call stack, as
 *         TenonGetLastErrorReport() gives it. */
class Error : public std::runtime_error {
public:
  Error(TenonErrorCode code, std::string message, const std::string& report)
      : std::runtime_error(report), code_(code), message_(std::move(message)) {}

  TenonErrorCode code() const noexcept { return code_; }
  /** What was passed, and what was expected. */
  const std::string& message() const noexcept { return message_; }

private:
  TenonErrorCode code_;
  std::string message_;
};

namespace detail {

// The buffer of a call that returns a text: the call is made with needed(), and again with
// allocate() and length().
class TextBuffer {
public:
  TenonInt* needed() noexcept { return &needed_; }
  char* allocate() {
    text_.resize(static_cast<std::size_t>(needed_));
    return text_.data();
  }
  TenonInt length() const noexcept { return needed_; }
  /* Without the NUL. */
  std::string take() {
    text_.pop_back();
    return std::move(text_);
  }

private:
  std::string text_;
  TenonInt needed_ = 0;
};

// The last error must be told even if its record cannot be read: it then has no text.
[[noreturn]] inline void fail(TenonErrorCode code, const Where& where) {
  TenonAddFrame(code, where.function, where.file, where.line);
  std::string texts[2];
  for (const bool isReport : {false, true}) {
    const auto text = [isReport](char* buffer, TenonInt length, TenonInt* needed) {
      return isReport ? TenonGetLastErrorReport(buffer, length, needed)
                      : TenonGetLastError(nullptr, buffer, length, needed);
    };
    TextBuffer buffer;
    if (text(nullptr, 0, buffer.needed()) == TENON_SUCCESS && buffer.length() > 0 &&
        text(buffer.allocate(), buffer.length(), nullptr) == TENON_SUCCESS)
      texts[isReport] = buffer.take();
  }
  throw Error(code, std::move(texts[0]), texts[1]);
}

// One call of the C interface, Call(where).check(TenonX(...)): the place is noted before the
// arguments are evaluated, an order that C++17 fixes.
class Call {
public:
  explicit Call(const Where& where) noexcept : where_(where) {
    TenonNoteCaller(where.function, where.file, where.line);
  }
  void check(TenonErrorCode code) const {
    if (code != TENON_SUCCESS)
      fail(code, where_);
  }

private:
  const Where& where_;
};

} // namespace detail

/** @brief Throws the last error if the code is one: tenon::check(TenonLayerApply(layer, x, y)). */
inline void check(TenonErrorCode code, const Where& where = Where::current()) {
  if (code != TENON_SUCCESS)
    detail::fail(code, where);
}

/** @brief Records an error, passes it to the error handler and throws it, in functions that Tenon
 *         calls and in those that stand before calls of Tenon. TenonRaiseError() */
[[noreturn]] inline void raiseError(TenonErrorCode code, const std::string& message,
                                    const Where& where = Where::current()) {
  detail::fail(TenonRaiseError(code, message.c_str(), where.function, where.file, where.line),
               where);
}

} // namespace tenon

#endif
