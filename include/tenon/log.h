/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The event log: user events and stages in addition to Tenon's own.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  With -tenon_log_view TenonFinalize() prints the log: count, time, flops, messages and bytes of
 *  each event and stage. While the log is off, these calls cost almost nothing.
 *
 *  With -tenon_log_trace FILE each execution of an event is stored in memory, and rank 0 writes all
 *  executions to FILE in TenonFinalize(), in the format of chrome://tracing and
 *  https://ui.perfetto.dev:
 *
 *  | in the trace | contents                                                                   |
 *  | ------------ | -------------------------------------------------------------------------- |
 *  | process      | a rank; its threads are in the order of their first event                  |
 *  | time         | since a barrier in TenonInitialize()                                       |
 *  | category     | the stage                                                                  |
 *  | arguments    | bytes, messages and flops, inner events included                           |
 *
 *  A rank stores its first -tenon_log_trace_events events (200000 by default, 64 bytes each, 30 MB
 *  in the file). The number of omitted events is reported on standard error and in the file.
 *  TenonInitialize() tests whether FILE can be written; only a complete trace replaces it.
 *  Non-ASCII characters in names become '?'.
 */
#ifndef TENON_LOG_H
#define TENON_LOG_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Turns the log on or off, like -tenon_log_view at the start. Not collective.
 *  @param[in] on  TENON_TRUE or TENON_FALSE */
TENON_EXTERN TenonErrorCode TenonLogEnable(TenonBool on) TENON_NOEXCEPT;

/** @brief Returns the number of the event with a given name. Not collective.
 *  @param[in]  name   name of the event; each call with the same name returns the same number
 *  @param[out] event  number of the event
 *  @return TENON_ERR_ARG  there are too many events, or the name has a control character or is not
 *                         UTF-8 */
TENON_EXTERN TenonErrorCode TenonLogEventRegister(const char* name, int* event) TENON_NOEXCEPT;

/** @brief Begins an event; events can be nested. Not collective.
 *  @param[in] event  number from TenonLogEventRegister()
 *  @return TENON_ERR_ARG  event is not the number of an event */
TENON_EXTERN TenonErrorCode TenonLogEventBegin(int event) TENON_NOEXCEPT;

/** @brief Ends the innermost event. Not collective.
 *  @param[in] event  number of the innermost event
 *  @return TENON_ERR_STATE  another event is innermost */
TENON_EXTERN TenonErrorCode TenonLogEventEnd(int event) TENON_NOEXCEPT;

/** @brief Adds floating-point operations to the innermost event. Not collective.
 *  @param[in] flops  number of operations */
TENON_EXTERN TenonErrorCode TenonLogFlops(double flops) TENON_NOEXCEPT;

/** @brief Returns what this rank has done in the innermost open event so far. Not collective.
 *
 *  The innermost open event is the one that the calling thread began last and has not ended; inner
 *  events are included. For programs with a log of their own. All numbers are 0 while the log is
 *  off, and outside events.
 *
 *  @param[out] seconds   time since the event began, in seconds. May be NULL, in which case it is
 *                        not returned.
 *  @param[out] flops     floating-point operations. May be NULL, in which case they are not
 *                        returned.
 *  @param[out] messages  messages sent. May be NULL, in which case they are not returned.
 *  @param[out] bytes     bytes of these messages. May be NULL, in which case they are not returned.
 */
TENON_EXTERN TenonErrorCode TenonLogGetWork(double* seconds, double* flops, TenonInt* messages,
                                            TenonInt* bytes) TENON_NOEXCEPT;

/** @brief Returns what this rank has logged, for programs. Not collective.
 *
 *  The text is a JSON list with an object for each event in each stage, in the order of their first
 *  use, with the keys stage, event (texts), count, time, self_time (seconds; without the events
 *  within), flops, messages and bytes. Events that are open are not in it. The log is on after
 *  TenonLogEnable() or with -tenon_log_view.
 *
 *  @param[out] text    [length] text. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the text needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the text does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonLogGetRecords(char text[], TenonInt length,
                                               TenonInt* needed) TENON_NOEXCEPT;

/** @brief Begins a stage, which contains all events until TenonLogStagePop(). Not collective.
 *  @param[in] name  name of the stage
 *  @return TENON_ERR_ARG  there are too many stages, or the name has a control character or is not
 *                         UTF-8 */
TENON_EXTERN TenonErrorCode TenonLogStagePush(const char* name) TENON_NOEXCEPT;

/** @brief Returns to the previous stage. Not collective.
 *  @return TENON_ERR_STATE  there is no previous stage */
TENON_EXTERN TenonErrorCode TenonLogStagePop(void) TENON_NOEXCEPT;

/** @brief Reports the progress of a long computation. Not collective.
 *
 *  Call in every step. With -tenon_progress, rank 0 prints a line at most once per second and at
 *  the end, with steps done, steps per second since the first report, the value, and the time left:
 *  "train: 300 of 1000, 100 a second, loss 0.25, 7 s left".
 *
 *  @param[in] name       name of the computation; reports of several computations can alternate
 *  @param[in] done       number of steps done; a smaller number than before starts the computation
 *                        again
 *  @param[in] total      total number of steps; 0 if unknown
 *  @param[in] valueName  name of the value, such as "loss". May be NULL, in which case none is
 *                        printed.
 *  @param[in] value      current value
 *  @return TENON_ERR_ARG  done or total is negative, or done exceeds a known total; only on rank 0
 *                         and with -tenon_progress
 */
TENON_EXTERN TenonErrorCode TenonProgressShow(const char* name, TenonInt done, TenonInt total,
                                              const char* valueName, double value) TENON_NOEXCEPT;

#endif
