// SPDX-License-Identifier: BSD-2-Clause
// CUDA kernels for eachElement(), eachThreadBlock() and eachOfBlock() (walks/walks.hpp). They apply
// a functor (a struct with arrays and the operation for one element) to each element of an array or
// box. Host code, compiled by another compiler than nvcc, only sees the declarations there. The .cu
// files include this file and list the functors for which the kernels are instantiated.
//
// Each kernel is a struct with its parameters and a body for one thread (onDevice); entry() is the
// __global__ function that runs it, and launch() starts the grid.
//
// Tests without a GPU link a stand-in for the CUDA runtime, which runs kernels on the host. It
// defines tenonHostTwin(). Before each launch, this function receives another function, compiled
// for the host, which runs the same functor thread by thread (onHost).
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"
#include "sys/cuda/retry.hpp"

#include <algorithm>
#include <type_traits>

// Runs a kernel on the host: its parameter, the grid, and the order of the blocks (NULL:
// ascending).
using TenonTwin = void (*)(const void* kernel, unsigned blocks, unsigned threads,
                           const unsigned* order);
extern "C" __attribute__((weak, visibility("default"))) void
tenonHostTwin(const void* entry, std::size_t bytes, TenonTwin run);

namespace tenon::device {

// The kernel of eachElement(): thread t of all T threads processes the elements t, t + T, ....
template <class F>
struct EachElement {
  // Number of elements that a thread reads before it writes them, to overlap their loads.
  static constexpr int kTogether = ReadsFirst<F> ? 4 : 1;
  F f;
  Index n;

  __device__ void onDevice(const GridThread& p) const { run(p); }
  void onHost(unsigned block, unsigned threads, unsigned blocks) const {
    for (unsigned t = 0; t < threads; ++t)
      run(GridThread{block, t, blocks, threads});
  }
  TENON_DEVICE void run(const GridThread& p) const {
#pragma unroll 1
    for (Index i = p.first(); i < n; i += kTogether * p.step())
      if constexpr (ReadsFirst<F>)
        runTogether(i, p.step());
      else
        f(i);
  }
  // All loads are unconditional: a load inside a condition would wait for the previous one.
  TENON_DEVICE void runTogether(Index first, Index step) const {
    if (first + (kTogether - 1) * step < n) {
      decltype(f.read(first)) values[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        values[k] = f.read(first + k * step);
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        f.write(first + k * step, values[k]);
    } else {
#pragma unroll 1
      for (Index i = first; i < n; i += step)
        applyTo(f, i);
    }
  }
};

// The kernel of eachThreadBlock(): the phases of a thread block, with a barrier between them.
template <class F>
struct EachBlock {
  F f;

  __device__ void onDevice(const GridThread& p) const {
    __shared__ typename F::Shared shared;
    const auto thread = threadOf(p);
    for (int phase = 0; phase < f.phases(); ++phase) {
      if (phase > 0)
        __syncthreads();
      f(phase, thread, shared);
    }
  }
  void onHost(unsigned block, unsigned threads, unsigned blocks) const {
    typename F::Shared shared;
    for (int phase = 0; phase < f.phases(); ++phase)
      for (unsigned t = 0; t < threads; ++t)
        f(phase, threadOf(GridThread{block, t, blocks, threads}), shared);
  }

private:
  TENON_DEVICE auto threadOf(const GridThread& p) const {
    if constexpr (requires { f.threadOf(p); })
      return f.threadOf(p);
    else
      return p;
  }
};

template <class Kernel>
__global__ void __launch_bounds__(kThreads) entry(const __grid_constant__ Kernel kernel) {
  kernel.onDevice(GridThread{blockIdx.x, threadIdx.x, gridDim.x, blockDim.x});
}

template <class Kernel>
void launch(const Stream& stream, Index blocks, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  static_assert(sizeof(Kernel) <= 4096, "the parameters of a kernel");
  const auto* function = reinterpret_cast<const void*>(&entry<Kernel>);
  if (tenonHostTwin) // weak symbol: null unless the stand-in is linked
    tenonHostTwin(function, sizeof(Kernel),
                  [](const void* k, unsigned count, unsigned threads, const unsigned* order) {
                    for (unsigned b = 0; b < count; ++b)
                      static_cast<const Kernel*>(k)->onHost(order ? order[b] : b, threads, count);
                  });
  void* arguments[] = {const_cast<Kernel*>(&kernel)};
  cuda::launch(function, blocks, kThreads, arguments, stream);
}

template <class F>
void eachElement(const Stream& stream, Index n, const F& f) {
  constexpr Index kBlocksEach = 16; // per multiprocessor
  if (n <= 0)
    return;
  // A bounded grid: each thread loops over elements.
  const Index maxBlocks = kBlocksEach * Device::get().multiprocessors();
  launch(stream, std::min((n + kThreads - 1) / kThreads, maxBlocks), EachElement<F>{f, n});
}

template <class F>
void eachThreadBlock(const Stream& stream, Index blocks, const F& f) {
  if (blocks > 0)
    launch(stream, blocks, EachBlock<F>{f});
}

// Strips of a block: each thread handles up to four elements along one dimension, equally spaced
// over its whole extent. The thread computes offsets once per strip and overlaps the four loads.
template <class F>
struct StripWalk {
  static constexpr int kStrip = 4;
  // Offsets of a strip's first element in the two arrays, and its index in the strip dimension.
  ElementOffsets<3> offsets;
  Index from, to, fromStep, toStep, indexStep, extent;
  F f;

