// SPDX-License-Identifier: BSD-2-Clause
// The common part of the oneDNN kernels: the CPU engine, oneDNN's exceptions as Tenon's, ports
// between plain row-major arrays and the layout that a primitive prefers, and what oneDNN 2 and 3
// write differently.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/convolution/window.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace tenon {

class KernelStream {
public:
  explicit KernelStream(dnnl::stream stream) : stream_(std::move(stream)) {}
  const dnnl::stream& oneDnn() const noexcept { return stream_; }

private:
  dnnl::stream stream_;
};

} // namespace tenon

namespace tenon::onednn {

const dnnl::engine& engine();
// The stream of a context, which all its oneDNN kernels share.
dnnl::stream streamOf(KernelContext& context);

// The row-major description of [first, second, spatial...]; with second < 0 of [first] alone.
dnnl::memory::desc plainDescription(Index first, Index second,
                                    const std::array<Index, kMaxSpatial>& spatial, int rank);

// The first `rank` extents, each minus `less`, as oneDNN counts.
dnnl::memory::dims toDims(const std::array<Index, kMaxSpatial>& extents, int rank, Index less = 0);

// The description of a primitive by its arguments; oneDNN 2 makes it of an intermediate object. The
// `hint` of an adjoint is the description of its forward primitive.
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

// Pooling of windows that may have gaps between their elements.
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

// Runs body(); a failure of oneDNN becomes TENON_ERR_LIBRARY.
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

// One operand of a primitive: a user's plain array on one side, the primitive's layout on the
// other. Where the two are the same, the primitive works on the user's array and nothing is copied.
class Port {
public:
  Port(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted);
  // The size of the memory that place() takes; 0 where nothing is copied.
  size_t bytes() const;
  void place(void* scratch);

  // One of these two comes before execution. load() also brings the array's values over; attach()
  // is enough for an output.
  void load(const dnnl::stream& stream, const float* user);
  void attach(float* user);
  // Brings an output back to the attached array after execution.
  void store(const dnnl::stream& stream);

  const dnnl::memory& memory() const { return copies_ ? inner_ : plain_; }

private:
  bool copies_;
  dnnl::memory plain_, inner_;
  dnnl::reorder toInner_, toPlain_;
};

} // namespace tenon::onednn
