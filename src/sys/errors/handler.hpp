// SPDX-License-Identifier: BSD-2-Clause
// What happens to an error at the C boundary: it is recorded for the thread, shown to the handler
// on top of the process's stack of handlers, and returned as a code. Callers on the way out add
// their frames, so record and printout show how the program came there.
//
// An error in Apply that other ranks do not know of cannot be returned, since they wait for this
// rank: it goes to the fatal handler, by default "print and abort". How a process aborts is a hook,
// which the module that knows MPI sets.
#pragma once

#include "sys/errors/error.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

struct ErrorFrame {
  std::string function;
  std::string file;
  int line = 0;
};

// How many ranks end with the same fatal error, and whether this one prints it for them.
struct FatalShare {
  bool speaks = true;
  int ranks = 1, of = 1;
};

// The last error of a thread. The first frame is the public function with the place of the throw.
// Frames for which there is no memory are counted, and shown to the handler, but not kept.
struct ErrorRecord {
  std::optional<Error> error;
  bool fatal = false;
  int levels = 0;
  std::vector<ErrorFrame> frames;
  FatalShare share;

  TenonErrorCode code() const noexcept { return error ? error->code() : TENON_SUCCESS; }
  const std::string& message() const noexcept;
};

const ErrorRecord& lastError() noexcept;
void clearLastError() noexcept;
// Grows with every error recorded by this thread: tells whether a call recorded one of its own.
long errorsRecorded() noexcept;
// The text of the print handler: at most kMaxReportLines lines.
inline constexpr int kMaxReportLines = 8;
std::string errorReport(const ErrorRecord& record);

// Agreed: every process that takes part knows the error, as after Error::agreed().
enum class Severity { Returned, Agreed, Fatal };
// Records an error, calls the handler (the fatal one if Fatal and not agreed) and returns the code.
TenonErrorCode raise(const Error& error, const char* function, Severity severity) noexcept;
// Raises an error that was found at another place than where the exception was made.
TenonErrorCode raiseAt(const Error& error, const char* function, const char* file, int line,
                       Severity severity) noexcept;
// Raises the exception in flight, whatever it is; `where` serves exceptions that carry no place.
TenonErrorCode raiseCurrent(const char* function, Severity severity,
                            const std::source_location& where) noexcept;
// The place of the call that this thread is about to make. Entering it takes the note, so that a
// call without one has none.
void noteCaller(const char* function, const char* file, int line) noexcept;
void enterCall(const char* function) noexcept;
// Adds a caller's frame to the record if it is of this code, and shows it to the handler.
void addFrame(const char* function, const char* file, int line, TenonErrorCode code) noexcept;

// The last pushed handler is called; with none, printHandler. pop with none pushed is an error.
void pushErrorHandler(TenonErrorHandler handler, void* context);
void popErrorHandler();
void printHandler(TenonErrorCode code, int level, const char* message, const char* function,
                  const char* file, int line, void* context) noexcept;
void returnHandler(TenonErrorCode code, int level, const char* message, const char* function,
                   const char* file, int line, void* context) noexcept;

// Sets the handler of fatal errors. nullptr restores the default, which prints the report and then
// calls abortProcess(). If a fatal handler returns, the code is returned to the caller.
void setFatalHandler(TenonErrorHandler handler, void* context);
// Asked before the default prints a fatal error, with a text that is the same on ranks that fail
// alike. Without a hook each rank prints its own error.
using FatalShareHook = std::function<FatalShare(const std::string& text)>;
void setFatalShareHook(FatalShareHook hook);
// Sets how a process aborts. An empty hook restores std::abort.
using AbortHook = std::function<void(TenonErrorCode)>;
void setAbortHook(AbortHook hook);
void abortProcess(TenonErrorCode code) noexcept;
// Ends the process at once with the code as its status.
[[noreturn]] void exitProcess(TenonErrorCode code) noexcept;

// The rank that messages show, which is 0 until it is set.
void setProcessRank(int rank) noexcept;
int processRank() noexcept;

// A small ring of the names of the last public calls and log scopes that were entered. A watchdog
// thread reads it while the main thread hangs, so it is made of atomics and holds only names that
// live as long as the process.
inline constexpr int kLastCalls = 16;

// name must never be freed.
void noteCall(const char* name) noexcept;
// The name entered last, or `back` entries before it (0 <= back < kLastCalls); "" if there is none.
const char* lastCallName(int back = 0) noexcept;

} // namespace tenon