  TENON_DEVICE void operator()(Index i) const {
    const auto offset = offsets(i);
    const Index a = from + offset.of[0], b = to + offset.of[1], index = offset.of[2];
    if (index + (kStrip - 1) * indexStep < extent) {
      decltype(f.read(a, b)) values[kStrip];
#pragma unroll
      for (int k = 0; k < kStrip; ++k)
        values[k] = f.read(a + k * fromStep, b + k * toStep);
#pragma unroll
      for (int k = 0; k < kStrip; ++k)
        f.write(b + k * toStep, values[k]);
    } else {
#pragma unroll 1
      for (Index k = 0; index + k * indexStep < extent; ++k)
        f.write(b + k * toStep, f.read(a + k * fromStep, b + k * toStep));
    }
  }
};

// The strips of a block whose first element has the offsets `from` and `to`.
template <class F>
StripWalk<F> stripWalk(const Block& block, Index from, Index to, const F& f) {
  constexpr Index strip = StripWalk<F>::kStrip;
  const int d = stripDimension(block, strip);
  Block first = block;
  first.extent[d] = (block.extent[d] + strip - 1) / strip;
  Index indexOf[kMaxBlockRank] = {};
  indexOf[d] = 1;
  const Index indexStep = first.extent[d];
  return {{block.rank, first.extent, {block.a, block.b, indexOf}},
          from,
          to,
          indexStep * block.a[d],
          indexStep * block.b[d],
          indexStep,
          block.extent[d],
          f};
}

// Elements that write to the same address: one thread handles an element of `free` and, in order,
// all of `repeated`.
template <class F>
struct RepeatedWalk {
  ElementOffsets<2> free, repeated;
  Index from, to;
  F f;

  TENON_DEVICE void operator()(Index i) const {
    const auto offset = free(i);
    const Index at = to + offset.of[1];
    for (Index r = 0; r < repeated.count(); ++r)
      f.write(at, f.read(from + offset.of[0] + repeated(r).of[0], at));
  }
};

inline ElementOffsets<2> offsetsOf(const Block& block) {
  return {block.rank, block.extent, {block.a, block.b}};
}

template <class F>
void eachOfBlock(const Stream& stream, const Block& block, const F& f) {
  if (block.empty)
    return;
  const WriteOrder order = writeOrder(block, MayRepeat<F>);
  const ElementOffsets<2> repeated = offsetsOf(order.repeated);
  forEachSlice(order.free, sliceElements, [&](const Block& slice, Index from, Index to) {
    if (repeated.count() == 1) {
      const auto strips = stripWalk(slice, from, to, f);
      eachElement(stream, strips.offsets.count(), strips);
    } else if constexpr (MayRepeat<F>) {
      const ElementOffsets<2> free = offsetsOf(slice);
      eachElement(stream, free.count(), RepeatedWalk<F>{free, repeated, from, to, f});
    }
  });
}

} // namespace tenon::device
