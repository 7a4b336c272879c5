// SPDX-License-Identifier: BSD-2-Clause
// A container that recomputes (activation checkpointing): for its own container it is a single
// kernel that saves its inputs. The activations of its layers are in one frame, which all Apply
// calls share. A derivative runs the Apply again, with the same random numbers, before its own
// pass. k pending evaluations thus need memory for k inputs, but for the activations only once.
#pragma once

#include "layer/core/setup.hpp"

#include <memory>

namespace tenon {

class Layer;

// `inner` is the container, set up as usual. Throws TENON_ERR_SUPPORT if it has several outputs, or
// states that user functions can read.
std::unique_ptr<Setup> makeSegment(const Layer& layer, std::unique_ptr<Setup> inner);

} // namespace tenon
