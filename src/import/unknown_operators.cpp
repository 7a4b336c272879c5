// SPDX-License-Identifier: BSD-2-Clause
// The reasons why operators cannot be layers, and what works in their place: one row for operators
// of both formats with the same reason. Names of PyTorch are those between "aten." (or
// "higher_order.") and the overload.
#include "import/unknown_operators.hpp"

#include <algorithm>
#include <string_view>

namespace tenon {

namespace {

struct Reason {
  std::string_view names; // separated by spaces; with "*", all names that begin so
  const char* advice;
};

constexpr Reason kReasons[] = {
    {"sort argsort msort topk kthvalue median nanmedian mode quantile nanquantile cummax cummin "
     "TopK",
     "max, min, argmax and argmin; which elements come first depends on the data, so sort outside "
     "the network"},
    {"nonzero masked_select masked_scatter unique_dim _unique2 unique_consecutive bincount histc "
     "histogram item _local_scalar_dense NonZero Unique Compress NonMaxSuppression",
     "where() with a mask, or sums of one_hot() for a histogram; the shape of the result depends "
     "on the data, and shapes are fixed at set-up"},
    {"cond while_loop scan map associative_scan If Loop Scan",
     "where(), and loops of a fixed number of steps, which the exporter unrolls; what runs cannot "
     "depend on the data"},
    {"bitwise_* __lshift__ __rshift__ __ilshift__ __irshift__ BitShift Bitwise* BitCast",
     "floor, mod and products with powers of 2; fields are real numbers, which have no bits of "
     "integers"},
    {"rand rand_like randn randn_like randint randint_like randperm normal bernoulli multinomial "
     "rrelu RandomNormal* RandomUniform* Bernoulli Multinomial",
     "random numbers as inputs of the network, or the model in eval mode"},
    {"QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinear* ConvInteger MatMulInteger "
     "quantize_per_tensor dequantize",
     "the model in float32 or float64, before it was quantised"},
    {"linalg_* inverse pinverse det logdet slogdet cholesky cholesky_solve qr svd lu_solve "
     "triangular_solve matrix_exp Det",
     "matmul, einsum and linalg.vector_norm; factor or solve outside the network, or write out "
     "small matrices"},
    {"lgamma mvlgamma digamma polygamma igamma* erfinv i0 special_gamma* special_digamma "
     "special_polygamma special_multigammaln special_psi special_erfinv special_erfcx "
     "special_ndtri "
     "special_log_ndtr special_i0* special_i1* special_bessel* special_modified_bessel* "
     "special_scaled_modified_bessel* special_spherical_bessel* special_zeta special_airy_ai "
     "special_chebyshev* special_hermite* special_laguerre* special_legendre*",
     "exp, log, erf, powers, and polynomials, which can fit the function in the range of its "
     "arguments; no layer computes it"},
    {"MaxUnpool max_unpool", "interpolate or transposed convolutions; no layer keeps the places of "
                             "a maximum"},
    {"torch.ops.disco_kernels.*",
     "DiscreteContinuousConvS2 and DiscreteContinuousConvTransposeS2 of torch-harmonics 0.9.3 on "
     "the CPU, or the layers disco and transposeddisco, made in the program (doc/sphere.md)"},
    {"DeformConv RoiAlign", "grid_sample (GridSample) at computed points"},
    {"STFT stft istft", "convolutions with fixed cosines and sines, or rfft of windows made by "
                        "unfold"},
    {"LinearAttention CausalConvWithState SwiGLU",
     "the operators that it consists of (the function body in ONNX's description of operators)"},
    {"Sequence* SplitToSequence ConcatFromSequence Optional* String* RegexFullMatch "
     "TfIdfVectorizer ImageDecoder",
     "tensors of numbers; prepare sequences, texts and images outside the network"}};

// Returns "sort" for "aten.sort.default", and "TopK" for "TopK".
std::string_view shortName(std::string_view type) {
  for (const std::string_view before : {"aten.", "higher_order."})
    if (const std::size_t at = type.find(before); at != type.npos) {
      type.remove_prefix(at + before.size());
      return type.substr(0, type.find('.'));
    }
  return type;
}

bool hasName(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(' '));
    if (one == name || (one.ends_with('*') && name.starts_with(one.substr(0, one.size() - 1))))
      return true;
    names.remove_prefix(std::min(names.size(), one.size() + 1));
  }
  return false;
}

} // namespace

std::string adviceFor(const std::string& type) {
  const std::string_view name = shortName(type);
  for (const Reason& reason : kReasons)
    if (hasName(reason.names, name))
      return reason.advice;
  const bool isOfTorch = type.find('.') != type.npos;
  return isOfTorch ? "the operators that doc/import.md lists; run_decompositions() of the exported "
                     "program may write it with these"
                   : "the operators that doc/import.md lists";
}

} // namespace tenon
