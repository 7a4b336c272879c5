// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: Fourier transforms and complex numbers, which the builder combines to a
// spectral convolution (canonical/spectral.cpp). Each function reads the arguments of an operation
// by name (Operands) and appends values to the canonical graph by the builder b; self() is the
// first argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). einsum is implemented here as well, because it can be the product of modes
// in a spectral convolution.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Returns the dimensions of a transform, which must be all spatial dimensions in order.
std::vector<int> transformed(ModelBuilder& b, const Operands& operands, Value x) {
  const std::string& type = operands.operation().type;
  const Index space = std::max(x->rank() - 2, 0);
  const Index defaultCount = type.find("fftn") != type.npos   ? space
                             : type.find("fft2") != type.npos ? 2
                                                              : 1;
  std::vector<Index> requested = operands.integers("dim", {});
  if (requested.empty())
    for (Index d = 0; d < defaultCount; ++d)
      requested.push_back(x->rank() - defaultCount + d);
  std::vector<int> dims;
  for (const Index d : requested)
    dims.push_back(b.dimension(d, x->rank()));
  for (std::size_t i = 0; i < dims.size(); ++i)
    b.check(
        static_cast<Index>(dims.size()) == space && dims[i] == static_cast<int>(i) + 2,
        "a Fourier transform of [batch, channels, space...] is over all of space, in its order");
  return dims;
}
ModelValues fourier(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  if (operands.has("s") || operands.has("n"))
    return {b.refuse("a Fourier transform with a size of its own", "one without", x->shape)};
  return {b.fourier(x, transformed(b, operands, x).size(), operands.text("norm", "backward"))};
}
ModelValues inverseFourier(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  std::vector<Index> size = operands.integers(operands.has("n") ? "n" : "s", {});
  const std::vector<int> dims = transformed(b, operands, x);
  // The default is an even number of points.
  if (size.empty())
    for (const int dim : dims) {
      const Index n = x->shape[static_cast<std::size_t>(dim)];
      size.push_back(dim + 1 == x->rank() ? 2 * (n - 1) : n);
    }
  return {b.inverseFourier(x, size, operands.text("norm", "backward"))};
}
ModelValues viewAsComplex(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.complex(self(operands))};
}
// Combines real and imaginary parts to pairs.
ModelValues complexOf(ModelBuilder& b, const Operands& operands, const char*) {
  ModelValues parts;
  for (const char* name : {"real", "imag"}) {
    const Value x = operands.needed(name);
    Shape shape = x->shape;
    shape.push_back(1);
    parts.push_back(b.reshape(x, shape));
  }
  return {b.complex(b.concatenate(parts, parts[0]->rank() - 1))};
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
  return {b.einsum(equation, factors)};
}

} // namespace

std::span<const Pt2Row> pt2Spectral() {
  static constexpr Pt2Row rows[] = {{"complex", complexOf},
                                    {"einsum", einsum},
                                    {"fft_irfft", inverseFourier},
                                    {"fft_irfft2", inverseFourier},
                                    {"fft_irfftn", inverseFourier},
                                    {"fft_rfft", fourier},
                                    {"fft_rfft2", fourier},
                                    {"fft_rfftn", fourier},
                                    {"view_as_complex", viewAsComplex}};
  return rows;
}

} // namespace tenon
