// SPDX-License-Identifier: BSD-2-Clause
// The peers of the benchmark layer_step (onednn_peer.hpp): a convolution, a pooling and an affine
// layer written with oneDNN alone. Each constructor makes oneDNN's primitives once, for the forward
// pass and the adjoints in data and parameters; step() runs them. oneDNN chooses the memory format
// of its operands (any()); if it differs from the plain row-major array, a reorder copies before or
// after the primitive.
#include "bench/onednn_peer.hpp"

#include "kernels/base/onednn.hpp"

namespace tenon::bench {

namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using onednn::described;
using onednn::describedBeside;
using Desc = memory::desc;

const dnnl::primitive_attr usual; // no special attributes

// The description of a row-major array.
Desc plain(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t d = dims.size() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * dims[d];
  return {dims, memory::data_type::f32, strides};
}

// The same shape in any format, which oneDNN chooses.
Desc any(const Desc& desc) {
  return {onednn::dimsOf(desc), memory::data_type::f32, memory::format_tag::any};
}

} // namespace

const dnnl::engine& Peer::engine() {
  return onednn::engine();
}

// `plain` describes the user's array, `wanted` the operand of the primitive.
void PeerProduct::input(int argument, const Desc& wanted, const Desc& plain,
                        const std::vector<float>& array) {
  const memory user(plain, Peer::engine(), const_cast<float*>(array.data()));
  arguments_[argument] = user;
  if (wanted == plain)
    return;
  const memory inner(wanted, Peer::engine());
  arguments_[argument] = inner;
  before_.push_back({dnnl::reorder(user, inner), user, inner});
}

void PeerProduct::output(int argument, const Desc& wanted, const Desc& plain,
                         std::vector<float>& array) {
  const memory user(plain, Peer::engine(), array.data());
  arguments_[argument] = user;
  if (wanted == plain)
    return;
  const memory inner(wanted, Peer::engine());
  arguments_[argument] = inner;
  after_.push_back({dnnl::reorder(inner, user), inner, user});
}

void PeerProduct::run(dnnl::stream& stream) {
  for (Copy& copy : before_)
    copy.reorder.execute(stream, copy.from, copy.to);
  primitive_.execute(stream, arguments_);
  for (Copy& copy : after_)
    copy.reorder.execute(stream, copy.from, copy.to);
}

void Peer::step() {
  for (PeerProduct& product : products_)
    product.run(stream_);
  stream_.wait();
}

PeerConvolution::PeerConvolution(const ConvolutionCase& c, StepArrays& a) {
  const int height = c.height + 2 * c.padding - c.kernel + 1;
  const int width = c.width + 2 * c.padding - c.kernel + 1;
  const Desc x = plain({c.batch, c.in, c.height, c.width}), b = plain({c.out});
  const Desc w = plain({c.out, c.in, c.kernel, c.kernel});
  const Desc y = plain({c.batch, c.out, height, width});
  const memory::dims stride{1, 1}, pad{c.padding, c.padding};
  const auto direct = algorithm::convolution_direct;
  const auto forward = described<dnnl::convolution_forward>(
      usual, prop_kind::forward_training, direct, any(x), any(w), b, any(y), stride, pad, pad);
  const auto data = describedBeside<dnnl::convolution_backward_data>(
      forward, usual, direct, any(x), any(w), any(y), stride, pad, pad);
  const auto weights = describedBeside<dnnl::convolution_backward_weights>(
      forward, usual, direct, any(x), any(w), b, any(y), stride, pad, pad);
  PeerProduct& f = products_.emplace_back(dnnl::convolution_forward(forward));
  f.input(DNNL_ARG_SRC, forward.src_desc(), x, a.x);
  f.input(DNNL_ARG_WEIGHTS, forward.weights_desc(), w, a.w);
  f.input(DNNL_ARG_BIAS, b, b, a.b);
  f.output(DNNL_ARG_DST, forward.dst_desc(), y, a.y);
  PeerProduct& d = products_.emplace_back(dnnl::convolution_backward_data(data));
  d.input(DNNL_ARG_DIFF_DST, data.diff_dst_desc(), y, a.dy);
  d.input(DNNL_ARG_WEIGHTS, data.weights_desc(), w, a.w);
  d.output(DNNL_ARG_DIFF_SRC, data.diff_src_desc(), x, a.dx);
  PeerProduct& g = products_.emplace_back(dnnl::convolution_backward_weights(weights));
  g.input(DNNL_ARG_SRC, weights.src_desc(), x, a.x);
  g.input(DNNL_ARG_DIFF_DST, weights.diff_dst_desc(), y, a.dy);
  g.output(DNNL_ARG_DIFF_WEIGHTS, weights.diff_weights_desc(), w, a.dw);
  g.output(DNNL_ARG_DIFF_BIAS, b, b, a.db);
}

