// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: Fourier transforms and complex numbers, which the builder combines to a
// spectral convolution (canonical/spectral.cpp), or computes (canonical/complex.cpp). Each function
// reads the arguments of an operation by name (Operands) and appends values to the canonical graph
// by the builder b; self() is the first argument. The table at the end has a row per family of
// operators: name, function, and the function's last argument `variant`, which selects what a
// shared function computes (operator_rows.hpp). einsum is implemented here as well, because it can
// be the product of modes in a spectral convolution.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

constexpr int kMaxLabels = 8; // of the dimensions of a tensor

// The dimensions of a transform: those listed, or all (n), the last two (2), or the last one.
std::vector<int> transformed(ModelBuilder& b, const Operands& operands, Value x) {
  const std::string& type = operands.operation().type;
  const std::string_view name = std::string_view(type).substr(0, type.rfind('.'));
  std::vector<Index> requested = operands.integers("dim", {});
  const Index lengths = static_cast<Index>(operands.integers("s", {}).size());
  const Index defaultCount = lengths > 0              ? lengths
                             : name.ends_with("fftn") ? x->ndim()
                             : name.ends_with("fft2") ? 2
                                                      : 1;
  if (requested.empty())
    for (Index d = 0; d < defaultCount; ++d)
      requested.push_back(x->ndim() - defaultCount + d);
  std::vector<int> dims;
  for (const Index d : requested)
    dims.push_back(b.dimension(d, x->ndim()));
  return dims;
}
// The argument with as many elements in these dimensions as the arguments n or s say.
Value ofSize(ModelBuilder& b, const Operands& operands, const std::vector<int>& dims) {
  Value x = self(operands);
  const std::vector<Index> size = operands.integers(operands.has("n") ? "n" : "s", {});
  b.check(size.empty() || size.size() == dims.size(), "it has another number of sizes");
  for (std::size_t i = 0; i < size.size(); ++i)
    if (size[i] != -1)
      x = b.resizedByZeros(x, dims[i], size[i]);
  return x;
}
ModelValues fourier(ModelBuilder& b, const Operands& operands, const char*) {
  const std::vector<int> dims = transformed(b, operands, self(operands));
  return {b.fourier(ofSize(b, operands, dims), dims, operands.text("norm", "backward"))};
}
// `variant`: "inverse" or "".
ModelValues complexFourier(ModelBuilder& b, const Operands& operands, const char* variant) {
  const std::vector<int> dims = transformed(b, operands, self(operands));
  return {b.complexFourier(ofSize(b, operands, dims), dims, operands.text("norm", "backward"),
                           *variant != '\0')};
}
ModelValues inverseFourier(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  std::vector<Index> size = operands.integers(operands.has("n") ? "n" : "s", {});
  const std::vector<int> dims = transformed(b, operands, x);
  b.check(size.empty() || size.size() == dims.size(), "it has another number of sizes");
  size.resize(dims.size(), -1);
  // The default is an even number of points.
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (const Index n = x->shape[static_cast<std::size_t>(dims[i])]; size[i] == -1)
      size[i] = i + 1 == dims.size() ? 2 * (n - 1) : n;
  return {b.inverseFourier(x, dims, size, operands.text("norm", "backward"))};
}
std::string otherNorm(const Operands& operands) {
  const std::string norm = operands.text("norm", "backward");
  return norm == "backward" ? "forward" : norm == "forward" ? "backward" : norm;
}
// Transforms of coefficients whose other half are their conjugates, and back ("inverse"): those of
// the conjugates in the other direction, with the factor of this one.
ModelValues hermitian(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  const std::vector<int> dims = transformed(b, operands, x);
  if (*variant != '\0')
    return {b.conjugated(b.fourier(ofSize(b, operands, dims), dims, otherNorm(operands)))};
  const Index n = operands.integer("n", 2 * (x->shape[static_cast<std::size_t>(dims[0])] - 1));
  return {b.inverseFourier(b.conjugated(x), dims, {n}, otherNorm(operands))};
}
// Exchanges the halves of dimensions, or ("inverse") exchanges them back. They differ if the number
// of elements is odd.
ModelValues shifted(ModelBuilder& b, const Operands& operands, const char* variant) {
  Value x = self(operands);
  std::vector<Index> dims = operands.integers("dim", {});
  if (!operands.has("dim"))
    for (int d = 0; d < x->ndim(); ++d)
      dims.push_back(d);
  for (const Index d : dims) {
    const int at = b.dimension(d, x->ndim());
    const Index half = x->shape[static_cast<std::size_t>(at)] / 2;
    x = b.roll(x, at, *variant != '\0' ? -half : half);
  }
  return {x};
}
ModelValues viewAsReal(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.pairsOf(self(operands))};
}
// `variant`: "real" or "imaginary".
ModelValues partOf(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  if (!x->isComplex() && *variant == 'r')
    return {x};
  const ModelBuilder::Parts parts = b.partsOf(x);
  return {*variant == 'r' ? parts.real : parts.imaginary};
}
ModelValues conjugate(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.conjugated(self(operands))};
}
ModelValues viewAsComplex(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.complex(self(operands))};
}
ModelValues complexOf(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.ofParts({operands.needed("real"), operands.needed("imag")})};
}
// Of magnitudes and angles. The derivative by a magnitude is that by its absolute value, as in
// PyTorch: it has the other sign below 0, and is 0 at 0.
ModelValues polar(ModelBuilder& b, const Operands& operands, const char*) {
  const Value given = operands.needed("abs"), angle = operands.needed("angle");
  const Value absolute = b.unary("abs", given);
  const Value size =
      b.binary("add", b.stopped(given), b.binary("sub", absolute, b.stopped(absolute)));
  return {b.ofParts({b.binary("mul", size, b.unary("cosine", angle)),
                     b.binary("mul", size, b.unary("sine", angle))})};
}
// Whether an equation is "bixy,ioxy->boxy" with any labels, in one to three spatial dimensions.
bool isOfModes(const std::string& equation) {
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    const std::size_t n = dims + 2;
    if (equation.size() != 3 * n + 3)
      continue;
    const std::string a = equation.substr(0, n), w = equation.substr(n + 1, n),
                      y = equation.substr(2 * n + 3), space = a.substr(2);
    const std::string labels = a.substr(0, 2) + w[1] + space;
    return equation[n] == ',' && equation.substr(2 * n + 1, 2) == "->" &&
           std::set<char>(labels.begin(), labels.end()).size() == labels.size() && w[0] == a[1] &&
           w.substr(2) == space && y == std::string{a[0], w[1]} + space;
  }
  return false;
}
ModelValues einsum(ModelBuilder& b, const Operands& operands, const char*) {
  const std::string equation = operands.text("equation", "");
  const ModelValues factors = operands.values("tensors");
  b.check(std::none_of(factors.begin(), factors.end(), [](Value v) { return !v; }),
          "it has no factors");
  if (factors.size() == 2 && factors[1]->op == ModelOp::Complex && isOfModes(equation))
    return {b.modes(factors[0], factors[1])};
  // The weight can be the first factor.
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (factors.size() == 2 && factors[0]->op == ModelOp::Complex && comma < arrow &&
      arrow != equation.npos &&
      isOfModes(equation.substr(comma + 1, arrow - comma - 1) + "," + equation.substr(0, comma) +
                equation.substr(arrow)))
    return {b.modes(factors[1], factors[0])};
  return {std::ranges::any_of(factors, [](Value v) { return v->isComplex(); })
              ? b.complexEinsum(equation, factors)
              : b.einsum(equation, factors)};
}
// Sums over pairs of dimensions of two tensors.
ModelValues tensorProduct(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), y = operands.needed("other");
  const std::vector<Index> ofX = operands.integers("dims_self", {}),
                           ofY = operands.integers("dims_other", {});
  b.check(ofX.size() == ofY.size() && x->ndim() + y->ndim() <= 2 * kMaxLabels,
          "its lists of dimensions have different lengths");
  std::string labels, others, result;
  for (int d = 0; d < x->ndim(); ++d)
    labels += static_cast<char>('a' + d);
  for (int d = 0; d < y->ndim(); ++d)
    others += static_cast<char>('A' + d);
  result = labels;
  for (std::size_t i = 0; i < ofX.size(); ++i) {
    const char label = labels[static_cast<std::size_t>(b.dimension(ofX[i], x->ndim()))];
    others[static_cast<std::size_t>(b.dimension(ofY[i], y->ndim()))] = label;
    std::erase(result, label);
  }
  for (const char label : others)
    result += labels.find(label) == labels.npos ? std::string(1, label) : "";
  const std::string equation = labels + "," + others + "->" + result;
  return {x->isComplex() || y->isComplex() ? b.complexEinsum(equation, {x, y})
                                           : b.einsum(equation, {x, y})};
}

} // namespace

