// SPDX-License-Identifier: BSD-2-Clause
// Calls of the stand-in that fail because a test says so: by TENON_STANDIN_FAIL=F:N, call N of the
// function F from the start, or by tenonStandinFail("F:N"), from there on. Without :N the first,
// with :* all.
#pragma once

// "" lets all calls succeed from now on.
extern "C" __attribute__((visibility("default"))) void tenonStandinFail(const char* which);
// The device's memory from now on, in place of TENON_STANDIN_BYTES.
extern "C" __attribute__((visibility("default"))) void tenonStandinBytes(unsigned long long bytes);

// What a handle or plan of NVIDIA's libraries, the first launch of a kernel and a graph need from
// the driver, and do not get where the pool keeps it; 0 before the first call.
extern "C" __attribute__((visibility("default"))) void
tenonStandinLibraryBytes(unsigned long long bytes);

namespace tenon::standin {

bool isToFail(const char* function);
bool hasRoomForLibraries();

} // namespace tenon::standin
