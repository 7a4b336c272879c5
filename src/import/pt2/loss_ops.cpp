// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: losses, and distances of points. Each function reads the arguments of an
// operation by name (Operands) and appends values to the canonical graph by the builder b; self()
// is the first argument. The table at the end has a row per family of operators: name, function,
// and the function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). Most losses are a number for each element, and then reduced().
#include "import/pt2/operator_rows.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

Value difference(ModelBuilder& b, Value x, Value y) {
  return b.binary("sub", x, y);
}
Value product(ModelBuilder& b, Value x, Value y) {
  return b.binary("mul", x, y);
}
// x, or 0 if it is below.
Value positivePart(ModelBuilder& b, Value x) {
  return b.unary("clamp", x, {{"low", 0}});
}
Value sumOver(ModelBuilder& b, Value x, int dim, bool keeps = false) {
  return b.reduce("sum", x, {dim}, keeps);
}

// -- losses

const char* reductionOf(ModelBuilder& b, const Operands& operands) {
  constexpr const char* kReductions[] = {"none", "mean", "sum"};
  const Index reduction = operands.integer("reduction", 1);
  b.check(reduction >= 0 && reduction < 3, "its reduction is not known");
  return kReductions[reduction];
}
// The losses of all elements, their mean, or their sum.
ModelValues reduced(ModelBuilder& b, const Operands& operands, Value loss) {
  const std::string method = reductionOf(b, operands);
  std::vector<int> dims(loss->shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  return {method == "none" ? loss : b.reduce(method, loss, dims, /*keeps=*/false)};
}
// The same with a weight of each element.
ModelValues weighted(ModelBuilder& b, const Operands& operands, Value loss) {
  const Value weight = operands.value("weight");
  return reduced(b, operands, weight ? product(b, loss, weight) : loss);
}
// `variant`: "softmax" for scores, of which the logarithms of the probabilities are taken first.
ModelValues lossOfClasses(ModelBuilder& b, const Operands& operands, const char* variant) {
  Value x = self(operands);
  const Value targets = operands.needed("target");
  if (x->ndim() < 2 || targets->ndim() + 1 != x->ndim() || operands.real("label_smoothing", 0) != 0)
    return {b.refuse("a loss of classes with probabilities as targets, or without a batch",
                     "scores [n, classes, ...] and classes [n, ...]", {})};
  if (*variant != '\0')
    x = b.binary("sub", x, b.logSumExp(x, {1}, /*keeps=*/true));
  return {b.likelihoodLoss(x, targets, operands.value("weight"),
                           operands.integer("ignore_index", -100), reductionOf(b, operands))};
}
// The square or the magnitude (`variant`) of the difference, summed or averaged.
ModelValues lossOfDifference(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value apart = difference(b, self(operands), operands.needed("target"));
  return reduced(b, operands, *variant == 's' ? product(b, apart, apart) : b.unary("abs", apart));
}
// A square for differences below a limit, and a straight line beyond: that of "huber" is
// continued with the slope of the limit, that of "smooth" with 1.
ModelValues lossWithLimit(ModelBuilder& b, const Operands& operands, const char* variant) {
  const bool isHuber = *variant == 'h';
  const double limit = isHuber ? operands.real("delta", 1) : operands.real("beta", 1);
  b.check(limit > 0 || (!isHuber && limit == 0), "its limit is out of range");
  const Value apart = difference(b, self(operands), operands.needed("target"));
  const Value size = b.unary("abs", apart);
  if (limit == 0)
    return reduced(b, operands, size);
  const double slope = isHuber ? limit : 1;
  const Value square = scaled(b, product(b, apart, apart), 0.5 * slope / limit);
  return reduced(b, operands,
                 b.where(b.compare("lt", size, b.number(limit)), square,
                         b.affine(size, {slope}, {-0.5 * slope * limit})));
}
// target (log(target) - input), where targets can be logarithms.
ModelValues divergence(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), target = operands.needed("target");
  if (operands.flag("log_target", false))
    return reduced(b, operands, product(b, b.unary("exp", target), difference(b, target, x)));
  return reduced(b, operands,
                 difference(b, b.timesLogarithm(target, target), product(b, target, x)));
}
// Of counts, whose mean or its logarithm is the input; "full" adds Stirling's approximation of the
// logarithm of a factorial for counts above 1. PyTorch computes it for all counts, and the
// derivative is NaN where the logarithm has none, as is that of the root of 0 times 0.
ModelValues poissonLoss(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), target = operands.needed("target"), one = b.number(1);
  const double eps = operands.real("eps", 1e-8);
  Value loss = operands.flag("log_input", true)
                   ? difference(b, b.unary("exp", x), product(b, target, x))
                   : difference(b, x, product(b, target, b.unary("log", b.affine(x, {1}, {eps}))));
  if (operands.flag("full", false)) {
    const Value zero = b.number(0), isSmall = b.compare("le", target, one),
                n = b.where(isSmall, one, target), logarithm = b.unary("log", n);
    const Value factorial =
        b.binary("add", difference(b, product(b, n, logarithm), n),
                 b.affine(logarithm, {0.5}, {0.5 * std::log(2 * std::numbers::pi)}));
    const Value isUndefined = b.compare("le", target, zero);
    // 0 also for -infinity, and so is the derivative that is multiplied by infinity.
    const Value none = scaled(b, b.unary("tanh", target), 0);
    const Value root = b.unary("sqrt", b.where(isUndefined, none, one));
    loss = b.binary("add", loss,
                    b.where(isSmall, b.where(isUndefined, scaled(b, root, 0), zero), factorial));
  }
  return reduced(b, operands, loss);
}
// The logarithm, but at least -100.
Value boundedLogarithm(ModelBuilder& b, Value x) {
  constexpr double kMin = -100;
  const Value isInside = b.compare("gt", x, b.number(std::exp(kMin)));
  return b.where(isInside, b.unary("log", b.where(isInside, x, b.number(1))), b.number(kMin));
}
// -(t log(x) + (1 - t) log(1 - x)), with PyTorch's derivative by x, (x - t) / (x (1 - x)) with a
// divisor of at least 1e-12.
ModelValues binaryCrossEntropy(ModelBuilder& b, const Operands& operands, const char*) {
  constexpr double kMin = 1e-12F; // a float32 in PyTorch too
  const Value p = self(operands), x = b.stopped(p), target = operands.needed("target");
  const Value rest = b.affine(x, {-1}, {1});
  const Value loss = b.binary("add", product(b, target, boundedLogarithm(b, x)),
                              product(b, b.affine(target, {-1}, {1}), boundedLogarithm(b, rest)));
  const Value slope = b.binary("div", difference(b, x, b.stopped(target)),
                               b.unary("clamp", product(b, x, rest), {{"low", kMin}}));
  return weighted(b, operands, difference(b, product(b, difference(b, p, x), slope), loss));
}
// The same of the sigmoid of x: (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x)).
ModelValues binaryCrossEntropyOfScores(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), target = operands.needed("target");
  Value logarithm = b.unary("softplus", scaled(b, x, -1));
  if (const Value w = operands.value("pos_weight"))
    logarithm =
        product(b, logarithm, b.affine(product(b, target, b.affine(w, {1}, {-1})), {1}, {1}));
  return weighted(b, operands,
                  b.binary("add", product(b, b.affine(target, {-1}, {1}), x), logarithm));
}
// log(1 + exp(-t x)).
ModelValues softMargin(ModelBuilder& b, const Operands& operands, const char*) {
  return reduced(
      b, operands,
      b.unary("softplus", scaled(b, product(b, self(operands), operands.needed("target")), -1)));
}
// x where the target is 1, and max(margin - x, 0) where it is -1; both elsewhere.
ModelValues hinge(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), target = operands.needed("target"), zero = b.number(0);
  const Value below = positivePart(b, b.affine(x, {-1}, {operands.real("margin", 1)}));
  return reduced(b, operands,
                 b.binary("add", b.where(b.compare("ne", target, b.number(1)), below, zero),
                          b.where(b.compare("ne", target, b.number(-1)), x, zero)));
}
// max(margin - t (x1 - x2), 0).
ModelValues ranking(ModelBuilder& b, const Operands& operands, const char*) {
  const Value apart = difference(b, operands.needed("input1"), operands.needed("input2"));
  return reduced(b, operands,
                 positivePart(b, b.affine(product(b, apart, operands.needed("target")), {-1},
                                          {operands.real("margin", 0)})));
}
// 1 - cos where the target is 1, and max(cos - margin, 0) where it is -1.
ModelValues cosineLoss(ModelBuilder& b, const Operands& operands, const char*) {
  constexpr double kEpsilon = 1e-12;
  const Value x = operands.needed("input1"), y = operands.needed("input2"),
              target = operands.needed("target"), zero = b.number(0);
  const auto square = [&](Value v) {
    return b.affine(sumOver(b, product(b, v, v), target->ndim()), {1}, {kEpsilon});
  };
  const Value cosine = b.binary("div", sumOver(b, product(b, x, y), target->ndim()),
                                b.unary("sqrt", product(b, square(x), square(y))));
  const Value apart = positivePart(b, b.affine(cosine, {1}, {-operands.real("margin", 0)}));
  return reduced(
      b, operands,
      b.binary("add",
               b.where(b.compare("eq", target, b.number(1)), b.affine(cosine, {-1}, {1}), zero),
               b.where(b.compare("eq", target, b.number(-1)), apart, zero)));
}

