// SPDX-License-Identifier: BSD-2-Clause
// One-dimensional transforms by FFTW, or a library with its interface: the stages
// (fourier/stage.hpp) of a truncated Fourier transform on the host. Lines are first copied to
// scratch memory, and results back, for three reasons: a rank can have a part of the elements of a
// line, only some modes are stored, and an FFTW plan is valid for one alignment of the arrays.
// Plans are made with FFTW_ESTIMATE instead of measurements, so every run uses the same arithmetic.
#include "kernels/fourier/stage.hpp"

#include "sys/errors/error.hpp"

#include <algorithm>

#ifdef TENON_HAS_FFTW
#include <fftw3.h>

#include <mutex>
#endif

namespace tenon {

#ifdef TENON_HAS_FFTW

namespace {

// The types and functions of FFTW for T, which have different names for float and double.
template <class T>
struct Fftw;
#define TENON_FFTW(T, FFTW)                                                                        \
  template <>                                                                                      \
  struct Fftw<T> {                                                                                 \
    using Plan = FFTW(plan);                                                                       \
    using Complex = FFTW(complex);                                                                 \
    using Dim = FFTW(iodim64);                                                                     \
    static constexpr auto complexPlan = &FFTW(plan_guru64_dft);                                    \
    static constexpr auto analysisPlan = &FFTW(plan_guru64_dft_r2c);                               \
    static constexpr auto synthesisPlan = &FFTW(plan_guru64_dft_c2r);                              \
    static constexpr auto transform = &FFTW(execute_dft);                                          \
    static constexpr auto analyse = &FFTW(execute_dft_r2c);                                        \
    static constexpr auto synthesise = &FFTW(execute_dft_c2r);                                     \
    static constexpr auto destroy = &FFTW(destroy_plan);                                           \
  };
TENON_FFTW(float, FFTW_MANGLE_FLOAT)
TENON_FFTW(double, FFTW_MANGLE_DOUBLE)
#undef TENON_FFTW

// FFTW's planner has global state, so creation and destruction of plans are locked. Execution needs
// no lock.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

// The (real, imaginary) pairs as FFTW's type.
template <class T>
auto pairs(T* x) {
  return reinterpret_cast<typename Fftw<T>::Complex*>(x);
}

// A plan for arrays of `from` and `to` elements with the alignment of scratch memory. Planning can
// overwrite its arrays, so it uses temporary ones.
template <class T>
class FftwPlan {
public:
  template <class Make>
  // make(x, y) creates the plan.
  FftwPlan(Index from, Index to, const Make& make) {
    Buffer x = Buffer::of<T>(from, "plan of a transform"), y = Buffer::of<T>(to, "the same");
    const std::lock_guard lock(planner());
    plan_ = make(x.data<T>(), y.data<T>());
    if (!plan_)
      throw Error(TENON_ERR_LIBRARY,
                  "FFTW made no plan for a transform; backend 'blas' does without it");
  }
  ~FftwPlan() {
    const std::lock_guard lock(planner());
    Fftw<T>::destroy(plan_);
  }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  typename Fftw<T>::Plan get() const noexcept { return plan_; }

private:
  typename Fftw<T>::Plan plan_;
};

constexpr unsigned kPlanFlags = FFTW_ESTIMATE | FFTW_DESTROY_INPUT;
// Work of a transform per element, for parallelPieces(): a few additions per halving of the line.
constexpr Index kWorkPerElement = 8;

// Plans for `lines` contiguous lines of real elements, and their complex pairs. A line of N
// elements has N/2 + 1 modes, which are at most N + 2 numbers.
template <class T>
struct RealPlans {
  RealPlans(Index extent, Index lines)
      // FFTW describes a dimension by {extent, input stride, output stride}.
      : line{extent, 1, 1}, elementLines{lines, extent, extent / 2 + 1}, pairLines{lines,
                                                                                   extent / 2 + 1,
                                                                                   extent},
        analysis(lines * extent, lines * (extent + 2),
                 [&](T* x, T* y) {
                   return Fftw<T>::analysisPlan(1, &line, 1, &elementLines, x, pairs(y),
                                                kPlanFlags);
                 }),
        synthesis(lines * (extent + 2), lines * extent, [&](T* x, T* y) {
          return Fftw<T>::synthesisPlan(1, &line, 1, &pairLines, pairs(x), y, kPlanFlags);
        }) {}

