// SPDX-License-Identifier: BSD-2-Clause
// One-dimensional transforms by cuFFT: the stages (fourier/stage.hpp) of a truncated Fourier
// transform on the device. A line is the elements along the transformed dimension. Lines are packed
// into scratch memory first, for three reasons: a rank can have a part of the elements of a line,
// only some modes are stored, and the elements of a line need not be contiguous. cuFFT plans are
// created together with the object, and their work areas are in the scratch memory of the context.
#include "kernels/cuda/handles.hpp"
#include "kernels/fourier/stage.hpp"
#include "kernels/functors/fourier.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/element_offsets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tenon {

namespace {

void checkFft(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS)
    throw Error(status == CUFFT_ALLOC_FAILED ? TENON_ERR_MEMORY : TENON_ERR_LIBRARY,
                fmt::format("cuFFT failed in {} (status {}); backend 'gemm' does without it", call,
                            int(status)));
}

// A plan for contiguous lines. Each run passes its work area, scratch of the context.
class CufftPlan {
public:
  CufftPlan(cufftType type, Index extent, Index lines, const Stream& stream) {
    // The library reports some allocation failures under other codes.
    const auto isOut = [](cufftResult status) {
      return status == CUFFT_ALLOC_FAILED || status == CUFFT_INTERNAL_ERROR ||
             status == CUFFT_SETUP_FAILED;
    };
    try {
      checkFft(cuda::retryOutOfMemory(stream, isOut, [&] { return make(type, extent, lines); }),
               lastCall_);
      checkFft(cuda::fft().cufftSetStream(plan_, static_cast<cudaStream_t>(stream.handle())),
               "cufftSetStream");
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~CufftPlan() { destroy(); }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  Index workBytes() const noexcept { return static_cast<Index>(workBytes_); }
  // Can overwrite the values in `from`.
  void run(void* from, void* to, int direction, void* work) const {
    checkFft(cuda::fft().cufftSetWorkArea(plan_, work), "cufftSetWorkArea");
    checkFft(cuda::fft().cufftXtExec(plan_, from, to, direction), "cufftXtExec");
  }

private:
  // Creates the plan again from the start at each attempt: a failed plan cannot be reused.
  cufftResult make(cufftType type, Index extent, Index lines) {
    const cuda::FftTable& library = cuda::fft();
    destroy();
    lastCall_ = "cufftCreate";
    cufftResult status = library.cufftCreate(&plan_);
    if (status != CUFFT_SUCCESS)
      return status;
    isMade_ = true;
    lastCall_ = "cufftSetAutoAllocation";
    status = library.cufftSetAutoAllocation(plan_, 0);
    if (status != CUFFT_SUCCESS)
      return status;
    lastCall_ = "cufftMakePlanMany64";
    long long n = extent;
    return library.cufftMakePlanMany64(plan_, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type, lines,
                                       &workBytes_);
  }
  void destroy() {
    if (std::exchange(isMade_, false))
      cuda::fft().cufftDestroy(plan_);
  }

  cufftHandle plan_ = CUFFT_PLAN_NULL;
  bool isMade_ = false;
  const char* lastCall_ = ""; // name of the last call, for the error text
  std::size_t workBytes_ = 0;
};

// W is the number of components of an element: 1 for reals (the last dimension), 2 for complex
// pairs.
template <class T, int W>
class CufftStage final : public FourierStage<T> {
public:
  // Both lines are {extent, first, count, atEnd} (PackedLine). With m stored modes, a line of
  // complex elements keeps the modes 0 ... m-1 and -m ... -1; one of real elements keeps 0 ... m-1,
  // since its other modes are their conjugates.
  CufftStage(KernelContext& context, const FourierStageShape& shape, ScratchPlan& plan)
      : context_(context),
        shape_(shape), elements_{shape.dim.extent, shape.dim.begin, shape.dim.count, 0},
        modes_{kIsReal ? shape.dim.extent / 2 + 1 : shape.dim.extent, 0, shape.dim.modes,
               kIsReal ? 0 : shape.dim.modes},
        block_(std::clamp<Index>(kBlock / (shape.inner * modes_.extent), 1,
                                 std::max<Index>(shape.outer, 1))),
        analysis_(kIsReal ? (kIsDouble ? CUFFT_D2Z : CUFFT_R2C) : kComplex, shape.dim.extent,
                  block_ * shape.inner, context.stream()),
        elementLines_(plan.add<T>(W * block_ * shape.inner * elements_.extent)),
        modeLines_(plan.add<T>(2 * block_ * shape.inner * modes_.extent)) {
    // The functors that copy the lines of a block compute their indices in 32 bits.
    checkElementCount(block_ * shape.inner * elements_.extent, "a Fourier transform");
    if constexpr (kIsReal)
      synthesis_.emplace(kIsDouble ? CUFFT_Z2D : CUFFT_C2R, shape.dim.extent, block_ * shape.inner,
                         context.stream());
    work_ = plan.add<std::byte>(std::max(analysis_.workBytes(), synthesis().workBytes()));
  }

  void analyse(Index outer, const T* x, T* y) override {
    eachBlock(outer, [=, this](Index first, Index lines, T* elements, T* modes, void* work) {
      intoLines<W>(lines, elements_, x + first * W * elements_.packed(), elements);
      analysis_.run(elements, modes, CUFFT_FORWARD, work);
      fromLines<2>(lines, modes_, modes, y + first * 2 * modes_.packed());
    });
  }
  void adjoint(Index outer, const T* y, T* x) override {
    eachBlock(outer, [=, this](Index first, Index lines, T* elements, T* modes, void* work) {
      const T* from = y + first * 2 * modes_.packed();
      // cuFFT's inverse to reals adds to each mode k its mirror image, mode -k. The adjoint has the
      // stored mode once only, so modes other than 0 and n/2, which have no image, are halved.
      if constexpr (kIsReal)
        walk(lines * modes_.extent,
             functors::HalvedLines<T>{{modes_, shape_.inner, from, modes}, shape_.dim.extent});
      else
        intoLines<2>(lines, modes_, from, modes);
      synthesis().run(modes, elements, CUFFT_INVERSE, work);
      fromLines<W>(lines, elements_, elements, x + first * W * elements_.packed());
    });
  }
  const char* method() const noexcept override { return "cuFFT"; }

private:
  static constexpr bool kIsReal = W == 1, kIsDouble = std::is_same_v<T, double>;
  static constexpr cufftType kComplex = kIsDouble ? CUFFT_Z2Z : CUFFT_C2C;
  // Pairs of a block, 16 MiB of float64. Blocks bound the scratch memory, which otherwise would be
  // as large as the whole array.
  static constexpr Index kBlock = Index(1) << 20;

  const CufftPlan& synthesis() const { return synthesis_ ? *synthesis_ : analysis_; }

  template <class F>
  void walk(Index n, const F& f) {
    device::eachElement(context_.stream(), n, f);
  }
  // Copy the stored elements or modes to whole lines, and back (functors/fourier.hpp).
  template <int Width>
  void intoLines(Index lines, const functors::PackedLine& line, const T* from, T* to) {
    walk(lines * line.extent, functors::ToLines<T, Width>(line, shape_.inner, from, to));
  }
  template <int Width>
  void fromLines(Index lines, const functors::PackedLine& line, const T* from, T* to) {
    walk(lines * line.packed(), functors::FromLines<T, Width>(line, shape_.inner, from, to));
  }

  // Calls body(first line, number of lines, scratch...) for blocks of outer indices. The plan
  // always transforms a full block, with arbitrary values after the last line.
  template <class Body>
  void eachBlock(Index outer, const Body& body) {
    for (Index begin = 0; begin < outer; begin += block_)
      body(begin * shape_.inner, std::min(block_, outer - begin) * shape_.inner,
           context_.template scratch<T>(elementLines_), context_.template scratch<T>(modeLines_),
           context_.template scratch<std::byte>(work_));
  }

  KernelContext& context_;
  FourierStageShape shape_;
  functors::PackedLine elements_, modes_; // the stored positions of a line of elements and of modes
  Index block_;                           // number of outer indices per block
  CufftPlan analysis_;
  // Only for real elements; complex ones use one plan in both directions.
  std::optional<CufftPlan> synthesis_;
  Index elementLines_, modeLines_, work_ = 0; // offsets in the scratch
};

} // namespace

template <class T>
std::unique_ptr<FourierStage<T>> makeCufftStage(KernelContext& context,
                                                const FourierStageShape& shape, ScratchPlan& plan) {
  if (shape.isReal)
    return std::make_unique<CufftStage<T, 1>>(context, shape, plan);
  return std::make_unique<CufftStage<T, 2>>(context, shape, plan);
}

template std::unique_ptr<FourierStage<float>>
makeCufftStage(KernelContext&, const FourierStageShape&, ScratchPlan&);
template std::unique_ptr<FourierStage<double>>
makeCufftStage(KernelContext&, const FourierStageShape&, ScratchPlan&);

} // namespace tenon
