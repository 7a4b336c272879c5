// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: calls of the C interface whose errors are thrown. */
#ifndef TENON_CXX_ERROR_HPP
#define TENON_CXX_ERROR_HPP

#include <tenon/error.h>

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

// The text of a call that fills (char text[], TenonInt length, TenonInt* needed); none if it fails.
template <class Call>
std::string textOf(Call call) {
  TenonInt needed = 0;
  if (call(nullptr, 0, &needed) != TENON_SUCCESS || needed < 1)
    return {};
  std::string text(static_cast<std::size_t>(needed), '\0');
  if (call(text.data(), needed, nullptr) != TENON_SUCCESS)
    return {};
  text.resize(text.size() - 1);
  return text;
}

[[noreturn]] inline void fail(TenonErrorCode code, const Where& where) {
  TenonAddFrame(code, where.function, where.file, where.line);
  std::string message = textOf([](char* text, TenonInt length, TenonInt* needed) {
    return TenonGetLastError(nullptr, text, length, needed);
  });
  throw Error(code, std::move(message), textOf(TenonGetLastErrorReport));
}

template <class... Parameters, class... Arguments>
void run(const Where& where, TenonErrorCode (*function)(Parameters...) noexcept,
         Arguments&&... arguments) {
  TenonNoteCaller(where.function, where.file, where.line);
  const TenonErrorCode code = function(std::forward<Arguments>(arguments)...);
  if (code != TENON_SUCCESS)
    fail(code, where);
}

} // namespace detail

/** @brief Throws the last error if the code is one: tenon::check(TenonLayerApply(layer, x, y)). */
inline void check(TenonErrorCode code, const Where& where = Where::current()) {
  if (code != TENON_SUCCESS)
    detail::fail(code, where);
}

} // namespace tenon

#endif
