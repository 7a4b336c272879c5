// SPDX-License-Identifier: BSD-2-Clause
#include "sys/handler.hpp"

#include "sys/guard.hpp"
#include "sys/last_call.hpp"
#include "sys/output.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

namespace tenon {

namespace {

struct Handler {
  TenonErrorHandler function;
  void* context;
};

struct Handlers {
  std::mutex mutex;
  std::vector<Handler> stack;
  Handler fatal{nullptr, nullptr};
  AbortHook abort;
  FatalShareHook share;
};

// Never destroyed: an error may come while static objects are.
Handlers& handlers() {
  static auto* all = new Handlers;
  return *all;
}

thread_local ErrorRecord record;
thread_local long recorded = 0;
// Of the call to come, and of the one under way. The strings live as long as the program.
struct Caller {
  const char* function = nullptr;
  const char* file = nullptr;
  int line = 0;
};
thread_local Caller noted, caller;
thread_local bool handling = false;
std::atomic<int> rank{0};

// The path from the source root on: the builder's folders say nothing to a reader.
std::string shortPath(const char* file) {
  const std::string path = file ? file : "";
  const auto root = path.rfind("/src/");
  return root == std::string::npos ? path : path.substr(root + 1);
}

// A procedure of Fortran has no file.
std::string frameLine(const ErrorFrame& frame, bool first) {
  const std::string place =
      frame.file.empty() ? "" : fmt::format(" ({}:{})", frame.file, frame.line);
  return fmt::format("[{}]   {} {}{}\n", processRank(), first ? "in" : "called from",
                     frame.function, place);
}

std::string ranksOf(const ErrorRecord& error) {
  if (error.agreed)
    return " (the same on all ranks)";
  return error.share.ranks > 1
             ? fmt::format(" (on {} of {} ranks)", error.share.ranks, error.share.of)
             : "";
}

std::string headLines(const ErrorRecord& error) {
  return fmt::format("[{0}] {1} {2}: {3}{4}\n[{0}]   {5}\n", processRank(),
                     error.fatal ? "Fatal error" : "Error", errorName(error.code),
                     errorSentence(error.code), ranksOf(error), error.message);
}

constexpr std::size_t kMaxReportFrames = kMaxReportLines - 2;

Handler currentHandler() {
  std::lock_guard lock(handlers().mutex);
  const auto& stack = handlers().stack;
  return stack.empty() ? Handler{printHandler, nullptr} : stack.back();
}

// What is the same on two ranks if they fail alike.
std::string commonText(const ErrorRecord& error) {
  std::string text = fmt::format("{} {}", errorName(error.code), error.message);
  for (const ErrorFrame& frame : error.frames)
    text += fmt::format(" {} {} {}", frame.function, frame.file, frame.line);
  return text;
}

FatalShare shareOf(const ErrorRecord& error) noexcept {
  try {
    FatalShareHook hook;
    {
      std::lock_guard lock(handlers().mutex);
      hook = handlers().share;
    }
    return hook ? hook(commonText(error)) : FatalShare{};
  } catch (...) {
    return {}; // it speaks for itself
  }
}

// Only a fatal error that nobody took over ends here.
void printAndAbort() noexcept {
  try {
    record.share = shareOf(record);
    if (record.share.speaks)
      printError(errorReport(record));
  } catch (...) {
    printError("Tenon: out of memory while reporting a fatal error\n");
  }
  abortProcess(record.code);
}

void show(std::size_t level) {
  if (handling)
    return;
  Handler handler = currentHandler();
  if (record.fatal) {
    std::lock_guard lock(handlers().mutex);
    handler = handlers().fatal;
  }
  handling = true;
  const ErrorFrame& frame = record.frames[level];
  try {
    if (handler.function)
      handler.function(record.code, static_cast<int>(level), record.message.c_str(),
                       frame.function.c_str(), frame.file.c_str(), frame.line, handler.context);
    else
      printAndAbort();
  } catch (...) {
    printError("Tenon: the program's error handler threw an exception, which ends here\n");
  }
  handling = false;
}

void appendFrame(const char* function, const char* file, int line) {
  record.frames.push_back({function ? function : "", shortPath(file), line});
}

} // namespace

const ErrorRecord& lastError() noexcept {
  return record;
}
void clearLastError() noexcept {
  record = ErrorRecord{};
}
long errorsRecorded() noexcept {
  return recorded;
}

std::string errorReport(const ErrorRecord& error) {
  if (error.code == TENON_SUCCESS)
    return "";
  std::string text = headLines(error);
  const std::size_t shown = std::min(error.frames.size(), kMaxReportFrames);
  for (std::size_t i = 0; i < shown; ++i)
    text += frameLine(error.frames[i], i == 0);
  return text;
}

TenonErrorCode raise(const Error& error, const char* function, Severity severity) noexcept {
  return raiseAt(error, function, error.where().file_name(), static_cast<int>(error.where().line()),
                 severity);
}

TenonErrorCode raiseAt(const Error& error, const char* function, const char* file, int line,
                       Severity severity) noexcept {
  if (handling)
    return error.code();
  try {
    const bool known = dynamic_cast<const RecordedError*>(&error) && !record.frames.empty();
    if (!known) {
      record = {error.code(), error.text(), error.isAgreed(), error.speaks(), false, {}, {}};
      ++recorded;
    }
    record.fatal = severity == Severity::Fatal && !record.agreed;
    appendFrame(function, file, line);
    const std::size_t level = record.frames.size() - 1;
    if (record.fatal && caller.file) // it may not come back to its caller
      appendFrame(caller.function, caller.file, caller.line);
    show(level);
  } catch (...) {
    record.code = error.code();
    printError("Tenon: out of memory while recording an error\n");
  }
  return error.code();
}

TenonErrorCode raiseCurrent(const char* function, Severity severity,
                            const std::source_location& where) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return raise(error, function, severity);
  } catch (const std::bad_alloc&) {
    return raise(Error(TENON_ERR_MEMORY, "an allocation failed", where), function, severity);
  } catch (const std::exception& error) {
    return raise(Error(TENON_ERR_INTERNAL, error.what(), where), function, severity);
  } catch (...) {
    return raise(Error(TENON_ERR_INTERNAL, "an exception of unknown type", where), function,
                 severity);
  }
}

