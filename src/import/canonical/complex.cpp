// SPDX-License-Identifier: BSD-2-Clause
// Complex numbers and Fourier transforms as real arithmetic: members of ModelBuilder, which append
// operators to the canonical graph. Layers have real numbers only. A complex value of the graph
// (ModelValue::isComplex()) is the result of a transform, of pairs of numbers, or of an operator on
// such values. As long as a model only moves and multiplies modes, as in a spectral convolution, it
// stays symbolic (spectral.cpp). All other uses need its real and imaginary parts:
//
//   pairsOf(z)            [..., 2], the parts in the last dimension
//   Complex(pairs)        the complex value again
//   Pairs(z)              the same as pairsOf(z), of a transform, or of a product with a constant,
//                         until all of the network is known: an inverse transform may follow, with
//                         which it is one layer (sphere/spherical.cpp)
//
// A Fourier transform along a dimension is then two products with fixed matrices, of the cosines
// and the sines of 2 pi j k / n (along()). This is exact to rounding, and takes n operations per
// element. Class ModelBuilder is in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon {

namespace {

// The cosine and sine of 2 pi j k / n, of the smallest equivalent angle.
double angleOf(Index j, Index k, Index n) {
  return 2 * std::numbers::pi * static_cast<double>(j % n * (k % n) % n) / static_cast<double>(n);
}

// The factor of a transform of `count` points: "backward" divides by it in the inverse, "forward"
// in the transform itself, "ortho" by its root in both.
double factorOf(const std::string& norm, double count, bool isInverse) {
  if (norm == "ortho")
    return 1 / std::sqrt(count);
  return (norm == "forward") == isInverse ? 1 : 1 / count;
}

} // namespace

ModelBuilder::Parts ModelBuilder::partsOf(Value z) {
  const Value pairs = pairsOf(z);
  const int last = pairs->ndim() - 1;
  return {reshape(slice(pairs, last, 0, 1), z->shape), reshape(slice(pairs, last, 1, 2), z->shape)};
}

ModelBuilder::Value ModelBuilder::ofParts(const Parts& parts) {
  Shape shape = parts.real->shape;
  shape.push_back(1);
  const ModelValues both = {reshape(parts.real, shape), reshape(parts.imaginary, shape)};
  return complex(concatenate(both, static_cast<int>(shape.size()) - 1));
}

ModelBuilder::Value ModelBuilder::conjugated(Value z) {
  if (!z->isComplex())
    return z;
  const Parts parts = partsOf(z);
  return ofParts({parts.real, affine(parts.imaginary, {-1}, {0})});
}

ModelBuilder::Value ModelBuilder::pairsOf(Value z) {
  if (const auto existing = pairs_.find(z); existing != pairs_.end())
    return existing->second;
  Shape expected = z->shape;
  expected.push_back(2);
  const bool isLeft = !isComputingPairs_ && (z->op == ModelOp::Fourier || z->op == ModelOp::Modes ||
                                             z->op == ModelOp::Contraction);
  const Value pairs = isLeft ? make(ModelOp::Pairs, {z}, expected) : madePairs(z);
  pairs_[z] = pairs->op == ModelOp::Refused ? pairs : reshape(pairs, expected);
  if (z->isComplex() && !isComputingPairs_)
    complexes_.emplace(pairs_[z], z);
  return pairs_[z];
}

