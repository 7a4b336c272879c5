/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded into test programs with TENON_TEST_DELAYS: now and then a rank falls behind for up to a
 * quarter of a millisecond when it starts or looks after a message. Messages then arrive in orders
 * in which they otherwise seldom do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Delays one call in 64, by 0 to 255 microseconds. The random numbers (xorshift) have a seed for
 * each process and thread, such that ranks fall behind at different calls. */
static void delay(void) {
  static __thread unsigned long long state = 0;
  double end = 0;
  if (state == 0)
    state = (unsigned long long)getpid() * 0x9E3779B97F4A7C15ull | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % 64 != 0)
    return;
  for (end = now() + 1e-6 * (double)(state >> 32 & 255); now() < end;)
    sched_yield();
}

/* Calls the library's own function of this name. */
#define FORWARD(type, name, ...)                                                                   \
  static type own = NULL;                                                                          \
  if (own == NULL) {                                                                               \
    void* symbol = dlsym(RTLD_NEXT, name);                                                         \
    memcpy(&own, &symbol, sizeof symbol); /* as POSIX wants it */                                  \
  }                                                                                                \
  delay();                                                                                         \
  return own(__VA_ARGS__)

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*Receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*Start)(MPI_Request*);
typedef int (*StartAll)(int, MPI_Request*);
typedef int (*TestOne)(MPI_Request*, int*, MPI_Status*);
typedef int (*TestAll)(int, MPI_Request*, int*, MPI_Status*);

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  FORWARD(Send, "MPI_Isend", data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  FORWARD(Receive, "MPI_Irecv", data, count, type, from, tag, comm, request);
}

int MPI_Start(MPI_Request* request) {
  FORWARD(Start, "MPI_Start", request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  FORWARD(StartAll, "MPI_Startall", count, requests);
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  FORWARD(TestOne, "MPI_Test", request, done, status);
}

int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  FORWARD(TestAll, "MPI_Testall", count, requests, done, statuses);
}
