/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Error codes, the record of the last error, and error handlers.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  Every call returns a TenonErrorCode. An error is recorded for the calling thread, passed to the
 *  current error handler, which by default prints it on standard error, and returned. TenonCall()
 *  adds the location of each caller to the record. No call in this file is collective.
 *
 *  User functions (of operators, layers and optimizers) return a code; the call continues if it is
 *  TENON_SUCCESS. A function in C++ may throw an exception instead. The call then returns:
 *
 *  - TENON_ERR_MEMORY for std::bad_alloc
 *  - the code of the error, for an exception of tenon.hpp
 *  - otherwise TENON_ERR_USER; the message has the text of the exception and the name of the object
 *    whose function threw it
 *
 *  Error handlers and functions that free a context must not throw.
 *
 *  Recording, handling and returning an error needs no memory. If there is no memory left, the call
 *  returns TENON_ERR_MEMORY, some callers may be missing in the record, and the printed report is
 *  one line.
 *
 *  Collective calls. A call that creates or sets up an object returns the same error on all ranks,
 *  with one exception: a rank whose handle is NULL or not valid cannot know the communicator unless
 *  another argument tells it. This rank returns TENON_ERR_NULL or TENON_ERR_HANDLE at once, and the
 *  others return TENON_ERR_TIMEOUT after -tenon_agree_timeout seconds. After a timeout all ranks
 *  fail, also those that arrive later, and the communicator can no longer be used for Tenon
 *  objects.
 */
#ifndef TENON_ERROR_H
#define TENON_ERROR_H

#include <tenon/export.h>
#include <tenon/types.h>

/** @brief Table X(name, number, sentence) of all error codes.
 *
 *  1-63 are errors in a call, after which the object is unchanged; 64-126 are failures of
 *  resources; 127 is an error in Tenon itself.
 */
#define TENON_ERROR_TABLE(X)                                                                       \
  X(SUCCESS, 0, "no error")                                                                        \
  X(ERR_NULL, 1, "a required pointer or handle is NULL")                                           \
  X(ERR_HANDLE, 2, "not a valid handle of the expected class")                                     \
  X(ERR_ARG, 3, "an argument is out of range")                                                     \
  X(ERR_STATE, 4, "object in the wrong state for this call")                                       \
  X(ERR_SHAPE, 5, "incompatible shapes")                                                           \
  X(ERR_LAYOUT, 6, "incompatible layouts")                                                         \
  X(ERR_DATATYPE, 7, "incompatible data types")                                                    \
  X(ERR_TYPE, 8, "unknown type name")                                                              \
  X(ERR_SUPPORT, 9, "not supported in this combination")                                           \
  X(ERR_OPTION, 10, "unknown or malformed option")                                                 \
  X(ERR_COLLECTIVE, 11, "arguments differ between ranks")                                          \
  X(ERR_USER, 12, "a function of the program threw an exception")                                  \
  X(ERR_NOT_FINITE, 13, "a value is infinite or not a number")                                     \
  X(ERR_TEST, 14, "a model does not give the results that its file holds")                         \
  X(ERR_MEMORY_LIMIT, 15, "no plan is within the memory limit")                                    \
  X(ERR_MEMORY, 64, "out of memory")                                                               \
  X(ERR_MPI, 65, "an MPI call failed")                                                             \
  X(ERR_FILE, 66, "a file cannot be opened, read or written")                                      \
  X(ERR_FORMAT, 67, "a file is truncated or has the wrong format")                                 \
  X(ERR_TIMEOUT, 68, "timed out waiting for other ranks")                                          \
  X(ERR_LIBRARY, 69, "a library that Tenon uses reported a failure")                               \
  X(ERR_INTERNAL, 127, "internal error in Tenon; please report it")

