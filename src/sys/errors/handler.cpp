// SPDX-License-Identifier: BSD-2-Clause
// Records errors for the thread, passes them to the error handlers, and returns them as codes. All
// of this works even without memory: a report that cannot be stored or printed completely is
// shortened. An exception that a handler throws is caught here. An error that is raised inside a
// handler is returned without calling a handler, to avoid endless recursion.
//
// The file ends with the ring buffer of the names of the last calls, which a watchdog reads.
#include "sys/errors/handler.hpp"

#include "sys/errors/dimension_note.hpp"
#include "sys/errors/guard.hpp"
#include "sys/memory/immortal.hpp"
#include "sys/text/output.hpp"
#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  std::string dimensionNote;
};

// Never destroyed: an error can occur while static objects are destroyed.
Handlers& handlers() noexcept {
  return immortal<Handlers>();
}

thread_local ErrorRecord record; // the last error
thread_local long recorded = 0;  // number of errors recorded so far
// Source location of the next call, as noted by the caller, and of the current call. The strings
// have static storage duration.
struct Caller {
  const char* function = nullptr;
  const char* file = nullptr;
  int line = 0;
};
thread_local Caller noted, caller;
// Set while a handler runs; errors are then not handled again.
thread_local bool handling = false;
std::atomic<int> rank{0};

// The location of a frame, with pointers into the caller's strings.
using Place = Caller;

// The path relative to the source root: the folders of the build machine are irrelevant to readers.
const char* shortPath(const char* file) noexcept {
  const std::string_view path = file ? file : "";
  const auto root = path.rfind("/src/");
  return root == path.npos ? path.data() : path.data() + root + 1;
}

// The line of one frame. A Fortran procedure has no file.
std::string frameLine(std::string_view function, std::string_view file, int line, bool isFirst) {
  const std::string place = file.empty() ? "" : fmt::format(" ({}:{})", file, line);
  return fmt::format("[{}]   {} {}{}\n", processRank(), isFirst ? "in" : "called from", function,
                     place);
}

std::string ranksOf(const ErrorRecord& record) {
  if (record.error->isAgreed())
    return " (the same on all ranks)";
  return record.share.ranks > 1
             ? fmt::format(" (on {} of {} ranks)", record.share.ranks, record.share.of)
             : "";
}

std::string headLines(const ErrorRecord& record) {
  return fmt::format("[{0}] {1} {2}: {3}{4}\n[{0}]   {5}\n", processRank(),
                     record.fatal ? "Fatal error" : "Error", errorName(record.code()),
                     errorSentence(record.code()), ranksOf(record), record.message());
}

// Whether a text mentions dimensions, or indices such as in "target[0] is 8".
bool isCounted(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords = {"dim",      "box",     "S0",      "shape [",
                                                      "numbered", "counted", " index ", "channel "};
  if (std::ranges::any_of(kWords, [&](auto word) { return text.find(word) != text.npos; }))
    return true;
  const auto isEntry = [](char current, char next) {
    return current == '[' && next >= '0' && next <= '9';
  };
  return std::ranges::adjacent_find(text, isEntry) != text.end();
}

// The note about dimension order (dimension_note.hpp) for the head of a report, or "". Errors that
// a language binding raises itself, without a file, already use its own order.
std::string noteLine(const ErrorRecord& record) {
  const bool isOfLibrary = !record.frames.empty() && !record.frames.front().file.empty();
  if (!isOfLibrary || !isCounted(record.message()))
    return "";
  std::lock_guard lock(handlers().mutex);
  const std::string& note = handlers().dimensionNote;
  return note.empty() ? "" : fmt::format("[{}]   {}\n", processRank(), note);
}

// Prints a shortened report in several writes, without assembling a string, which would need
// memory.
void printShortened() noexcept {
  for (const char* part : {record.fatal ? "Fatal error " : "Error ", errorName(record.code()), ": ",
                           record.message().c_str(), " (and no memory is left to say more)\n"})
    printError(part);
}

// Maximum number of frames in a report: two of its lines are the head, and one can be the note
// about dimensions.
std::size_t mostFrames(const ErrorRecord& record) {
  return kMaxReportLines - (noteLine(record).empty() ? 2 : 3);
}

Handler currentHandler() {
  std::lock_guard lock(handlers().mutex);
  const auto& stack = handlers().stack;
  return stack.empty() ? Handler{printHandler, nullptr} : stack.back();
}

// A text that is equal on two ranks if their failures are the same.
std::string commonText(const ErrorRecord& error) {
  std::string text = fmt::format("{} {}", errorName(error.code()), error.message());
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
    return {}; // this rank prints its own error
  }
}

// The default handler of fatal errors, which ends the program.
void printAndAbort() noexcept {
  try {
    record.share = shareOf(record);
    if (record.share.speaks)
      printError(errorReport(record));
  } catch (...) {
    printShortened();
  }
  abortProcess(record.code());
}

// Calls the handler for a frame of the record; level 0 is the public function that failed.
void show(const Place& place, int level) noexcept {
  if (handling)
    return;
  // A fatal error is passed to the fatal handler instead of the stack of handlers: a handler that
  // only returns would leave other ranks waiting.
  Handler handler = currentHandler();
  if (record.fatal) {
    std::lock_guard lock(handlers().mutex);
    handler = handlers().fatal;
  }
  // Called without the lock, since a handler can push or pop handlers.
  handling = true;
  try {
    if (handler.function)
      handler.function(record.code(), level, record.message().c_str(), place.function, place.file,
                       place.line, handler.context);
    else
      printAndAbort();
  } catch (...) {
    printError("Tenon: the program's error handler threw an exception, which ends here\n");
  }
  handling = false;
}