ModelBuilder::Value ModelBuilder::madePairs(Value z) {
  Shape shape = z->shape;
  if (!z->isComplex()) { // a real value
    shape.push_back(1);
    const Value real = reshape(z, shape);
    return concatenate({real, zeros(shape)}, z->ndim());
  }
  shape.push_back(2);
  ModelValues inputs;
  for (const Value input : z->inputs)
    if (z->op != ModelOp::Complex && z->op != ModelOp::Fourier && z->op != ModelOp::Contraction)
      inputs.push_back(pairsOf(input));
  switch (z->op) {
  case ModelOp::Complex:
    return z->inputs[0];
  case ModelOp::Fourier:
    return pairsOf(ofParts(transformed(z->inputs[0], z->dims, z->function)));
  case ModelOp::Modes:
    return pairsOf(complexEinsum(einsumOfModes(z->ndim()), z->inputs));
  case ModelOp::Contraction:
    if (const auto harmonics = harmonicsOf(z); harmonics && !harmonics->weight)
      return harmonicPairs(*harmonics);
    return pairsOf(complexEinsum(z->function, z->inputs));
  case ModelOp::Slice:
    return slice(inputs[0], z->dim, z->begin, z->end, z->step);
  case ModelOp::Pad:
    return pad(inputs[0], z->dim, z->low[0], z->high[0], z->modes[0], z->padValue.value_or(0));
  case ModelOp::Concatenate:
    return concatenate(inputs, z->dim);
  case ModelOp::Reshape:
    return reshape(inputs[0], shape);
  case ModelOp::Expand:
    return expand(inputs[0], shape);
  case ModelOp::Add:
    return binary("add", inputs[0], inputs[1]);
  case ModelOp::Subtract:
    return binary("sub", inputs[0], inputs[1]);
  case ModelOp::Transpose: {
    std::vector<int> order = z->dims;
    order.push_back(z->ndim());
    return transpose(inputs[0], order);
  }
  default:
    return refuse("an operation on complex numbers",
                  "sums, products and quotients, and operations on real and imaginary parts",
                  shape);
  }
}

// "bixy,ioxy->boxy"
std::string ModelBuilder::einsumOfModes(int rank) {
  const std::string space = std::string("xyz").substr(0, static_cast<std::size_t>(rank - 2));
  return "bi" + space + ",io" + space + "->bo" + space;
}

// The parts of a complex factor become a dimension of its own, p of the product so far and q of the
// next factor, and a constant [2, 2, 2] combines both: (1, 1, -1 in the real part; 1, 1 in the
// imaginary one).
ModelBuilder::Value ModelBuilder::complexEinsum(const std::string& equation,
                                                const ModelValues& factors) {
  const std::size_t arrow = equation.find("->");
  check(arrow != equation.npos, "an equation of complex numbers needs a result");
  if (const std::size_t comma = equation.find(',');
      factors.size() == 2 && comma < arrow && !isComputingPairs_) {
    const std::string swapped = equation.substr(comma + 1, arrow - comma - 1) + "," +
                                equation.substr(0, comma) + equation.substr(arrow);
    for (const std::size_t weight : {1, 0})
      if (factors[1 - weight]->isComplex())
        if (const Value result =
                contraction(weight == 1 ? equation : swapped, factors[1 - weight], factors[weight]))
          return result;
  }
  std::string pool, text;
  for (char c = 'z'; c >= 'a'; --c)
    if (equation.find(c) == equation.npos)
      pool += c;
  check(pool.size() >= 2 * factors.size(), "an equation has too many labels");
  const Value table = constant(ModelConstant::ofNumbers({2, 2, 2}, {1, 0, 0, 1, 0, 1, -1, 0}));
  ModelValues all;
  std::size_t begin = 0, used = 0;
  char sum = 0; // the label of the parts of the product so far
  for (const Value factor : factors) {
    const std::size_t end = std::min(equation.find(',', begin), arrow);
    check(begin <= end, "an equation has another number of factors");
    text += (all.empty() ? "" : ",") + equation.substr(begin, end - begin);
    begin = end + 1;
    all.push_back(factor->isComplex() ? pairsOf(factor) : factor);
    if (!factor->isComplex())
      continue;
    const char own = pool[used++];
    text += own;
    if (sum != 0) {
      const char next = pool[used++];
      text += std::string(",") + sum + own + next;
      all.push_back(table);
      sum = next;
    } else {
      sum = own;
    }
  }
  text += equation.substr(arrow);
  return complex(einsum(sum == 0 ? text : text + sum, all));
}