/** @brief Error code returned by every call: TENON_SUCCESS, or the kind of the failure. */
typedef enum TenonErrorCode TENON_ENUM_INT {
#define TENON_ERROR_ENUM(name, number, sentence) TENON_##name = number,
  TENON_ERROR_TABLE(TENON_ERROR_ENUM)
#undef TENON_ERROR_ENUM
      TENON_ERROR_CODE_MAX_ = 0x7fff
} TenonErrorCode;

/** @brief User function that is called when a call of Tenon fails.
 *
 *  If the handler calls Tenon and the call fails, the error is returned to the handler, but neither
 *  recorded nor handled.
 *
 *  @param[in] code      error code
 *  @param[in] level     0 at the origin of the error; 1, 2, ... for each caller that TenonCall()
 *                       adds
 *  @param[in] message   actual and expected arguments, the same at all levels; valid during the
 *                       call, like the other strings
 *  @param[in] function  name of the failed call at level 0, of the caller at other levels
 *  @param[in] file      source file of the location
 *  @param[in] line      line of the location
 *  @param[in] context   context of TenonPushErrorHandler(). May be NULL, in which case none was
 *                       given.
 */
typedef void (*TenonErrorHandler)(TenonErrorCode code, int level, const char* message,
                                  const char* function, const char* file, int line, void* context);

/** @brief Returns the sentence of an error code ("incompatible shapes"). Not collective.
 *  @param[in] code  error code, or any number
 *  @return constant text, valid at any time; never NULL */
TENON_EXTERN const char* TenonErrorString(TenonErrorCode code) TENON_NOEXCEPT;

/** @brief Returns the name of an error code ("TENON_ERR_SHAPE"). Not collective.
 *  @param[in] code  error code, or any number
 *  @return constant text, valid at any time; never NULL */
TENON_EXTERN const char* TenonErrorName(TenonErrorCode code) TENON_NOEXCEPT;

/** @brief Returns the last error of the calling thread. Not collective.
 *
 *  The record stays until the next error of this thread. Unlike the texts of other calls, the text
 *  is truncated to the buffer, and the call itself does not fail.
 *
 *  @param[out] code     error code; TENON_SUCCESS if there was none. May be NULL, in which case it
 *                       is not returned.
 *  @param[out] message  [length] message, truncated to the buffer and NUL-terminated. May be NULL,
 *                       in which case it is not returned.
 *  @param[in]  length   size of the buffer in characters; must be >= 1
 *  @param[out] needed   size that the whole text needs, terminating NUL included. May be NULL, in
 *                       which case it is not returned.
 *  @return TENON_ERR_ARG  length is below 1, and message is not NULL
 */