  typename Fftw<T>::Dim line, elementLines, pairLines;
  FftwPlan<T> analysis, synthesis;
};

// The last dimension, in blocks of lines that fit the first-level cache.
template <class T>
class FftwRealStage final : public FourierStage<T> {
public:
  FftwRealStage(KernelContext& context, const FourierStageShape& shape, ScratchPlan& plan)
      : context_(context), dim_(shape.dim), half_(dim_.extent / 2 + 1),
        block_(std::clamp<Index>(kBlock / dim_.extent, 1, std::max<Index>(shape.outer, 1))),
        elements_(plan.addForThreads<T>(context.threads(), block_ * dim_.extent)),
        pairs_(plan.addForThreads<T>(context.threads(), 2 * block_ * half_)),
        blocks_(dim_.extent, block_), single_(dim_.extent, 1) {}

  void analyse(Index outer, const T* x, T* y) override {
    eachBlock(outer, [=, this](T* elements, T* allModes, Index first, Index lines) {
      if (dim_.count < dim_.extent)
        std::fill_n(elements, lines * dim_.extent, T(0));
      for (Index i = 0; i < lines; ++i)
        std::copy_n(x + (first + i) * dim_.count, dim_.count,
                    elements + i * dim_.extent + dim_.begin);
      Fftw<T>::analyse(plansFor(lines).analysis.get(), elements, pairs(allModes));
      for (Index i = 0; i < lines; ++i)
        std::copy_n(allModes + 2 * i * half_, 2 * dim_.modes, y + 2 * (first + i) * dim_.modes);
    });
  }

  // The adjoint of the transform from reals to modes k >= 0 adds each mode once. FFTW's transform
  // to reals adds also the mirror image -k of each mode, except for k = 0 and N/2, which are their
  // own image. Modes with an image are therefore multiplied by 1/2 first.
  void adjoint(Index outer, const T* y, T* x) override {
    eachBlock(outer, [=, this](T* elements, T* allModes, Index first, Index lines) {
      const Index stored = 2 * dim_.modes;
      for (Index i = 0; i < lines; ++i) {
        const T* from = y + (first + i) * stored;
        T* to = allModes + 2 * i * half_;
        for (Index k = 0; k < stored; ++k)
          to[k] = from[k] / 2;
        to[0] = from[0];               // the real part of mode 0; the imaginary one is irrelevant
        if (stored - 2 == dim_.extent) // mode N/2, the numbers N and N + 1, is stored too
          to[dim_.extent] = from[dim_.extent];
        std::fill(to + stored, to + 2 * half_, T(0));
      }
      Fftw<T>::synthesise(plansFor(lines).synthesis.get(), pairs(allModes), elements);
      for (Index i = 0; i < lines; ++i)
        std::copy_n(elements + i * dim_.extent + dim_.begin, dim_.count,
                    x + (first + i) * dim_.count);
    });
  }
  const char* method() const noexcept override { return "FFTW"; }

private:
  static constexpr Index kBlock = 2048; // elements per block: 16 KiB of float64

  // One plan for blocks, and one for single lines, which remain after the last full block.
  const RealPlans<T>& plansFor(Index lines) const { return lines == block_ ? blocks_ : single_; }
  // Calls body(elements, pairs, first line, number of lines) for full blocks, and for each
  // remaining line.
  template <class Body>
  void eachBlock(Index outer, const Body& body) {
    const Index blocks = outer / block_;
    parallelPieces(
        context_.threads(elements_), blocks + outer % block_,
        kWorkPerElement * block_ * dim_.extent, [=, this](int thread, Index begin, Index end) {
          T *elements = context_.template scratch<T>(elements_, thread),
            *allModes = context_.template scratch<T>(pairs_, thread);
          for (Index i = begin; i < end; ++i)
            body(elements, allModes, i < blocks ? i * block_ : blocks * block_ + i - blocks,
                 i < blocks ? block_ : 1);
        });
  }

