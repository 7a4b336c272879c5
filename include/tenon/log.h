/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The event log: the caller's own events and stages beside Tenon's.
 *
 *  With -tenon_log_view the log is printed at TenonFinalize(): for each event and stage the count,
 *  time, flops, messages and bytes. While the log is off these calls do next to nothing.
 *
 *  With -tenon_log_trace FILE every execution of an event is kept in memory, and rank 0 writes them
 *  all to FILE at TenonFinalize(), in the format that chrome://tracing and https://ui.perfetto.dev
 *  load: a process for each rank, threads in the order of their first event, times from a barrier in
 *  TenonInitialize() on, the stage as category, and bytes, messages and flops, those of inner events
 *  included, as arguments. A rank keeps its first -tenon_log_trace_events events (200000, 64 bytes
 *  each, 30 MB in the file); what is left out is said on standard error and in the file. FILE is
 *  tried at TenonInitialize() and replaced only by a whole trace. Characters beyond ASCII in names
 *  become '?'.
 */
#ifndef TENON_LOG_H
#define TENON_LOG_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Turns the log on or off, as -tenon_log_view does at start. Not collective. */
TENON_EXTERN TenonErrorCode TenonLogEnable(TenonBool on) TENON_NOEXCEPT;

/** @brief The number of the event of that name, the same at each call. Not collective.
 *  @return TENON_ERR_ARG if there are too many events */
TENON_EXTERN TenonErrorCode TenonLogEventRegister(const char* name, int* event) TENON_NOEXCEPT;

/** @brief Begins an event; events nest. Not collective.
 *  @return TENON_ERR_ARG if the number is no event's */
TENON_EXTERN TenonErrorCode TenonLogEventBegin(int event) TENON_NOEXCEPT;

/** @brief Ends the innermost event. Not collective.
 *  @return TENON_ERR_STATE if another event is innermost */
TENON_EXTERN TenonErrorCode TenonLogEventEnd(int event) TENON_NOEXCEPT;

/** @brief Adds floating-point operations to the innermost event. Not collective. */
TENON_EXTERN TenonErrorCode TenonLogFlops(double flops) TENON_NOEXCEPT;

/** @brief Begins a stage: what begins now counts for it until it is popped. Not collective.
 *  @return TENON_ERR_ARG if there are too many stages */
TENON_EXTERN TenonErrorCode TenonLogStagePush(const char* name) TENON_NOEXCEPT;

/** @brief Returns to the stage before. Not collective.
 *  @return TENON_ERR_STATE if no stage was pushed */
TENON_EXTERN TenonErrorCode TenonLogStagePop(void) TENON_NOEXCEPT;

/** @brief Shows how far long work has come, if -tenon_progress: on rank 0, at most once a second and
 *         at the end. Not collective; meant to be called in every step.
 *
 *  The line has the steps done, the steps a second since the work's first report, the value, and the
 *  time that is left: "train: 300 of 1000, 100 a second, loss 0.25, 7 s left".
 *
 *  @param[in] what       names the work; reports of several works may alternate
 *  @param[in] done       steps done so far; if it goes back, the work has begun anew
 *  @param[in] total      all steps; 0 if not known
 *  @param[in] valueName  "loss", say; NULL for none
 *  @param[in] value      its present value
 *  @return TENON_ERR_ARG on rank 0, if progress is shown, unless 0 <= done <= total
 */
TENON_EXTERN TenonErrorCode TenonProgressShow(const char* what, TenonInt done, TenonInt total,
                                              const char* valueName, double value) TENON_NOEXCEPT;

#endif