std::span<const Pt2Row> pt2Spectral() {
  static constexpr Pt2Row rows[] = {{"_conj", conjugate},
                                    {"_conj_physical", conjugate},
                                    {"complex", complexOf},
                                    {"conj", conjugate},
                                    {"conj_physical", conjugate},
                                    {"einsum", einsum},
                                    {"fft_fft", complexFourier},
                                    {"fft_fft2", complexFourier},
                                    {"fft_fftn", complexFourier},
                                    {"fft_fftshift", shifted},
                                    {"fft_hfft", hermitian},
                                    {"fft_ifft", complexFourier, "inverse"},
                                    {"fft_ifft2", complexFourier, "inverse"},
                                    {"fft_ifftn", complexFourier, "inverse"},
                                    {"fft_ifftshift", shifted, "inverse"},
                                    {"fft_ihfft", hermitian, "inverse"},
                                    {"fft_irfft", inverseFourier},
                                    {"fft_irfft2", inverseFourier},
                                    {"fft_irfftn", inverseFourier},
                                    {"fft_rfft", fourier},
                                    {"fft_rfft2", fourier},
                                    {"fft_rfftn", fourier},
                                    {"imag", partOf, "imaginary"},
                                    {"polar", polar},
                                    {"real", partOf, "real"},
                                    {"tensordot", tensorProduct},
                                    {"view_as_complex", viewAsComplex},
                                    {"view_as_real", viewAsReal}};
  return rows;
}

} // namespace tenon
