/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded into test programs with TENON_TEST_SLEEP: a process that yields sleeps for some
 * microseconds. Linux 6.6 and later take the rest of its time slice from a process that yields, so
 * that beside a compiler each look of a waiting process costs four milliseconds, and a suite takes
 * four times as long. Where tests alone run, yields are a fifth faster. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

int sched_yield(void) {
  static __thread int is_exact = 0;
  const struct timespec moment = {0, 20000};
  if (!is_exact) /* Linux lets a thread oversleep by 50 microseconds unless it says otherwise. */
    is_exact = prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul) == 0;
  nanosleep(&moment, NULL);
  return 0;
}
