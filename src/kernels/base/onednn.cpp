// SPDX-License-Identifier: BSD-2-Clause
// Common code of the oneDNN kernels: one engine, streams, and the reorders around primitives. The
// differences between oneDNN 2 and 3 are confined to onednn.hpp and this file; a build without
// oneDNN compiles onednn_missing.cpp instead.
#include "kernels/base/onednn.hpp"

#include "kernels/base/backend.hpp"
#include "kernels/base/library_info.hpp"
#include "kernels/products/gemm.hpp"

namespace tenon {

bool hasOneDnn() noexcept {
  return true;
}

std::string oneDnnVersion() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

void gemmOneDnn(const Product<float>& p) {
  const dnnl_status_t status = dnnl_sgemm(p.transA ? 'T' : 'N', p.transB ? 'T' : 'N', p.m, p.n, p.k,
                                          p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  if (status != dnnl_success)
    throw Error(TENON_ERR_LIBRARY,
                fmt::format("dnnl_sgemm with m = {}, n = {}, k = {} returned status {}", p.m, p.n,
                            p.k, int(status)));
}

} // namespace tenon

namespace tenon::onednn {

using dnnl::memory;

namespace {

// oneDNN caches the code of the last 1024 primitives, tens of KiB each, even if they are no longer
// used. Layers hold their own primitives, so a cache of 128 is enough for a program with layers of
// many shapes. A capacity set by the user is not changed.
dnnl::engine makeEngine() {
  constexpr int kDefaultCapacity = 1024, kCapacity = 128;
  if (dnnl::get_primitive_cache_capacity() == kDefaultCapacity)
    dnnl::set_primitive_cache_capacity(kCapacity);
  return {dnnl::engine::kind::cpu, /*index=*/0};
}

} // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu = makeEngine();
  return cpu;
}

dnnl::stream streamOf(KernelContext& context) {
  if (!context.oneDnn())
    context.oneDnn() = std::make_shared<KernelStream>(dnnl::stream(engine()));
  return context.oneDnn()->oneDnn();
}

memory::dims toDims(const std::array<Index, kMaxSpatial>& extents, int rank, Index less) {
  memory::dims dims;
  for (int d = 0; d < rank; ++d)
    dims.push_back(extents[d] - less);
  return dims;
}

memory::desc plainDescription(Index first, Index second,
                              const std::array<Index, kMaxSpatial>& spatial, int rank) {
  memory::dims dims{first};
  if (second >= 0) {
    dims.push_back(second);
    for (int d = 0; d < rank; ++d)
      dims.push_back(spatial[d]);
  }
  memory::dims strides(dims.size(), 1); // row-major
  for (size_t d = dims.size() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * dims[d];
  return {dims, memory::data_type::f32, strides};
}

memory::desc inGroups(const memory::desc& weights, Index groups) {
  if (groups == 1)
    return weights;
  memory::dims dims = dimsOf(weights);
  dims[0] /= groups;
  dims.insert(dims.begin(), groups);
  return weights.reshape(dims);
}

// Reorders are created only if the primitive prefers a format other than row-major.
Port::Port(const memory::desc& plain, const memory::desc& preferred)
    : copies_(plain != preferred), plain_(plain, engine(), DNNL_MEMORY_NONE) {
  if (!copies_)
    return;
  inner_ = dnnl::memory(preferred, engine(), DNNL_MEMORY_NONE);
  toInner_ = dnnl::reorder(plain_, inner_);
  toPlain_ = dnnl::reorder(inner_, plain_);
}

size_t Port::bytes() const {
  return copies_ ? inner_.get_desc().get_size() : 0;
}

void Port::setScratch(void* scratch) {
  if (copies_)
    inner_.set_data_handle(scratch);
}

void Port::load(const dnnl::stream& stream, const float* user) {
  attach(const_cast<float*>(user));
  if (copies_)
    toInner_.execute(stream, plain_, inner_);
}

void Port::attach(float* user) {
  plain_.set_data_handle(user);
}

void Port::store(const dnnl::stream& stream) {
  if (copies_)
    toPlain_.execute(stream, inner_, plain_);
}

} // namespace tenon::onednn
