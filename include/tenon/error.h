/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Error codes of Tenon, the record of the last error, and error handlers.
 *
 *  Every call returns a TenonErrorCode. An error is recorded for the calling thread, shown to the
 *  current error handler (by default: printed on standard error) and returned; TenonCall() in the
 *  callers adds their place to the record. Nothing here is collective.
 *
 *  Collective calls. A call that creates or sets up an object returns the same error on all ranks. The
 *  exception is a rank whose handle is NULL or not valid, where no other argument tells it the
 *  communicator: this rank returns TENON_ERR_NULL or TENON_ERR_HANDLE at once, and the others return
 *  TENON_ERR_TIMEOUT after -tenon_agree_timeout seconds. After a timeout all ranks fail, also those
 *  that arrive later, and the communicator cannot be used for Tenon objects any more.
 */
#ifndef TENON_ERROR_H
#define TENON_ERROR_H

#include <tenon/export.h>

/** X(name, number, sentence): every error code once. 1-63 are mistakes in a call, after which the
 *  object is as it was; 64-126 are failing resources; 127 is a fault of Tenon itself. */
#define TENON_ERROR_TABLE(X)                                                                       \
  X(SUCCESS, 0, "no error")                                                                        \
  X(ERR_NULL, 1, "a required pointer or handle is NULL")                                           \
  X(ERR_HANDLE, 2, "not a live handle of the expected class")                                      \
  X(ERR_ARG, 3, "an argument is out of range")                                                     \
  X(ERR_STATE, 4, "the call comes too early or too late in the object's life")                     \
  X(ERR_SHAPE, 5, "shapes do not fit")                                                             \
  X(ERR_LAYOUT, 6, "layouts do not fit")                                                           \
  X(ERR_DATATYPE, 7, "data types do not fit")                                                      \
  X(ERR_TYPE, 8, "unknown type name")                                                              \
  X(ERR_SUPPORT, 9, "not supported in this combination")                                           \
  X(ERR_OPTION, 10, "unknown or malformed option")                                                 \
  X(ERR_COLLECTIVE, 11, "ranks disagree in a collective call")                                     \
  X(ERR_MEMORY, 64, "out of memory")                                                               \
  X(ERR_MPI, 65, "an MPI call failed")                                                             \
  X(ERR_FILE, 66, "a file cannot be opened, read or written")                                      \
  X(ERR_FORMAT, 67, "a file is truncated or of a foreign format")                                  \
  X(ERR_TIMEOUT, 68, "ranks did not arrive at a collective call")                                  \
  X(ERR_LIBRARY, 69, "a library that Tenon uses reported a failure")                               \
  X(ERR_INTERNAL, 127, "a fault inside Tenon; please report it")

/** What every call returns: TENON_SUCCESS or the kind of the failure. */
typedef enum TenonErrorCode {
#define TENON_ERROR_ENUM(name, number, sentence) TENON_##name = number,
  TENON_ERROR_TABLE(TENON_ERROR_ENUM)
#undef TENON_ERROR_ENUM
      TENON_ERROR_CODE_MAX_ = 0x7fff
} TenonErrorCode;

/** What is called when a public call fails.
 *
 *  @param[in] code      the error
 *  @param[in] level     0 where the error arose; 1, 2, ... for each caller that TenonCall() adds
 *  @param[in] message   what was passed and what was expected; the same at all levels
 *  @param[in] function  level 0: the public function that failed; else the caller's name
 *  @param[in] file      source file of the place
 *  @param[in] line      its line
 *  @param[in] context   what was given to TenonPushErrorHandler()
 *
 *  The strings are valid during the call. An error of the handler's own calls to Tenon is only
 *  returned, neither recorded nor handled.
 */
typedef void (*TenonErrorHandler)(TenonErrorCode code, int level, const char* message,
                                  const char* function, const char* file, int line, void* context);

/** @brief The sentence that belongs to a code ("shapes do not fit"). Not collective. Never NULL. */
TENON_EXTERN const char* TenonErrorString(TenonErrorCode code) TENON_NOEXCEPT;

/** @brief The name of a code ("TENON_ERR_SHAPE"). Not collective. Never NULL. */
TENON_EXTERN const char* TenonErrorName(TenonErrorCode code) TENON_NOEXCEPT;

/** @brief The last error of the calling thread. Not collective.
 *
 *  The record stays until the next error of this thread.
 *
 *  @param[out] code      the error, TENON_SUCCESS if there was none; may be NULL
 *  @param[out] message   what was passed and expected, cut to the buffer, ends with 0; may be NULL
 *  @param[in]  capacity  size of the buffer in characters
 *  @return TENON_ERR_ARG if capacity is below 1 while message is not NULL
 */
