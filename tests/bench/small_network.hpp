// SPDX-License-Identifier: BSD-2-Clause
// Part of the benchmark convolution: functions of each element, and a network of few channels at
// each point.
#pragma once

#include <string>

namespace tenon::bench {

// Prints the rows of this type, float32 or float64, whose name contains the text.
void measureSmallNetworks(const std::string& type, const std::string& name);

} // namespace tenon::bench
