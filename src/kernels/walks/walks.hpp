// SPDX-License-Identifier: BSD-2-Clause
// The walks of the device. A functor is a structure that can be copied byte by byte, with all that
// it reads, and an operator that does the work of one element, or of one place of a grid; it
// touches none of CUDA's built-in variables, so that any compiler takes it, and the host can run
// it.
//
// cuda/launch.cuh defines the walks, and cuda/*.cu lists the functors for which nvcc compiles them:
// one that is missing there is an error of the linker. Each queues its work on the stream and
// returns.
#pragma once

#include "kernels/walks/block.hpp"
#include "sys/device.hpp"
#include "sys/device_code.hpp"

namespace tenon {

// A functor that handles an element in two steps, f.write(i, f.read(i)): a thread of the device
// reads several elements before it writes them, so that it waits for their loads together.
template <class F>
concept ReadsFirst = requires(const F& f) {
  f.write(Index(), f.read(Index()));
};

// A functor that may write an element of a block several times.
template <class F>
concept MayRepeat = requires {
  typename F::MayRepeat;
};

template <class F>
TENON_DEVICE void applyTo(const F& f, Index i) {
  if constexpr (ReadsFirst<F>)
    f.write(i, f.read(i));
  else
    f(i);
}

// A thread of a one-dimensional grid.
struct Place {
  unsigned block, thread, blocks, threads;

  TENON_DEVICE Index first() const { return Index(block) * threads + thread; }
  TENON_DEVICE Index step() const { return Index(blocks) * threads; }
};

namespace device {

constexpr unsigned kThreads = 256; // of a block

// f(i), or f.write(i, f.read(i)), for each i in [0, n), in any order.
template <class F>
void eachElement(const Stream& stream, Index n, const F& f);

// f.write(offset written, f.read(offset read, offset written)) for each element of the block. If
// the block writes an element several times, along dimensions whose written stride is 0, one thread
// does these in order if f is one of MayRepeat; other functors are refused, since each instance is
// a kernel.
template <class F>
void eachOfBlock(const Stream& stream, const Block& block, const F& f);

// For each block of the grid f(phase, place, shared) for all its places, phase by phase from 0 to
// f.phases() - 1: what a phase leaves in F::Shared, all places of the next one see. If f has
// threadOf(place), what that gives takes the place's place: a thread computes it once for all
// phases.
template <class F>
void eachBlock(const Stream& stream, Index blocks, const F& f);

} // namespace device

} // namespace tenon
