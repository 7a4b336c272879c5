// SPDX-License-Identifier: BSD-2-Clause
// What the stand-in pretends that work takes, which events tell: nothing, but where a test says
// otherwise.
#pragma once

// From now on work of this kind takes so many seconds: "engine N", a plan of cuDNN of the engine
// with this number, with " with a bias", " with a bias and a rectifier", " with channels last" or "
// in bfloat16" behind it where it is such a plan, or "product", a call of cuBLAS. "" lets all work
// take nothing again.
extern "C" __attribute__((visibility("default"))) void tenonStandinCost(const char* work,
                                                                        double seconds);

namespace tenon::standin {

double costOf(const char* work);

} // namespace tenon::standin