  KernelContext& context_;
  FourierDim dim_;
  Index half_;  // number of modes k >= 0 of a line
  Index block_; // lines per block
  ThreadScratch elements_, pairs_;
  RealPlans<T> blocks_, single_;
};

// The other dimensions: one plan transforms all pairs of an outer index. x has the elements [count,
// inner] that this rank owns, which are copied to [extent, inner] with zeros for those of other
// ranks. y has the modes 0 .. m-1, then -m .. -1: the first and the last m of FFTW's result. For
// N = 8 and m = 2 these are its positions 0, 1 and 6, 7.
template <class T>
class FftwComplexStage final : public FourierStage<T> {
public:
  FftwComplexStage(KernelContext& context, const FourierStageShape& shape, ScratchPlan& plan)
      : context_(context), dim_(shape.dim), width_(2 * shape.inner),
        from_(plan.addForThreads<T>(context.threads(), dim_.extent * width_)),
        to_(plan.addForThreads<T>(context.threads(), dim_.extent * width_)),
        line_{dim_.extent, shape.inner, shape.inner}, lines_{shape.inner, 1, 1},
        forward_(planned(FFTW_FORWARD)), backward_(planned(FFTW_BACKWARD)) {}

  void analyse(Index outer, const T* x, T* y) override {
    // Numbers of the modes k >= 0, and the offset of the modes k < 0.
    const Index low = dim_.modes * width_, high = (dim_.extent - dim_.modes) * width_;
    eachOuter(outer, [=, this](T* from, T* to, Index o) {
      const Index elements = dim_.count * width_;
      if (dim_.count < dim_.extent)
        std::fill_n(from, dim_.extent * width_, T(0));
      std::copy_n(x + o * elements, elements, from + dim_.begin * width_);
      Fftw<T>::transform(forward_.get(), pairs(from), pairs(to));
      std::copy_n(to, low, y + 2 * o * low);
      std::copy_n(to + high, low, y + (2 * o + 1) * low);
    });
  }
  void adjoint(Index outer, const T* y, T* x) override {
    const Index low = dim_.modes * width_, high = (dim_.extent - dim_.modes) * width_;
    eachOuter(outer, [=, this](T* from, T* to, Index o) {
      std::copy_n(y + 2 * o * low, low, from);
      std::fill(from + low, from + high, T(0));
      std::copy_n(y + (2 * o + 1) * low, low, from + high);
      Fftw<T>::transform(backward_.get(), pairs(from), pairs(to));
      const Index elements = dim_.count * width_;
      std::copy_n(to + dim_.begin * width_, elements, x + o * elements);
    });
  }
  const char* method() const noexcept override { return "FFTW"; }

private:
  FftwPlan<T> planned(int sign) const {
    const Index size = dim_.extent * width_;
    return FftwPlan<T>(size, size, [&](T* x, T* y) {
      return Fftw<T>::complexPlan(1, &line_, 1, &lines_, pairs(x), pairs(y), sign, kPlanFlags);
    });
  }
  // Calls body(from, to, o), where both arrays are [extent, inner] pairs.
  template <class Body>
  void eachOuter(Index outer, const Body& body) {
    parallelPieces(context_.threads(from_), outer, kWorkPerElement * dim_.extent * width_,
                   [=, this](int thread, Index begin, Index end) {
                     for (Index o = begin; o < end; ++o)
                       body(context_.template scratch<T>(from_, thread),
                            context_.template scratch<T>(to_, thread), o);
                   });
  }

  KernelContext& context_;
  FourierDim dim_;
  Index width_; // numbers per index of the dimension: inner pairs
  ThreadScratch from_, to_;
  typename Fftw<T>::Dim line_, lines_;
  FftwPlan<T> forward_, backward_;
};

} // namespace

bool hasFftw() noexcept {
  return true;
}

template <class T>
std::unique_ptr<FourierStage<T>> makeFftwStage(KernelContext& context,
                                               const FourierStageShape& shape, ScratchPlan& plan) {
  if (shape.isReal)
    return std::make_unique<FftwRealStage<T>>(context, shape, plan);
  return std::make_unique<FftwComplexStage<T>>(context, shape, plan);
}

#else

bool hasFftw() noexcept {
  return false;
}

template <class T>
std::unique_ptr<FourierStage<T>> makeFftwStage(KernelContext&, const FourierStageShape&,
                                               ScratchPlan&) {
  throw Error(TENON_ERR_SUPPORT, "this build has no FFTW");
}

#endif

template std::unique_ptr<FourierStage<float>> makeFftwStage(KernelContext&,
                                                            const FourierStageShape&, ScratchPlan&);
template std::unique_ptr<FourierStage<double>>
makeFftwStage(KernelContext&, const FourierStageShape&, ScratchPlan&);

} // namespace tenon