// Products and quotients; a real operand multiplies both parts.
ModelBuilder::Value ModelBuilder::complexBinary(const std::string& function, Value a, Value b) {
  if (function == "add" || function == "sub") {
    const Shape shape = broadcast(a->shape, b->shape);
    return make(function == "add" ? ModelOp::Add : ModelOp::Subtract,
                {expand(a, shape), expand(b, shape)}, shape);
  }
  const auto ofPairs = [&](Value real) {
    Shape shape = real->shape;
    shape.push_back(1);
    return reshape(real, shape);
  };
  if (function == "pow")
    return complexPower(a, b);
  const bool isProduct = function == "mul";
  if (isProduct && !a->isComplex())
    std::swap(a, b);
  if (!isProduct && function != "div" && function != "truediv")
    return refuseBinary(function + " of complex numbers", a, b);
  if (!b->isComplex())
    return complex(binary(function, pairsOf(a), ofPairs(b)));
  for (const auto& [z, w] : {std::pair(a, b), std::pair(b, a)})
    if (const Value result = isProduct ? scaledByModes(z, w) : nullptr)
      return result;
  const Parts p = partsOf(a), q = partsOf(b);
  const auto times = [&](Value x, Value y) { return binary("mul", x, y); };
  if (isProduct)
    return ofParts({binary("sub", times(p.real, q.real), times(p.imaginary, q.imaginary)),
                    binary("add", times(p.real, q.imaginary), times(p.imaginary, q.real))});
  const Value size = binary("add", times(q.real, q.real), times(q.imaginary, q.imaginary));
  const Value inverse =
      ofParts({binary("div", q.real, size), binary("div", affine(q.imaginary, {-1}, {0}), size)});
  return complexBinary("mul", a, inverse);
}

// Functions of x + iy by those of x and y; null for others.
ModelBuilder::Value ModelBuilder::complexUnary(const std::string& function, Value z) {
  // f(x) g(y) + i h(x) k(y), with a sign.
  struct Products {
    std::string_view function, f, g, h, k;
    double sign;
  };
  static constexpr Products kProducts[] = {{"exp", "exp", "cosine", "exp", "sine", 1},
                                           {"sine", "sine", "cosh", "cosine", "sinh", 1},
                                           {"cosine", "cosine", "cosh", "sine", "sinh", -1},
                                           {"sinh", "sinh", "cosine", "cosh", "sine", 1},
                                           {"cosh", "cosh", "cosine", "sinh", "sine", 1}};
  const auto times = [&](Value p, Value q) { return binary("mul", p, q); };
  for (const Products& by : kProducts)
    if (function == by.function) {
      const auto [x, y] = partsOf(z);
      const Value f = unary(std::string(by.f), x),
                  h = by.h == by.f ? f : unary(std::string(by.h), x);
      return ofParts({times(f, unary(std::string(by.g), y)),
                      affine(times(h, unary(std::string(by.k), y)), {by.sign}, {0})});
    }
  if (function == "abs") {
    const auto [x, y] = partsOf(z);
    return rootOfSquares(binary("add", times(x, x), times(y, y)));
  }
  if (function == "log") {
    const auto [x, y] = partsOf(z);
    return ofParts({unary("log", unary("abs", z)), angle(y, x)});
  }
  if (function == "sqrt")
    return unary("exp", affine(unary("log", z), {0.5}, {0}));
  if (function == "tanh") { // without overflow, and finite up to the poles x = 0, cos(y) = 0
    const auto [x, y] = partsOf(z);
    const Value t = unary("tanh", x), s = unary("sine", y), c = unary("cosine", y);
    const Value slope = affine(times(t, t), {-1}, {1});
    const Value size = binary("add", times(t, t), times(times(c, c), slope));
    return ofParts({binary("div", t, size), binary("div", times(times(s, c), slope), size)});
  }
  if (function == "reciprocal")
    return binary("div", ofParts({number(1), number(0)}), z);
  return nullptr;
}

// Whole powers, by squares.
ModelBuilder::Value ModelBuilder::complexPower(Value z, Value power) {
  const double exponent =
      power->isKnown() && elements(power->shape) == 1 ? fold(power).numbers()[0] : 0;
  constexpr double kLargest = 64;
  if (exponent != std::floor(exponent) || !(exponent >= 1 && exponent <= kLargest))
    return refuseBinary("pow of complex numbers", z, power);
  Value result = nullptr;
  for (auto n = static_cast<Index>(exponent); n > 0; n /= 2) {
    if (n % 2 == 1)
      result = result ? binary("mul", result, z) : z;
    if (n > 1)
      z = binary("mul", z, z);
  }
  return expand(result, broadcast(result->shape, power->shape));
}

