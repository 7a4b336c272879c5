// SPDX-License-Identifier: BSD-2-Clause
// Error codes, the record of the last error of the calling thread, and the error handlers. The
// functions are in the order: texts of error codes; reading the record; raising an error in a
// program; adding to the record; handlers; abort. Calls that read or extend the record do not use
// guard(), the usual body of C functions, since an error in them would overwrite the record that
// they return. The calls are declared in tenon/error.h, those for bindings in tenon/ext/frames.h.
//
// The record has a trace of frames, one per function through which the error was returned. The
// macro TenonCall() of a program adds its frame by TenonAddFrame().
#include "comm/session/session.hpp"
#include "sys/errors/dimension_note.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/ext/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace {

// Copies as much of a text as fits into the buffer: a truncated report is more useful than an error
// in the call that reads an error.
TenonErrorCode copyCut(const std::string& text, char* buffer, TenonInt length, TenonInt* needed) {
  if (needed)
    *needed = static_cast<TenonInt>(text.size()) + 1;
  if (!buffer)
    return TENON_SUCCESS;
  if (length < 1)
    return TENON_ERR_ARG;
  const auto copied = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(buffer, text.data(), copied);
  buffer[copied] = '\0';
  return TENON_SUCCESS;
}

} // namespace

const char* TenonErrorString(TenonErrorCode code) noexcept {
  return tenon::errorSentence(code);
}
const char* TenonErrorName(TenonErrorCode code) noexcept {
  return tenon::errorName(code);
}

TenonErrorCode TenonGetLastError(TenonErrorCode* code, char message[], TenonInt length,
                                 TenonInt* needed) noexcept {
  if (code)
    *code = tenon::lastError().code();
  return copyCut(tenon::lastError().message(), message, length, needed);
}

TenonErrorCode TenonGetLastErrorReport(char report[], TenonInt length, TenonInt* needed) noexcept {
  try {
    return copyCut(tenon::errorReport(tenon::lastError()), report, length, needed);
  } catch (...) { // the report is composed, so it needs memory
    return TENON_ERR_MEMORY;
  }
}

TenonErrorCode TenonRaiseError(TenonErrorCode code, const char* message, const char* function,
                               const char* file, int line) noexcept {
  const TenonErrorCode argumentError = tenon::guard(__func__, [&] {
    if (code == TENON_SUCCESS)
      throw tenon::Error(TENON_ERR_ARG, "code is TENON_SUCCESS; pass the kind of the error");
    if (!message || !function)
      throw tenon::Error(TENON_ERR_NULL,
                         fmt::format("{} is NULL", message ? "function" : "message"));
  });
  if (argumentError != TENON_SUCCESS)
    return argumentError;
  // If there is no memory for the message, TENON_ERR_MEMORY is raised instead.
  try {
    return tenon::raiseAt(tenon::Error(code, message), function, file, line,
                          tenon::Severity::Returned);
  } catch (const std::bad_alloc&) {
    return tenon::raiseAt(tenon::Error::outOfMemory(), function, file, line,
                          tenon::Severity::Returned);
  }
}

// For interfaces of languages with another order of dimensions: printed errors show the note below
// texts about dimensions.
TenonErrorCode TenonSetDimensionNote(const char* note) noexcept {
  return tenon::guard(__func__, [&] { tenon::setDimensionNote(note ? note : ""); });
}

// Called by the macro TenonCall(). Returns the code unchanged.
TenonErrorCode TenonAddFrame(TenonErrorCode code, const char* function, const char* file,
                             int line) noexcept {
  tenon::addFrame(function, file, line, code);
  return code;
}

void TenonNoteCaller(const char* function, const char* file, int line) noexcept {
  tenon::noteCaller(function, file, line);
}

TenonErrorCode TenonPushErrorHandler(TenonErrorHandler handler, void* context) noexcept {
  return tenon::guard(__func__, [&] { tenon::pushErrorHandler(handler, context); });
}

TenonErrorCode TenonPopErrorHandler(void) noexcept {
  return tenon::guard(__func__, [] { tenon::popErrorHandler(); });
}

void TenonPrintErrorHandler(TenonErrorCode code, int level, const char* message,
                            const char* function, const char* file, int line,
                            void* context) noexcept {
  tenon::printHandler(code, level, message, function, file, line, context);
}

void TenonReturnErrorHandler(TenonErrorCode code, int level, const char* message,
                             const char* function, const char* file, int line,
                             void* context) noexcept {
  tenon::returnHandler(code, level, message, function, file, line, context);
}

TenonErrorCode TenonSetFatalErrorHandler(TenonErrorHandler handler, void* context) noexcept {
  return tenon::guard(__func__, [&] { tenon::setFatalHandler(handler, context); });
}

void TenonAbort(TenonErrorCode code) noexcept {
  tenon::abortAllRanks(code);
}
