/* SPDX-License-Identifier: BSD-2-Clause */
/* How a process that waits gives its core to others: the decisions, as C, for the waits of the
 * library (comm/agreement/wait_policy.hpp) and for all yields of a process (src/preload). It yields
 * and measures how long that takes. Where nobody else wants the core, a yield returns at once.
 * Otherwise Linux (from 6.6 on) takes the rest of its time slice from a process that yields, about
 * 3 ms for each look at a message; a process that sleeps instead is preferred when it wakes up. So
 * a long yield is followed by naps, whose number grows while the core is wanted:
 *
 *   yields, until one takes 50 us or more
 *   64 naps of 2, 4, ..., 128, 128, ... us; each wait begins again with 2 us
 *   one yield; if it is long again, 128 naps, then 256, up to 4096; otherwise yields as before */
#ifndef TENON_SYS_CORE_SHARE_H
#define TENON_SYS_CORE_SHARE_H

#include <sched.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Of one thread. */
struct TenonCoreShare {
  int naps;     /* that are left until the next yield */
  int nextNaps; /* after the next long yield */
  int doubled;  /* how often the length of naps was doubled in this wait */
};

enum {
  kTenonLongYield = 50000, /* nanoseconds */
  kTenonFirstNap = 2000,   /* nanoseconds: about the time of a message */
  kTenonDoublings = 6,
  kTenonMinNaps = 64,
  kTenonMaxNaps = 4096
};

#define TENON_CORE_SHARE_INIT                                                                      \
  { 0, kTenonMinNaps, 0 }

/* The length of the next nap in nanoseconds, or 0: then yield and call tenonNoteYield(). In a new
 * wait the message is probably about to arrive, so its first nap is short again. */
static inline long tenonNextNap(struct TenonCoreShare* share, int isNewWait) {
  long nap = kTenonFirstNap;
  if (isNewWait)
    share->doubled = 0;
  if (share->naps == 0)
    return 0;
  --share->naps;
  nap <<= share->doubled;
  if (share->doubled < kTenonDoublings)
    ++share->doubled;
  return nap;
}

static inline void tenonNoteYield(struct TenonCoreShare* share, long long nanoseconds) {
  if (nanoseconds < kTenonLongYield) {
    share->nextNaps = kTenonMinNaps;
    return;
  }
  share->naps = share->nextNaps;
  if (share->nextNaps < kTenonMaxNaps)
    share->nextNaps *= 2;
}

/* By default Linux lets a thread sleep 50 us longer than it wants to. tenonExactTimers() ends this
 * and returns the time, which is then set again, since the thread is the program's. */
static inline int tenonExactTimers(void) {
#ifdef __linux__
  const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  return slack;
#else
  return 0;
#endif
}

static inline void tenonSetTimers(int slack) {
#ifdef __linux__
  if (slack > 1)
    prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0UL, 0UL, 0UL);
#else
  (void)slack;
#endif
}

/* Sleeps for less than a second. */
static inline void tenonNap(long nanoseconds) {
  struct timespec length;
  const int slack = tenonExactTimers();
  length.tv_sec = 0;
  length.tv_nsec = nanoseconds;
  nanosleep(&length, 0);
  tenonSetTimers(slack);
}

/* A yield, also where sched_yield() is that of the preload library. */
static inline void tenonYield(void) {
#ifdef __linux__
  syscall(SYS_sched_yield);
#else
  sched_yield();
#endif
}

static inline long long tenonNanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
