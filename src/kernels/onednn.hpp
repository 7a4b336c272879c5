// SPDX-License-Identifier: BSD-2-Clause
// What the oneDNN kernels share: the CPU engine, oneDNN's exceptions as Tenon's, and ports between
// plain row-major arrays and the layout that a primitive prefers.
#pragma once

#include "kernels/context.hpp"
#include "kernels/window.hpp"
#include "sys/error.hpp"

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
  // Bytes that place() must be given; 0 where nothing is copied.
  size_t bytes() const;
  void place(void* scratch);

  // Before execution. load() also brings the array's values over; attach() is enough for an output.
  void load(const dnnl::stream& stream, const float* user);
  void attach(const dnnl::stream& stream, float* user);
  // After execution: brings an output back to the attached array.
  void store(const dnnl::stream& stream);

  const dnnl::memory& memory() const { return copies_ ? inner_ : plain_; }

private:
  bool copies_;
  dnnl::memory plain_, inner_;
  dnnl::reorder toInner_, toPlain_;
};

} // namespace tenon::onednn