TENON_EXTERN TenonErrorCode TenonGetLastError(TenonErrorCode* code, char* message,
                                              int capacity) TENON_NOEXCEPT;

/** @brief The whole record of the last error, with its stack, as the print handler shows it.
 *         Not collective. Parameters and errors as in TenonGetLastError(). */
TENON_EXTERN TenonErrorCode TenonGetLastErrorReport(char* report, int capacity) TENON_NOEXCEPT;

/** @brief Adds a caller's place to the record of the error `code`. Not collective.
 *
 *  TenonCall() does this; call it where a macro is of no use. Does nothing if `code` is
 *  TENON_SUCCESS or is not the last error of this thread.
 *
 *  @return code
 */
TENON_EXTERN TenonErrorCode TenonAddFrame(const char* function, const char* file, int line,
                                          TenonErrorCode code) TENON_NOEXCEPT;

/** @brief Makes `handler` the current error handler of the process. Not collective.
 *
 *  @param[in] handler  TenonPrintErrorHandler, TenonReturnErrorHandler or one of the caller's
 *  @param[in] context  handed to the handler
 *  @return TENON_ERR_NULL if handler is NULL
 */
TENON_EXTERN TenonErrorCode TenonPushErrorHandler(TenonErrorHandler handler,
                                                  void* context) TENON_NOEXCEPT;

/** @brief Removes the handler pushed last. Not collective.
 *  @return TENON_ERR_STATE if none was pushed */
TENON_EXTERN TenonErrorCode TenonPopErrorHandler(void) TENON_NOEXCEPT;

/** @brief The default handler: prints the error on standard error, in at most eight lines, and for
 *         an error that all ranks agree on from one rank only. Its context is not used. */
TENON_EXTERN void TenonPrintErrorHandler(TenonErrorCode code, int level, const char* message,
                                         const char* function, const char* file, int line,
                                         void* context) TENON_NOEXCEPT;

/** @brief The silent handler: the code that the call returns is all that the caller gets. */
TENON_EXTERN void TenonReturnErrorHandler(TenonErrorCode code, int level, const char* message,
                                          const char* function, const char* file, int line,
                                          void* context) TENON_NOEXCEPT;

/** @brief Replaces what happens to an error in Apply that other ranks do not know of.
 *         Not collective.
 *
 *  By default such an error is printed and the program aborted, since the other ranks would wait
 *  for this one for ever. Ranks that fail with the same error within half a second print it once, with
 *  their number. If `handler` returns, the failing call returns its code, except after
 *  -tenon_wait_limit, when the program ends.
 *
 *  @param[in] handler  NULL restores the default
 *  @param[in] context  handed to the handler
 */
TENON_EXTERN TenonErrorCode TenonSetFatalErrorHandler(TenonErrorHandler handler,
                                                      void* context) TENON_NOEXCEPT;

/** @brief Ends the program: on all ranks, through MPI_Abort, while MPI runs. Does not return. */
TENON_EXTERN void TenonAbort(TenonErrorCode code) TENON_NOEXCEPT;

/** @brief Tells where the next call of this thread comes from, so that an error which ends the
 *         program within that call can show the line. TenonCall() and TenonCallAbort() do this; the
 *         strings must live as long as the program. Not collective. */
TENON_EXTERN void TenonNoteCaller(const char* function, const char* file, int line) TENON_NOEXCEPT;

/** In a function that returns a TenonErrorCode: calls, and if the call failed adds the place of
 *  this line to the record and returns the code. */
#define TenonCall(call)                                                                            \
  do {                                                                                             \
    TenonErrorCode tenon_code_ = (TenonNoteCaller(__func__, __FILE__, __LINE__), (call));          \
    if (tenon_code_ != TENON_SUCCESS) {                                                            \
      TenonAddFrame(__func__, __FILE__, __LINE__, tenon_code_);                                    \
      return tenon_code_;                                                                          \
    }                                                                                              \
  } while (0)

/** The same for main() and others that cannot return a code: ends the program. */
#define TenonCallAbort(call)                                                                       \
  do {                                                                                             \
    TenonErrorCode tenon_code_ = (TenonNoteCaller(__func__, __FILE__, __LINE__), (call));          \
    if (tenon_code_ != TENON_SUCCESS)                                                              \
      TenonAbort(TenonAddFrame(__func__, __FILE__, __LINE__, tenon_code_));                        \
  } while (0)

#endif