TENON_EXTERN TenonErrorCode TenonGetLastError(TenonErrorCode* code, char message[], TenonInt length,
                                              TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the record of the last error, with its call stack. Not collective.
 *
 *  The text is that of TenonPrintErrorHandler(), truncated to the buffer.
 *
 *  @param[out] report  [length] report, truncated to the buffer and NUL-terminated. May be NULL, in
 *                      which case it is not returned.
 *  @param[in]  length  size of the buffer in characters; must be >= 1
 *  @param[out] needed  size that the whole text needs, terminating NUL included. May be NULL, in
 *                      which case it is not returned.
 *  @return TENON_ERR_ARG     length is below 1, and report is not NULL
 *  @return TENON_ERR_MEMORY  there is not enough memory for the report
 */
TENON_EXTERN TenonErrorCode TenonGetLastErrorReport(char report[], TenonInt length,
                                                    TenonInt* needed) TENON_NOEXCEPT;

/** @brief Sets the error handler of the process. Not collective.
 *  @param[in] handler  TenonPrintErrorHandler, TenonReturnErrorHandler or a user function
 *  @param[in] context  context passed to the handler. May be NULL, in which case NULL is passed.
 *  @return TENON_ERR_NULL  handler is NULL
 *  @see    TenonPopErrorHandler() */
TENON_EXTERN TenonErrorCode TenonPushErrorHandler(TenonErrorHandler handler,
                                                  void* context) TENON_NOEXCEPT;

/** @brief Removes the error handler that was pushed last. Not collective.
 *  @return TENON_ERR_STATE  no handler was pushed */
TENON_EXTERN TenonErrorCode TenonPopErrorHandler(void) TENON_NOEXCEPT;

/** @brief Prints an error on standard error; the default error handler.
 *
 *  Prints at most eight lines per error, and an error common to all ranks on one rank only. See
 *  TenonErrorHandler.
 *
 *  @param[in] code      error code
 *  @param[in] level     0 at the origin of the error; 1, 2, ... for its callers
 *  @param[in] message   message of the error
 *  @param[in] function  name of the failed call, or of the caller
 *  @param[in] file      source file of the location
 *  @param[in] line      line of the location
 *  @param[in] context   not used. May be NULL, in which case nothing changes.
 */
TENON_EXTERN void TenonPrintErrorHandler(TenonErrorCode code, int level, const char* message,
                                         const char* function, const char* file, int line,
                                         void* context) TENON_NOEXCEPT;

/** @brief Does nothing; the silent error handler. The error code is only returned.
 *
 *  See TenonErrorHandler.
 *
 *  @param[in] code      error code
 *  @param[in] level     0 at the origin of the error; 1, 2, ... for its callers
 *  @param[in] message   message of the error
 *  @param[in] function  name of the failed call, or of the caller
 *  @param[in] file      source file of the location
 *  @param[in] line      line of the location
 *  @param[in] context   not used. May be NULL, in which case nothing changes.
 */
TENON_EXTERN void TenonReturnErrorHandler(TenonErrorCode code, int level, const char* message,
                                          const char* function, const char* file, int line,
                                          void* context) TENON_NOEXCEPT;

/** @brief Sets the handler of fatal errors. Not collective.
 *
 *  An error is fatal if other ranks do not know of it, as in TenonLayerApply() on more than one
 *  rank. By default it is printed and the program is aborted, since the other ranks would wait
 *  forever. Ranks that fail with the same error within half a second print it once, with the number
 *  of ranks. If the handler returns, the failed call returns its error code, except after
 *  -tenon_wait_limit, when the program ends.
 *
 *  @param[in] handler  user function. May be NULL, in which case the default is restored.
 *  @param[in] context  context passed to the handler. May be NULL, in which case NULL is passed.
 */
TENON_EXTERN TenonErrorCode TenonSetFatalErrorHandler(TenonErrorHandler handler,
                                                      void* context) TENON_NOEXCEPT;

/** @brief Ends the program on all ranks, by MPI_Abort() if MPI is running. Does not return.
 *  @param[in] code  error code, with which the program ends */
TENON_EXTERN void TenonAbort(TenonErrorCode code) TENON_NOEXCEPT;

#include <tenon/ext/frames.h>

/** @brief Makes a call and, if it fails, adds this location to the record and returns the code.
 *
 *  For use in functions that return a TenonErrorCode.
 */
#define TenonCall(call)                                                                            \
  do {                                                                                             \
    TenonErrorCode tenon_code_ = (TenonNoteCaller(__func__, __FILE__, __LINE__), (call));          \
    if (tenon_code_ != TENON_SUCCESS) {                                                            \
      TenonAddFrame(tenon_code_, __func__, __FILE__, __LINE__);                                    \
      return tenon_code_;                                                                          \
    }                                                                                              \
  } while (0)

/** @brief Makes a call and, if it fails, ends the program with TenonAbort().
 *
 *  For use in main() and other functions that cannot return a TenonErrorCode.
 */
#define TenonCallAbort(call)                                                                       \
  do {                                                                                             \
    TenonErrorCode tenon_code_ = (TenonNoteCaller(__func__, __FILE__, __LINE__), (call));          \
    if (tenon_code_ != TENON_SUCCESS)                                                              \
      TenonAbort(TenonAddFrame(tenon_code_, __func__, __FILE__, __LINE__));                        \
  } while (0)

#endif