void noteCaller(const char* function, const char* file, int line) noexcept {
  noted = {function, file, line};
}

void enterCall(const char* function) noexcept {
  noteCall(function);
  caller = noted;
  noted = {};
}

void addFrame(const char* function, const char* file, int line, TenonErrorCode code) noexcept {
  if (handling || code == TENON_SUCCESS || code != record.code || record.frames.empty())
    return;
  if (record.fatal && caller.file == file && caller.line == line)
    return; // it is there already
  try {
    appendFrame(function, file, line);
    if (!record.fatal)
      show(record.frames.size() - 1);
  } catch (...) {
    printError("Tenon: out of memory while recording a caller\n");
  }
}

void pushErrorHandler(TenonErrorHandler handler, void* context) {
  if (!handler)
    throw Error(TENON_ERR_NULL,
                "handler is NULL; pass a function such as TenonReturnErrorHandler()");
  std::lock_guard lock(handlers().mutex);
  handlers().stack.push_back({handler, context});
}

void popErrorHandler() {
  std::lock_guard lock(handlers().mutex);
  if (handlers().stack.empty())
    throw Error(TENON_ERR_STATE, "the stack of error handlers is empty; call "
                                 "TenonPopErrorHandler() once for each TenonPushErrorHandler()");
  handlers().stack.pop_back();
}

void printHandler(TenonErrorCode, int level, const char*, const char*, const char*, int,
                  void*) noexcept {
  if (!record.speaks || level < 0)
    return;
  const auto index = static_cast<std::size_t>(level);
  if (index >= kMaxReportFrames || index >= record.frames.size())
    return;
  try {
    if (level == 0)
      printError(headLines(record));
    printError(frameLine(record.frames[index], level == 0));
  } catch (...) {
    printError("Tenon: out of memory while printing an error\n");
  }
}

void returnHandler(TenonErrorCode, int, const char*, const char*, const char*, int,
                   void*) noexcept {}

void setFatalHandler(TenonErrorHandler handler, void* context) {
  std::lock_guard lock(handlers().mutex);
  handlers().fatal = {handler, context};
}

void setAbortHook(AbortHook hook) {
  std::lock_guard lock(handlers().mutex);
  handlers().abort = std::move(hook);
}

void setFatalShareHook(FatalShareHook hook) {
  std::lock_guard lock(handlers().mutex);
  handlers().share = std::move(hook);
}

void abortProcess(TenonErrorCode code) noexcept {
  AbortHook hook;
  try {
    std::lock_guard lock(handlers().mutex);
    hook = handlers().abort;
    if (hook)
      return hook(code);
  } catch (...) {
    printError("Tenon: the abort hook failed\n");
  }
  std::abort();
}

void exitProcess(TenonErrorCode code) noexcept {
  std::fflush(nullptr);
  std::_Exit(code);
}

void setProcessRank(int newRank) noexcept {
  rank.store(newRank, std::memory_order_relaxed);
}
int processRank() noexcept {
  return rank.load(std::memory_order_relaxed);
}

} // namespace tenon
