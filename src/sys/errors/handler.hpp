// SPDX-License-Identifier: BSD-2-Clause
// Errors at the C boundary. An error is recorded for the thread, shown to the top of the process's
// stack of handlers, and returned as a code. Callers add their frames on the way out, so the record
// and the printed report show the call stack.
//
// An error in Apply that other ranks do not know of cannot be returned, since they wait for this
// rank: it is passed to the fatal handler, by default "print and abort". The abort function is a
// hook, which the module that uses MPI sets.
#pragma once

#include "sys/errors/error.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

// A function through which an error was returned.
struct ErrorFrame {
  std::string function;
  std::string file;
  int line = 0;
};

// Result of the coordination of a fatal error: whether this rank prints it (speaks), and how many
// ranks have the same error (ranks), of how many in all (of).
struct FatalShare {
  bool speaks = true;
  int ranks = 1, of = 1;
};

// The last error of a thread. The first frame is the public function, with the location of the
// throw. Frames for which there is no memory are counted, and shown to the handler, but not stored.
struct ErrorRecord {
  std::optional<Error> error;
  bool fatal = false; // for the fatal handler
  int levels = 0;     // number of frames, including those that are not stored
  std::vector<ErrorFrame> frames;
  FatalShare share;

  TenonErrorCode code() const noexcept { return error ? error->code() : TENON_SUCCESS; }
  const std::string& message() const noexcept;
};

const ErrorRecord& lastError() noexcept;
void clearLastError() noexcept;
// Counter of the errors recorded by this thread, to detect whether a call has recorded one.
long errorsRecorded() noexcept;
// The text of the print handler, kMaxReportLines lines at most, for example on rank 2:
//   [2] Error TENON_ERR_SHAPE: incompatible shapes
//   [2]   kernel is 5, but the input has 3 rows
//   [2]   in TenonLayerSetUp (src/layer/core/layer.cpp:120)
//   [2]   called from main (solver.c:44)
inline constexpr int kMaxReportLines = 8;
std::string errorReport(const ErrorRecord& record);

// Agreed: every participating process knows the error, as after Error::agreed().
enum class Severity { Returned, Agreed, Fatal };
// Records an error, calls the handler (the fatal one if Fatal and not agreed), and returns the
// code.
TenonErrorCode raise(const Error& error, const char* function, Severity severity) noexcept;
// raise() with a location other than that of the exception.
TenonErrorCode raiseAt(const Error& error, const char* function, const char* file, int line,
                       Severity severity) noexcept;
// raise() for the exception in flight; `where` is used for exceptions without a location.
TenonErrorCode raiseCurrent(const char* function, Severity severity,
                            const std::source_location& where) noexcept;
// noteCaller() records the source location of the next public call of this thread; enterCall()
// consumes it, so it applies to one call only.
void noteCaller(const char* function, const char* file, int line) noexcept;
void enterCall(const char* function) noexcept;
// Adds a caller's frame to the record if its code is the same, and shows it to the handler.
void addFrame(const char* function, const char* file, int line, TenonErrorCode code) noexcept;

// The handler pushed last is called; printHandler if there is none. pop without a push is an error.
void pushErrorHandler(TenonErrorHandler handler, void* context);
void popErrorHandler();
void printHandler(TenonErrorCode code, int level, const char* message, const char* function,
                  const char* file, int line, void* context) noexcept;
void returnHandler(TenonErrorCode code, int level, const char* message, const char* function,
                   const char* file, int line, void* context) noexcept;

// Sets the handler of fatal errors. nullptr restores the default, which prints the report and calls
// abortProcess(). If a fatal handler returns, the code is returned to the caller.
void setFatalHandler(TenonErrorHandler handler, void* context);
// Hook that coordinates the printing of a fatal error: called before the default handler prints,
// with a text that is equal on ranks with the same failure. Without a hook each rank prints its
// error.
using FatalShareHook = std::function<FatalShare(const std::string& text)>;
void setFatalShareHook(FatalShareHook hook);
// Sets the function that aborts the process. An empty hook restores std::abort.
using AbortHook = std::function<void(TenonErrorCode)>;
void setAbortHook(AbortHook hook);
void abortProcess(TenonErrorCode code) noexcept;
// Ends the process immediately with the code as its exit status.
[[noreturn]] void exitProcess(TenonErrorCode code) noexcept;

// The rank that is shown in messages; 0 until it is set.
void setProcessRank(int rank) noexcept;
int processRank() noexcept;

// A ring buffer with the names of the last public calls and log scopes. A watchdog thread reads it
// while the main thread hangs, so it consists of atomics and contains only names with static
// storage duration.
inline constexpr int kLastCalls = 16;

// name must have static storage duration.
void noteCall(const char* name) noexcept;
// The name entered last, or `back` entries before it (0 <= back < kLastCalls); "" if none.
const char* lastCallName(int back = 0) noexcept;

} // namespace tenon
