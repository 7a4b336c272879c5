// SPDX-License-Identifier: BSD-2-Clause
// Lets calls of the stand-in for CUDA fail, and limits its memory, where a test requests it, to
// test how Tenon handles errors. Failures are requested in the form "F:N": the N-th call of
// function F fails, counted from the request. "F" is the first call, "F:*" all calls. The
// environment variable TENON_STANDIN_FAIL requests from the start of the program,
// tenonStandinFail() from then on:
//
//     TENON_STANDIN_FAIL=cudaLaunchKernel:2    the second launch of the program fails
//
// F is the name of a function of CUDA's libraries, without version suffixes (cublasCreate), or one
// of the events "kernel" (a kernel faults while it runs), "graph", "plan" and "heuristics" (cuDNN
// cannot create an object of this kind).
#pragma once

// Replaces the request; "" lets all calls succeed from now on.
extern "C" __attribute__((visibility("default"))) void tenonStandinFail(const char* which);
// Sets the bytes of device memory, in place of TENON_STANDIN_BYTES.
extern "C" __attribute__((visibility("default"))) void tenonStandinBytes(unsigned long long bytes);

// Sets the bytes of device memory that the driver must have free to make a handle or plan of
// NVIDIA's libraries, to launch a kernel for the first time, or to instantiate a graph. Memory that
// the pool retains is not free for this purpose (memory.hpp), and these calls then fail. Before the
// first call of this function nothing is needed.
extern "C" __attribute__((visibility("default"))) void
tenonStandinLibraryBytes(unsigned long long bytes);

namespace tenon::standin {

// Called once by each function of the stand-in that can fail: counts this call of `function`, and
// returns true if it must fail.
bool isToFail(const char* function);
// False if the driver lacks the bytes of tenonStandinLibraryBytes().
bool hasRoomForLibraries();

} // namespace tenon::standin
