// SPDX-License-Identifier: BSD-2-Clause
// The fake cuFFT of the stand-in for CUDA: discrete Fourier transforms of `lines` lines of `extent`
// numbers, as work of the plan's stream. With n = extent, a forward transform is the sum
//
//     y[k] = sum over j = 0 ... n-1 of x[j] exp(-2 pi i j k / n)
//
// and an inverse transform has the other sign in the exponent and is not divided by n. A transform
// from real numbers returns the modes 0 ... n/2 only, and one to real numbers reads only these.
//
// Two rules of cuFFT are made visible: before each transform the begin of the work area becomes
// NaN, because other kernels may use it in between; and a transform to real numbers leaves NaN in
// its input, which cuFFT may overwrite.
#include "standin/calls.hpp"
#include "standin/failures.hpp"
#include "standin/memory.hpp"
#include "standin/streams.hpp"

#include <cufftXt.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <numbers>
#include <vector>

namespace tenon::standin {

namespace {

using Complex = std::complex<double>;

constexpr std::size_t kWorkBytes = 4096; // of each plan's work area

struct FftPlan {
  cudaStream_t stream = nullptr;
  bool allocates = true; // cuFFT allocates the work area, unless cufftSetAutoAllocation() says no
  bool isMade = false;   // cufftMakePlanMany64() was called
  cufftType type = CUFFT_C2C;
  std::int64_t extent = 0, lines = 0;
  void* work = nullptr;

  bool isDouble() const { return type == CUFFT_D2Z || type == CUFFT_Z2D || type == CUFFT_Z2Z; }
  bool fromReal() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool toReal() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  // Modes of a line that is real on the other side.
  std::int64_t half() const { return extent / 2 + 1; }
  // Real numbers of a line of the input and of the output; a complex number counts as two.
  std::int64_t in() const { return fromReal() ? extent : 2 * (toReal() ? half() : extent); }
  std::int64_t out() const { return toReal() ? extent : 2 * (fromReal() ? half() : extent); }
};

std::map<cufftHandle, FftPlan>& plans() {
  static std::map<cufftHandle, FftPlan> all;
  return all;
}

FftPlan* planOf(cufftHandle handle) {
  const auto found = plans().find(handle);
  return found == plans().end() ? nullptr : &found->second;
}

// Transforms one line; roots[j] is exp(2 pi i j / n). For a transform to real numbers, mode n - k
// is the conjugate of mode k, and of modes 0 and n/2, which are their own conjugates, only the real
// part is read.
template <class T>
void transformLine(const FftPlan& plan, int direction, const std::vector<Complex>& roots,
                   const T* from, T* to) {
  const std::int64_t n = plan.extent, outputs = plan.fromReal() ? plan.half() : n;
  const auto input = [&](std::int64_t j) -> Complex {
    if (plan.fromReal())
      return double(from[j]);
    if (!plan.toReal())
      return {double(from[2 * j]), double(from[2 * j + 1])};
    const std::int64_t k = j < plan.half() ? j : n - j;
    const double imaginary = k == 0 || 2 * k == n ? 0 : double(from[2 * k + 1]);
    return {double(from[2 * k]), j == k ? imaginary : -imaginary};
  };
  for (std::int64_t k = 0; k < outputs; ++k) {
    Complex sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const Complex root = roots[std::size_t(j * k % n)];
      sum += input(j) * (direction == CUFFT_FORWARD ? std::conj(root) : root);
    }
    if (plan.toReal()) {
      to[k] = T(sum.real());
      continue;
    }
    to[2 * k] = T(sum.real());
    to[2 * k + 1] = T(sum.imag());
  }
}

// Transforms all lines; runs when the stream reaches this work.
template <class T>
void transform(const FftPlan& plan, int direction, T* from, T* to) {
  if (plan.work)
    std::memset(plan.work, 0xff, kWorkBytes);
  std::vector<Complex> roots;
  for (std::int64_t j = 0; j < plan.extent; ++j)
    roots.push_back(std::polar(1.0, 2 * std::numbers::pi * double(j) / double(plan.extent)));
  for (std::int64_t line = 0; line < plan.lines; ++line)
    transformLine(plan, direction, roots, from + line * plan.in(), to + line * plan.out());
  if (plan.toReal())
    std::fill_n(from, plan.lines * plan.in(), T(NAN));
}

template <class T>
cufftResult run(const FftPlan& plan, int direction, void* from, void* to) {
  const auto check = [&](const void* array, std::int64_t numbers) {
    DeviceMemory::get().checkRange(array, std::size_t(numbers) * sizeof(T), "an array of cuFFT");
    return reinterpret_cast<std::uintptr_t>(array) % (2 * sizeof(T)) == 0;
  };
  const bool isAligned = check(from, plan.lines * plan.in()) && check(to, plan.lines * plan.out());
  if (!isAligned)
    return CUFFT_UNALIGNED_DATA;
  CUstream_st* const stream = streamHere(plan.stream, "cufftXtExec");
  if (!stream || isToFail("cufftXtExec"))
    return CUFFT_EXEC_FAILED;
  ++calls().libraries;
  // The plan is copied: the program may change or destroy it before the work runs.
  enqueue(*stream,
          [=] { transform<T>(plan, direction, static_cast<T*>(from), static_cast<T*>(to)); });
  return CUFFT_SUCCESS;
}

} // namespace

} // namespace tenon::standin

