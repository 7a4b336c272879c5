// SPDX-License-Identifier: BSD-2-Clause
// The execution times that the stand-in for CUDA pretends. Its work takes no time on the stand-in's
// clock, which events read (cudaEventElapsedTime()), unless a test sets a time here: so a test can
// make one engine of cuDNN faster than another and check which of them Tenon's autotuning chooses.
#pragma once

// From now on, work of this kind takes `seconds`. The kinds are
//   "product"    a call of cuBLAS
//   "engine N"   a plan of cuDNN with engine N; for a plan with an epilogue or another storage, one
//                of " with a bias", " with a bias and a rectifier", " with channels last" and
//                " in bfloat16" is appended: "engine 58 in bfloat16"
//   ""           all kinds; they take no time again, whatever `seconds` is
extern "C" __attribute__((visibility("default"))) void tenonStandinCost(const char* work,
                                                                        double seconds);

namespace tenon::standin {

// Returns the seconds that were set for this kind of work, 0 by default.
double costOf(const char* work);

} // namespace tenon::standin
