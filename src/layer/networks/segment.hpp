// SPDX-License-Identifier: BSD-2-Clause
// A container that recomputes: to whoever runs it, it is one kernel that keeps its inputs. All that
// its layers save is in one frame, which the Apply calls share; a derivative runs the Apply again,
// with the random numbers of the first time, and then its own pass. So k pending evaluations hold
// the inputs k times and the activations once.
#pragma once

#include "layer/core/setup.hpp"

#include <memory>

namespace tenon {

class Layer;

// `inner` is the container set up as usual. Throws TENON_ERR_SUPPORT if it has several outputs, or
// states that functions of the user's may read.
std::unique_ptr<Setup> makeSegment(const Layer& layer, std::unique_ptr<Setup> inner);

} // namespace tenon