using namespace tenon::standin;

extern "C" {

// Handles are not used again, so a call with a destroyed plan is an error.
cufftResult cufftCreate(cufftHandle* handle) {
  const Call call;
  static cufftHandle next = 0;
  plans()[*handle = next++];
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
  const Call call;
  return plans().erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates) {
  const Call call;
  FftPlan* plan = planOf(handle);
  if (!plan || plan->isMade)
    return CUFFT_INVALID_PLAN;
  plan->allocates = allocates != 0;
  return CUFFT_SUCCESS;
}

// Supports transforms of one dimension, of lines that are stored one after the other.
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long int* n,
                                long long int* inembed, long long int, long long int,
                                long long int* onembed, long long int, long long int,
                                cufftType type, long long int lines, size_t* workBytes) {
  const Call call;
  FftPlan* plan = planOf(handle);
  if (!plan || plan->isMade)
    return CUFFT_INVALID_PLAN;
  if (rank != 1 || inembed || onembed)
    return CUFFT_NOT_IMPLEMENTED;
  if (*n < 1 || lines < 1)
    return CUFFT_INVALID_SIZE;
  if (isToFail(__func__))
    return CUFFT_INTERNAL_ERROR;
  if (!hasRoomForLibraries())
    return CUFFT_ALLOC_FAILED;
  plan->isMade = true;
  plan->type = type;
  plan->extent = *n;
  plan->lines = lines;
  *workBytes = kWorkBytes;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  const Call call;
  FftPlan* plan = planOf(handle);
  if (!plan)
    return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* work) {
  const Call call;
  FftPlan* plan = planOf(handle);
  if (!plan || !plan->isMade)
    return CUFFT_INVALID_PLAN;
  DeviceMemory::get().checkRange(work, kWorkBytes, "the work area of cuFFT");
  plan->work = work;
  return CUFFT_SUCCESS;
}

cufftResult cufftXtExec(cufftHandle handle, void* from, void* to, int direction) {
  const Call call;
  const FftPlan* plan = planOf(handle);
  if (!plan || !plan->isMade)
    return CUFFT_INVALID_PLAN;
  if (!plan->allocates && !plan->work)
    return CUFFT_NO_WORKSPACE;
  return plan->isDouble() ? run<double>(*plan, direction, from, to)
                          : run<float>(*plan, direction, from, to);
}

} // extern "C"