// One dimension of a transform of n points to m coefficients, by exp(-i angle) or, inverse, by
// exp(i angle).
ModelBuilder::Parts ModelBuilder::rotated(const Parts& x, int dim, Index m, bool isInverse) {
  const Index n = x.real->shape[static_cast<std::size_t>(dim)];
  const auto by = [&](Value part, bool isSine) {
    return along(part, dim, m, [=](Index k, Index j) {
      const double angle = angleOf(j, k, n);
      return !isSine ? std::cos(angle) : isInverse ? std::sin(angle) : -std::sin(angle);
    });
  };
  if (!x.imaginary)
    return {by(x.real, /*isSine=*/false), by(x.real, /*isSine=*/true)};
  return {binary("sub", by(x.real, /*isSine=*/false), by(x.imaginary, /*isSine=*/true)),
          binary("add", by(x.real, /*isSine=*/true), by(x.imaginary, /*isSine=*/false))};
}

// The last dimension is first, as long as the numbers are real: it has n / 2 + 1 coefficients.
ModelBuilder::Parts ModelBuilder::transformed(Value x, const std::vector<int>& dims,
                                              const std::string& norm) {
  Parts result = {x, nullptr};
  double count = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const Index n = x->shape[static_cast<std::size_t>(dims[i])];
    count *= static_cast<double>(n);
    result = rotated(result, dims[i], i + 1 == dims.size() ? n / 2 + 1 : n, /*isInverse=*/false);
  }
  return scaled(result, factorOf(norm, count, /*isInverse=*/false));
}

ModelBuilder::Parts ModelBuilder::scaled(const Parts& x, double factor) {
  return {affine(x.real, {factor}, {0}), affine(x.imaginary, {factor}, {0})};
}

// Brings a dimension to n elements, by leaving out the last ones or by adding zeros.
ModelBuilder::Value ModelBuilder::resizedByZeros(Value x, int dim, Index n) {
  const Index extent = x->shape[static_cast<std::size_t>(dim)];
  return n <= extent ? slice(x, dim, 0, n) : pad(x, dim, 0, n - extent, "values");
}

ModelBuilder::Value ModelBuilder::complexFourier(Value x, const std::vector<int>& dims,
                                                 const std::string& norm, bool isInverse) {
  Parts result = partsOf(x);
  double count = 1;
  for (const int d : dims) {
    const Index n = x->shape[static_cast<std::size_t>(d)];
    count *= static_cast<double>(n);
    result = rotated(result, d, n, isInverse);
  }
  return ofParts(scaled(result, factorOf(norm, count, isInverse)));
}

// The last dimension has the coefficients of half of the modes; the others are their conjugates, so
// all but those of modes 0 and n / 2 count twice.
ModelBuilder::Value ModelBuilder::realInverseFourier(Value z, const std::vector<int>& dims,
                                                     const std::vector<Index>& size,
                                                     const std::string& norm) {
  Parts x = partsOf(z);
  double count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool isLast = i + 1 == dims.size();
    const int d = dims[i];
    const Index n = size[i], modes = isLast ? n / 2 + 1 : n;
    count *= static_cast<double>(n);
    x = {resizedByZeros(x.real, d, modes), resizedByZeros(x.imaginary, d, modes)};
    if (!isLast) {
      x = rotated(x, d, n, /*isInverse=*/true);
      continue;
    }
    const auto by = [&](Value part, bool isSine) {
      return along(part, d, n, [=](Index j, Index k) {
        const double weight = k == 0 || 2 * k == n ? 1 : 2, angle = angleOf(j, k, n);
        return weight * (isSine ? -std::sin(angle) : std::cos(angle));
      });
    };
    x.real = binary("add", by(x.real, /*isSine=*/false), by(x.imaginary, /*isSine=*/true));
  }
  return affine(x.real, {factorOf(norm, count, /*isInverse=*/true)}, {0});
}

} // namespace tenon