PeerPooling::PeerPooling(const PoolingCase& c, StepArrays& a) {
  const Desc x = plain({c.batch, c.channels, c.height, c.width});
  const Desc y = plain({c.batch, c.channels, c.height / c.kernel, c.width / c.kernel});
  const memory::dims kernel{c.kernel, c.kernel}, none{0, 0};
  const algorithm which = c.isMax ? algorithm::pooling_max : algorithm::pooling_avg_include_padding;
  const auto forward = described<onednn::PoolingForward>(usual, prop_kind::forward_training, which,
                                                         x, y, kernel, kernel, none, none, none);
  const auto backward = describedBeside<onednn::PoolingAdjoint>(forward, usual, which, x, y, kernel,
                                                                kernel, none, none, none);
  PeerProduct& f = products_.emplace_back(onednn::PoolingForward(forward));
  f.input(DNNL_ARG_SRC, x, x, a.x);
  f.output(DNNL_ARG_DST, y, y, a.y);
  PeerProduct& d = products_.emplace_back(onednn::PoolingAdjoint(backward));
  d.input(DNNL_ARG_DIFF_DST, y, y, a.dy);
  d.output(DNNL_ARG_DIFF_SRC, x, x, a.dx);
  if (!c.isMax)
    return;
  const memory workspace(forward.workspace_desc(), engine());
  products_[0].other(DNNL_ARG_WORKSPACE, workspace);
  products_[1].other(DNNL_ARG_WORKSPACE, workspace);
}

PeerAffine::PeerAffine(const AffineCase& c, StepArrays& a) {
  const Desc x = plain({c.batch, c.in}), w = plain({c.out, c.in}), b = plain({c.out});
  const Desc y = plain({c.batch, c.out});
  const auto forward = described<dnnl::inner_product_forward>(usual, prop_kind::forward_training,
                                                              any(x), any(w), b, any(y));
  const auto data =
      describedBeside<dnnl::inner_product_backward_data>(forward, usual, any(x), any(w), any(y));
  const auto weights = describedBeside<dnnl::inner_product_backward_weights>(forward, usual, any(x),
                                                                             any(w), b, any(y));
  PeerProduct& f = products_.emplace_back(dnnl::inner_product_forward(forward));
  f.input(DNNL_ARG_SRC, forward.src_desc(), x, a.x);
  f.input(DNNL_ARG_WEIGHTS, forward.weights_desc(), w, a.w);
  f.input(DNNL_ARG_BIAS, b, b, a.b);
  f.output(DNNL_ARG_DST, forward.dst_desc(), y, a.y);
  PeerProduct& d = products_.emplace_back(dnnl::inner_product_backward_data(data));
  d.input(DNNL_ARG_DIFF_DST, data.diff_dst_desc(), y, a.dy);
  d.input(DNNL_ARG_WEIGHTS, data.weights_desc(), w, a.w);
  d.output(DNNL_ARG_DIFF_SRC, data.diff_src_desc(), x, a.dx);
  PeerProduct& g = products_.emplace_back(dnnl::inner_product_backward_weights(weights));
  g.input(DNNL_ARG_SRC, weights.src_desc(), x, a.x);
  g.input(DNNL_ARG_DIFF_DST, weights.diff_dst_desc(), y, a.dy);
  g.output(DNNL_ARG_DIFF_WEIGHTS, weights.diff_weights_desc(), w, a.dw);
  g.output(DNNL_ARG_DIFF_BIAS, b, b, a.db);
}

} // namespace tenon::bench