// -- distances

// The norm of x - y + eps over the last dimension.
Value distanceOf(ModelBuilder& b, Value x, Value y, double order, double eps, bool keeps) {
  const Value apart = b.affine(difference(b, x, y), {1}, {eps});
  return b.vectorNorm(apart, order, {apart->ndim() - 1}, keeps);
}
ModelValues pairwiseDistance(ModelBuilder& b, const Operands& operands, const char*) {
  return {distanceOf(b, operands.needed("x1"), operands.needed("x2"), operands.real("p", 2),
                     operands.real("eps", 1e-6), operands.flag("keepdim", false))};
}
// max(margin + distance to the positive - distance to the negative, 0).
ModelValues triplet(ModelBuilder& b, const Operands& operands, const char*) {
  const Value anchor = operands.needed("anchor"), near = operands.needed("positive"),
              far = operands.needed("negative");
  const auto apart = [&](Value x, Value y) {
    return distanceOf(b, x, y, operands.real("p", 2), operands.real("eps", 1e-6),
                      /*keeps=*/false);
  };
  Value away = apart(anchor, far);
  if (operands.flag("swap", false))
    away = b.binary("min", away, apart(near, far));
  return reduced(b, operands,
                 positivePart(b, b.affine(difference(b, apart(anchor, near), away), {1},
                                          {operands.real("margin", 1)})));
}
// The norm of differences over the last dimension. Of equal largest ones, all have the whole
// derivative.
Value normOfDifferences(ModelBuilder& b, Value apart, double order) {
  const int last = apart->ndim() - 1;
  if (!std::isinf(order))
    return b.vectorNorm(apart, order, {last}, /*keeps=*/false);
  const Value size = b.unary("abs", apart),
              largest = b.stopped(b.reduce("max", size, {last}, /*keeps=*/true));
  const Value zeros =
      b.where(b.compare("eq", size, largest), difference(b, size, largest), b.number(0));
  return b.binary("add", b.reduce("sum", largest, {last}, /*keeps=*/false),
                  sumOver(b, zeros, last));
}
// Of all points of x1 [..., n, coordinates] from all of x2 [..., m, coordinates].
ModelValues distances(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = operands.needed("x1"), y = operands.needed("x2");
  operands.has("compute_mode"); // how PyTorch computes them
  b.check(x->ndim() >= 2 && y->ndim() >= 2, "it needs points [..., points, coordinates]");
  Shape ofX = x->shape, ofY = y->shape;
  ofX.insert(ofX.end() - 1, 1);
  ofY.insert(ofY.end() - 2, 1);
  return {normOfDifferences(b, difference(b, b.reshape(x, ofX), b.reshape(y, ofY)),
                            operands.real("p", 2))};
}
// Of all pairs of points [n, coordinates].
ModelValues distancesOfPairs(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  b.check(x->ndim() == 2, "it needs points [points, coordinates]");
  const Index n = x->shape[0];
  b.spend(n);
  b.spend(n * n);
  std::vector<Index> first, second;
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  return {normOfDifferences(
      b, difference(b, b.gather(x, 0, b.integers(first)), b.gather(x, 0, b.integers(second))),
      operands.real("p", 2))};
}
// The cosine of the angle between vectors. A norm below eps is replaced by eps, but its derivative
// is not.
ModelValues cosineSimilarity(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = operands.needed("x1"), y = operands.needed("x2");
  const Shape shape = b.broadcast(x->shape, y->shape);
  const int d = b.dimension(operands.integer("dim", 1), static_cast<int>(shape.size()));
  const Value eps = b.number(operands.real("eps", 1e-8));
  const auto normed = [&](Value v) {
    v = b.expand(v, shape);
    const Value size = b.vectorNorm(v, 2, {d}, /*keeps=*/true);
    const Value missing =
        b.where(b.compare("lt", size, eps), b.stopped(b.binary("sub", eps, size)), b.number(0));
    return b.binary("div", v, b.binary("add", size, missing));
  };
  return {sumOver(b, product(b, normed(x), normed(y)), d)};
}

} // namespace

std::span<const Pt2Row> pt2Losses() {
  static constexpr Pt2Row rows[] = {
      {"binary_cross_entropy", binaryCrossEntropy},
      {"binary_cross_entropy_with_logits", binaryCrossEntropyOfScores},
      {"cdist", distances},
      {"cosine_embedding_loss", cosineLoss},
      {"cosine_similarity", cosineSimilarity},
      {"cross_entropy_loss", lossOfClasses, "softmax"},
      {"hinge_embedding_loss", hinge},
      {"huber_loss", lossWithLimit, "huber"},
      {"kl_div", divergence},
      {"l1_loss", lossOfDifference, "magnitude"},
      {"margin_ranking_loss", ranking},
      {"mse_loss", lossOfDifference, "square"},
      {"nll_loss", lossOfClasses},
      {"nll_loss_nd", lossOfClasses},
      {"pairwise_distance", pairwiseDistance},
      {"pdist", distancesOfPairs},
      {"poisson_nll_loss", poissonLoss},
      {"smooth_l1_loss", lossWithLimit, "smooth"},
      {"soft_margin_loss", softMargin},
      {"triplet_margin_loss", triplet}};
  return rows;
}

} // namespace tenon
