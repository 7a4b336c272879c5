// SPDX-License-Identifier: BSD-2-Clause
// A container that recomputes its activations in the adjoint (activation checkpointing). In the map
// list of the network around it, the container is a single kernel, the segment, that saves only its
// inputs. Its activations are in one frame (the values that an Apply saves for its adjoint,
// layer/core/setup.hpp), which all Apply calls share:
//
//   Apply      runs the container; saves its inputs, and the number of random draws so far
//   tangent    runs Apply again, with the same random numbers, then the tangent
//   adjoint    runs Apply again, with the same random numbers, then the adjoint
//
// k pending Apply calls thus need memory for k inputs, but for the activations only once.
#pragma once

#include "layer/core/setup.hpp"

#include <memory>

namespace tenon {

class Layer;

// Throws TENON_ERR_SUPPORT if the container has several outputs and therefore cannot recompute.
void checkSegment(const Layer& container, std::size_t outputs);
// The kernel; `inner` is the set-up of what the container contains. Throws TENON_ERR_SUPPORT if a
// layer in it has states that user functions can read: the first Apply has changed them, so the
// second one could give another result.
std::shared_ptr<LocalKernel> makeSegment(const Layer& container, std::unique_ptr<Setup> inner);

} // namespace tenon
