/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded into test programs under MPICH, which has no setting that lets a waiting process give
 * way: with more processes than cores each message takes as long as the scheduler lets the others
 * spin, about ten milliseconds. MPICH waits by asking UCX for progress; where there was none, this
 * yields. A build of MPICH on another network library never calls it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <string.h>

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*) = NULL;
  unsigned events = 0;
  if (progress == NULL) {
    void* symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
    memcpy(&progress, &symbol, sizeof symbol); /* as POSIX wants it */
  }
  events = progress(worker);
  if (events == 0)
    sched_yield();
  return events;
}
