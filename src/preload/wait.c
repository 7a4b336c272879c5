/* SPDX-License-Identifier: BSD-2-Clause */
/* libtenon_wait.so, preloaded into ranks where there are more of them than free cores:
 *
 *   mpiexec -n 8 -x LD_PRELOAD=/usr/lib/libtenon_wait.so ./solver
 *
 * It replaces sched_yield(). MPI yields in each call that finds nothing (Open MPI's
 * mpi_yield_when_idle), which on Linux 6.6 and later costs a time slice of 3 ms beside a busy
 * process; here a process naps instead while its core is wanted (sys/core_share.h). libtenon.so
 * does not do so by itself, since it would change the yields of other libraries. */
#define _GNU_SOURCE
#include "sys/core_share.h"

struct TenonCoreShare* tenon_wait_core_share(void);

/* After a longer time since its last yield a thread has done something else, and waits again. */
enum { kNewWait = 3000 }; /* nanoseconds */

static __thread struct TenonCoreShare share = TENON_CORE_SHARE_INIT;
static __thread long long lastEnd = 0;

/* What the calling thread knows about its core. Tenon looks for this name and shares it: when
 * either has had a long yield, both nap. */
struct TenonCoreShare* tenon_wait_core_share(void) {
  return &share;
}

int sched_yield(void) {
  const long long before = tenonNanoseconds();
  const long nap = tenonNextNap(&share, before - lastEnd > kNewWait);
  if (nap > 0) {
    tenonNap(nap);
    lastEnd = tenonNanoseconds();
    return 0;
  }
  tenonYield();
  lastEnd = tenonNanoseconds();
  tenonNoteYield(&share, lastEnd - before);
  return 0;
}
