// SPDX-License-Identifier: BSD-2-Clause
// The interface of device kernels that are made from functors. A functor is a trivially copyable
// structure that has all arguments of a kernel as members, and an operator for one element, or for
// one thread of a grid. It uses none of CUDA's built-in variables, so any compiler accepts it and
// the host can run it. Example, y = alpha x, called for all i in [0, n):
//     template <class T> struct Scaled {
//       T alpha;  const T* x;  T* y;
//       TENON_DEVICE T read(Index i) const { return alpha * x[i]; }
//       TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
//     };
//     eachElement(context, n, 1, functors::Scaled<T>{alpha, x, y});  // host or device: each.hpp
// TENON_DEVICE is `__host__ __device__` where nvcc compiles; TENON_UNROLL and TENON_KEEP_LOOP make
// the compiler unroll the next loop, or not (sys/device_code.hpp).
//
// To add a functor: write it in functors/, call eachElement(), eachOfBlock() or eachThreadBlock()
// with it, and list it in a file cuda/*.cu, for which nvcc instantiates the templates of
// cuda/launch.cuh. A functor that is not listed is a linker error. Each call queues its kernel on
// the stream and returns. eachElement() is for the elements of an array, eachOfBlock() for those
// of a strided box (Block), and eachThreadBlock() for the thread blocks of the device.
#pragma once

#include "kernels/walks/block.hpp"
#include "sys/device.hpp"
#include "sys/device_code.hpp"

namespace tenon {

// A functor with two steps, f.write(i, f.read(i)): a thread of the device reads several elements
// before it writes them, which overlaps the loads.
template <class F>
concept ReadsFirst = requires(const F& f) {
  f.write(Index(), f.read(Index()));
};

// A functor that is allowed to write an element of a block several times.
template <class F>
concept MayRepeat = requires {
  typename F::MayRepeat;
};

// Runs either form of a functor for element i.
template <class F>
TENON_DEVICE void applyTo(const F& f, Index i) {
  if constexpr (ReadsFirst<F>)
    f.write(i, f.read(i));
  else
    f(i);
}

// A thread of a one-dimensional grid: its indices and the numbers of blocks and of threads per
// block. It processes the elements first(), first() + step(), ....
struct GridThread {
  unsigned block, thread, blocks, threads;

  TENON_DEVICE Index first() const { return Index(block) * threads + thread; }
  TENON_DEVICE Index step() const { return Index(blocks) * threads; }
};

namespace device {

constexpr unsigned kThreads = 256; // threads per block

// Calls f(i), or f.write(i, f.read(i)), for each i in [0, n), in any order.
template <class F>
void eachElement(const Stream& stream, Index n, const F& f);

// Calls f.write(offset written, f.read(offset read, offset written)) for each element of the block.
// If the block writes an element several times (dimensions with a written stride of 0), one thread
// does so in order; f must then satisfy MayRepeat, since each such instance is a further kernel.
template <class F>
void eachOfBlock(const Stream& stream, const Block& block, const F& f);

// For each thread block of the grid, calls f(phase, thread, shared) for all threads (GridThread),
// phase by phase from 0 to f.phases() - 1, with a barrier between phases: the values that a phase
// leaves in F::Shared are visible to the next one. If f has threadOf(thread), its result, computed
// once per thread, is passed instead of the GridThread.
template <class F>
void eachThreadBlock(const Stream& stream, Index blocks, const F& f);

} // namespace device

} // namespace tenon
