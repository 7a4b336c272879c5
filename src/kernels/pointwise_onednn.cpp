// SPDX-License-Identifier: BSD-2-Clause
// A primitive is made once for each function, direction, length and thread, and kept.
#include "kernels/pointwise_onednn.hpp"

#include "kernels/onednn.hpp"

#include <map>
#include <tuple>

namespace tenon {

namespace {

using dnnl::algorithm;
using dnnl::memory;

constexpr size_t kMostPrimitives = 64; // kept by a thread; a run uses a few shapes
constexpr float kAlpha = 1;            // of swish: x s(alpha x)

struct Elementwise {
  dnnl::stream stream;
  memory x, in, out; // `in` is the cotangent, of a derivative only
  dnnl::primitive primitive;
};

// Undefined for a function that oneDNN has not.
algorithm algorithmOf(Pointwise function) {
  switch (function) {
  case Pointwise::Tanh:
    return algorithm::eltwise_tanh;
  case Pointwise::Sigmoid:
    return algorithm::eltwise_logistic;
  case Pointwise::Gelu:
    return algorithm::eltwise_gelu_erf;
  case Pointwise::GeluTanh:
    return algorithm::eltwise_gelu_tanh;
  case Pointwise::Silu:
    return algorithm::eltwise_swish;
  case Pointwise::Softplus:
    return algorithm::eltwise_soft_relu;
  default:
    return algorithm::undef;
  }
}

Elementwise makeElementwise(Pointwise function, bool derivative, Index n) {
  const auto vector = onednn::plainDescription(n, -1, {}, 0);
  const auto array = [&] { return memory(vector, onednn::engine(), DNNL_MEMORY_NONE); };
  const algorithm which = algorithmOf(function);
  const auto kind =
      derivative ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const dnnl::eltwise_forward::primitive_desc forward({kind, which, vector, kAlpha, 0.0f},
                                                      onednn::engine());
  Elementwise made{dnnl::stream(onednn::engine()), array(), array(), array(), {}};
  if (derivative)
    made.primitive =
        dnnl::eltwise_backward({{which, vector, vector, kAlpha, 0.0f}, onednn::engine(), forward});
  else
    made.primitive = dnnl::eltwise_forward(forward);
  return made;
}

Elementwise& keptElementwise(Pointwise function, bool derivative, Index n) {
  thread_local std::map<std::tuple<Pointwise, bool, Index>, Elementwise> kept;
  const std::tuple key(function, derivative, n);
  const auto found = kept.find(key);
  if (found != kept.end())
    return found->second;
  if (kept.size() >= kMostPrimitives)
    kept.clear();
  return kept.emplace(key, makeElementwise(function, derivative, n)).first->second;
}

} // namespace

bool oneDnnEvaluates(Pointwise function) {
  return algorithmOf(function) != algorithm::undef;
}

bool oneDnnDifferentiates(Pointwise function) {
  return oneDnnEvaluates(function) && pointwiseReads(function).x;
}

void pointwiseForwardOneDnn(Pointwise function, Index n, const float* x, float* y) {
  if (n == 0)
    return;
  onednn::guarded("a pointwise function", [&] {
    Elementwise& e = keptElementwise(function, false, n);
    e.x.set_data_handle(const_cast<float*>(x), e.stream);
    e.out.set_data_handle(y, e.stream);
    e.primitive.execute(e.stream, {{DNNL_ARG_SRC, e.x}, {DNNL_ARG_DST, e.out}});
    e.stream.wait();
  });
}

void pointwiseDerivativeOneDnn(Pointwise function, Index n, const float* x, const float* v,
                               float* r) {
  if (n == 0)
    return;
  onednn::guarded("the derivative of a pointwise function", [&] {
    Elementwise& e = keptElementwise(function, true, n);
    e.x.set_data_handle(const_cast<float*>(x), e.stream);
    e.in.set_data_handle(const_cast<float*>(v), e.stream);
    e.out.set_data_handle(r, e.stream);
    e.primitive.execute(
        e.stream, {{DNNL_ARG_SRC, e.x}, {DNNL_ARG_DIFF_DST, e.in}, {DNNL_ARG_DIFF_SRC, e.out}});
    e.stream.wait();
  });
}

} // namespace tenon