// The error with control characters in its text replaced by escapes such as \x1b: names and paths
// can contain such characters. If there is no memory for the copy, printError() still replaces
// them.
Error withPlainText(const Error& error) noexcept {
  try {
    if (plainLength(error.text(), kLineLayout) == error.text().size())
      return error;
    Error plain(error.code(), printable(error.text(), kLineLayout), error.where());
    return error.isAgreed() ? plain.agreed(error.speaks()) : plain;
  } catch (const std::bad_alloc&) {
    return error;
  }
}

Place appendFrame(const char* function, const char* file, int line) noexcept {
  const Place place{function ? function : "", shortPath(file), line};
  ++record.levels;
  try {
    // The handler sees the frame even if there is no memory to store it.
    record.frames.push_back({place.function, place.file, place.line});
  } catch (const std::bad_alloc&) {
  }
  return place;
}

} // namespace

const std::string& ErrorRecord::message() const noexcept {
  return error ? error->text() : immortal<const std::string>();
}

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
  if (error.code() == TENON_SUCCESS)
    return "";
  std::string text = headLines(error) + noteLine(error);
  const std::size_t shown = std::min(error.frames.size(), mostFrames(error));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [function, file, line] = error.frames[i];
    text += frameLine(function, file, line, i == 0);
  }
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
  // A nested call has recorded this error already: only the outer frame is new.
  const bool isRecorded = dynamic_cast<const RecordedError*>(&error) && record.levels > 0;
  if (!isRecorded) {
    record = {};
    record.error = withPlainText(error);
    ++recorded;
  }
  // An error that all ranks raise alike can be returned even from Apply, since no rank waits for
  // this one. The severity is determined again here, because the nested call that raised the error
  // can have used another one, for example inside a user function.
  record.fatal = severity == Severity::Fatal && !error.isAgreed();
  const Place place = appendFrame(function, file, line);
  const int level = record.levels - 1;
  if (record.fatal && caller.file) // the error can fail to reach its caller
    appendFrame(caller.function, caller.file, caller.line);
  show(place, level);
  return error.code();
}

TenonErrorCode raiseCurrent(const char* function, Severity severity,
                            const std::source_location& where) noexcept {
  try {
    throw;
  } catch (Error& error) {
    return raise(severity == Severity::Agreed ? error.agreed(true) : error, function, severity);
  } catch (...) {
    Error error = caughtError(where);
    return raise(severity == Severity::Agreed ? error.agreed(true) : error, function, severity);
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
  // The frame is added only if this code is the one of the record; otherwise the record is that of
  // an older error.
  if (handling || code == TENON_SUCCESS || code != record.code() || record.levels == 0)
    return;
  if (record.fatal && caller.file == file && caller.line == line)
    return; // appended already
  const Place place = appendFrame(function, file, line);
  if (!record.fatal)
    show(place, record.levels - 1);
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

void printHandler(TenonErrorCode, int level, const char*, const char* function, const char* file,
                  int line, void*) noexcept {
  // Limits the number of frames, and suppresses the output of ranks that do not speak.
  if (level < 0 || level >= record.levels || !record.error->speaks())
    return;
  try {
    if (level >= static_cast<int>(mostFrames(record)))
      return;
    if (level == 0)
      printError(headLines(record) + noteLine(record));
    printError(frameLine(function ? function : "", file ? file : "", line, level == 0));
  } catch (...) {
    if (level == 0)
      printShortened();
  }
}

void returnHandler(TenonErrorCode, int, const char*, const char*, const char*, int,
                   void*) noexcept {}

void setDimensionNote(std::string note) {
  std::lock_guard lock(handlers().mutex);
  handlers().dimensionNote = std::move(note);
}

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
  // Skips exit handlers and destructors, which could call MPI after its end; so output must be
  // flushed here.
  std::fflush(nullptr);
  std::_Exit(code);
}

void setProcessRank(int newRank) noexcept {
  rank.store(newRank, std::memory_order_relaxed);
}
int processRank() noexcept {
  return rank.load(std::memory_order_relaxed);
}

// Ring buffer of the names of the last calls, for a watchdog.

namespace {

std::array<std::atomic<const char*>, kLastCalls> ring{};
std::atomic<unsigned> entered{0};

} // namespace

void noteCall(const char* name) noexcept {
  // Two threads that enter at once can write the same slot, which loses one name: acceptable for a
  // watchdog, and it saves an atomic increment.
  const unsigned position = entered.load(std::memory_order_relaxed);
  ring[position % kLastCalls].store(name, std::memory_order_relaxed);
  entered.store(position + 1, std::memory_order_release);
}

const char* lastCallName(int back) noexcept {
  if (back < 0 || back >= kLastCalls)
    return "";
  const unsigned position =
      entered.load(std::memory_order_acquire) - 1U - static_cast<unsigned>(back);
  const char* name = ring[position % kLastCalls].load(std::memory_order_relaxed);
  return name ? name : "";
}

} // namespace tenon
