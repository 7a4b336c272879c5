// SPDX-License-Identifier: BSD-2-Clause
// A primitive is made once for each function, length and thread, and kept.
#include "kernels/pointwise_onednn.hpp"

#include "kernels/onednn.hpp"

#include <map>
#include <utility>

namespace tenon {

namespace {

constexpr size_t kMostPrimitives = 64; // kept by a thread; a run uses a few shapes

struct Elementwise {
  dnnl::stream stream;
  dnnl::memory x, y;
  dnnl::eltwise_forward primitive;
};

dnnl::algorithm algorithmOf(Pointwise function) {
  switch (function) {
  case Pointwise::Relu:
    return dnnl::algorithm::eltwise_relu;
  case Pointwise::Tanh:
    return dnnl::algorithm::eltwise_tanh;
  case Pointwise::Sigmoid:
    return dnnl::algorithm::eltwise_logistic;
  }
  throw Error(TENON_ERR_INTERNAL, fmt::format("pointwise function {} unknown", int(function)));
}

Elementwise makeElementwise(Pointwise function, Index n) {
  const auto vector = onednn::plainDescription(n, -1, {}, 0);
  const dnnl::eltwise_forward::desc wanted(dnnl::prop_kind::forward_inference,
                                           algorithmOf(function), vector, 0.0f, 0.0f);
  return {dnnl::stream(onednn::engine()), dnnl::memory(vector, onednn::engine(), DNNL_MEMORY_NONE),
          dnnl::memory(vector, onednn::engine(), DNNL_MEMORY_NONE),
          dnnl::eltwise_forward({wanted, onednn::engine()})};
}

Elementwise& keptElementwise(Pointwise function, Index n) {
  thread_local std::map<std::pair<Pointwise, Index>, Elementwise> kept;
  const auto found = kept.find({function, n});
  if (found != kept.end())
    return found->second;
  if (kept.size() >= kMostPrimitives)
    kept.clear();
  return kept.emplace(std::pair(function, n), makeElementwise(function, n)).first->second;
}

} // namespace

void pointwiseForwardOneDnn(Pointwise function, Index n, const float* x, float* y) {
  if (n == 0)
    return;
  onednn::guarded("a pointwise function", [&] {
    Elementwise& e = keptElementwise(function, n);
    e.x.set_data_handle(const_cast<float*>(x), e.stream);
    e.y.set_data_handle(y, e.stream);
    e.primitive.execute(e.stream, {{DNNL_ARG_SRC, e.x}, {DNNL_ARG_DST, e.y}});
    e.stream.wait();
  });
}

} // namespace tenon
