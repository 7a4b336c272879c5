/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded into test programs under MPICH, in which a waiting process spins, and no setting makes
 * it yield its core. With more processes than cores, a message then takes as long as the scheduler
 * lets the other processes spin, about ten milliseconds. MPICH waits by asking UCX, its network
 * library, for progress. This function takes the place of UCX's, calls it, and yields if there was
 * no progress. A build of MPICH on another network library never calls it. */
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
