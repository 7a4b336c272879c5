// SPDX-License-Identifier: BSD-2-Clause
// Common code of the oneDNN kernels (convolution, pooling, matrix products of float32 on the host):
// oneDNN's CPU engine, the translation of its exceptions to Tenon's errors, and the API differences
// between oneDNN 2 and 3. A Port is an operand of a primitive (an operation compiled by oneDNN): it
// converts (reorders) between a row-major array and the memory format that the primitive prefers.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/convolution/window.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace tenon {

// The stream in which a context's oneDNN primitives run. context.hpp only declares the class, so
// other code compiles without oneDNN's header.
class KernelStream {
public:
  explicit KernelStream(dnnl::stream stream) : stream_(std::move(stream)) {}
  const dnnl::stream& oneDnn() const noexcept { return stream_; }

private:
  dnnl::stream stream_;
};

} // namespace tenon

namespace tenon::onednn {

// The engine of the CPU, one per process.
const dnnl::engine& engine();
// The stream of a context, which all its oneDNN kernels share.
dnnl::stream streamOf(KernelContext& context);

// Row-major memory description of [first, second, spatial...], or of [first] if second < 0.
dnnl::memory::desc plainDescription(Index first, Index second,
                                    const std::array<Index, kMaxSpatial>& spatial, int rank);

// Weights [out, in / groups, kernel...] as oneDNN describes them: with several groups they are
// [groups, out / groups, in / groups, kernel...].
dnnl::memory::desc inGroups(const dnnl::memory::desc& weights, Index groups);

// The first `rank` extents, each minus `less`, in oneDNN's type.
dnnl::memory::dims toDims(const std::array<Index, kMaxSpatial>& extents, int rank, Index less = 0);

// Primitive descriptor from the arguments of its operation; oneDNN 2 requires an intermediate
// descriptor. The `hint` of a backward primitive is the descriptor of its forward primitive.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc described(const dnnl::primitive_attr& attributes,
                                             const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., attributes};
#else
  return {typename Primitive::desc(arguments...), attributes, engine()};
#endif
}
template <class Primitive, class Hint, class... Arguments>
typename Primitive::primitive_desc describedBeside(const Hint& hint,
                                                   const dnnl::primitive_attr& attributes,
                                                   const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., hint, attributes};
#else
  return {typename Primitive::desc(arguments...), attributes, engine(), hint};
#endif
}

// Pooling with dilation (gaps between the elements of a window).
#if DNNL_VERSION_MAJOR >= 3
using PoolingForward = dnnl::pooling_forward;
using PoolingAdjoint = dnnl::pooling_backward;
#else
using PoolingForward = dnnl::pooling_v2_forward;
using PoolingAdjoint = dnnl::pooling_v2_backward;
#endif

inline dnnl::memory::dims dimsOf(const dnnl::memory::desc& description) {
#if DNNL_VERSION_MAJOR >= 3
  return description.get_dims();
#else
  return description.dims();
#endif
}

// Runs body() and rethrows an exception of oneDNN as TENON_ERR_LIBRARY.
template <class Body>
auto guarded(const char* what, Body body) {
  try {
    return body();
  } catch (const dnnl::error& failure) {
    throw Error(TENON_ERR_LIBRARY,
                fmt::format("oneDNN failed in {}: {} (status {}); backend 'blas' "
                            "does not use oneDNN",
                            what, failure.what(), int(failure.status)));
  }
}

// One operand of a primitive: the user's row-major array on one side, the primitive's memory format
// on the other. If the two are the same, the primitive works on the user's array without a copy.
// Calls in order: setScratch() once per scratch address; before execution load() for an input or
// attach() for an output; after execution store() for an output.
class Port {
public:
  Port(const dnnl::memory::desc& plain, const dnnl::memory::desc& preferred);
  // Bytes of scratch for setScratch(); 0 if no copy is needed.
  size_t bytes() const;
  void setScratch(void* scratch);

  // load() attaches the array and reorders its values for the primitive; attach() does not copy.
  void load(const dnnl::stream& stream, const float* user);
  void attach(float* user);
  // Reorders an output into the attached array, after execution.
  void store(const dnnl::stream& stream);

  const dnnl::memory& memory() const { return copies_ ? inner_ : plain_; }

private:
  bool copies_;
  dnnl::memory plain_, inner_;
  dnnl::reorder toInner_, toPlain_;
};

} // namespace tenon::onednn
