// SPDX-License-Identifier: BSD-2-Clause
// Recognises spherical harmonic transforms and convolutions: members of ModelBuilder. A model has
//
//   X = fourier(x)                     along the last dimension, lowest orders only
//   c = Contraction(X, table)          sum over the rows: [b, c, l, m], orders in natural order
//   d = Contraction(c, weight)         optional, over channels: einsum("bilm,iol->bolm")
//   Y = Contraction(d, table)          sum over the degrees
//   y = inverseFourier(Y)              of both parts, some imaginary ones multiplied by 0
//
// with transposes anywhere, and factors, such as 2 pi, in the tables or elsewhere. A table is
// compared with those that layers compute (legendre_table.hpp); the factors together are one
// number, 1 as a rule. harmonicsOf() follows a value back to x. When inverseFourier() is called,
// inverseHarmonics() makes one value of all five. If anything else happened to the coefficients, it
// makes an inverse transform of their pairs, and computePairs() a transform of those that are read.
#include "import/canonical/model_builder.hpp"

#include "kernels/sphere/rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon {

namespace {

// Factors that differ from 1 by the rounding of tables in float32 are 1.
constexpr double kFactorTolerance = 1e-7;

double withoutRounding(double factor) {
  return std::abs(factor - 1) < kFactorTolerance ? 1 : factor;
}

double fourierFactor(const std::string& norm, double count, bool isInverse) {
  if (norm == "ortho")
    return 1 / std::sqrt(count);
  return (norm == "forward") == isInverse ? 1 : 1 / count;
}

// A Fourier transform as a model uses it: dims[d] is the dimension of the transform that is
// dimension d of the value.
struct Circles {
  const ModelValue* transform;
  std::vector<int> dims;
  double factor = 1;
};

// A value whose pairs are those of another one times a number.
const ModelValue* unscaled(const ModelValue* z, double& factor) {
  if (z->op != ModelOp::Complex || z->inputs[0]->op != ModelOp::Affine || z->inputs[0]->dim >= 0 ||
      z->inputs[0]->shift != std::vector<double>{0} ||
      z->inputs[0]->inputs[0]->op != ModelOp::Pairs)
    return nullptr;
  factor *= z->inputs[0]->scale[0];
  return z->inputs[0]->inputs[0]->inputs[0];
}

std::optional<Circles> circlesOf(const ModelValue* z) {
  if (z->op == ModelOp::Fourier) {
    if (z->dims != std::vector<int>{z->ndim() - 1})
      return std::nullopt;
    Circles circles{.transform = z, .dims = {}};
    for (int d = 0; d < z->ndim(); ++d)
      circles.dims.push_back(d);
    return circles;
  }
  double factor = 1;
  if (const ModelValue* same = unscaled(z, factor)) {
    auto circles = circlesOf(same);
    if (circles)
      circles->factor *= factor;
    return circles;
  }
  if (z->op == ModelOp::Transpose) {
    auto circles = circlesOf(z->inputs[0]);
    if (circles) {
      std::vector<int> dims;
      for (const int d : z->dims)
        dims.push_back(circles->dims[static_cast<std::size_t>(d)]);
      circles->dims = dims;
    }
    return circles;
  }
  // The lowest orders.
  if (z->op != ModelOp::Slice || z->begin != 0 || z->step != 1)
    return std::nullopt;
  const auto circles = circlesOf(z->inputs[0]);
  return circles && circles->dims[static_cast<std::size_t>(z->dim)] == z->ndim() - 1 ? circles
                                                                                     : std::nullopt;
}

} // namespace

// Labels b[..], c[..] of x and of the result, and those of the table: the order is in all three.
std::optional<ModelBuilder::TableUse> ModelBuilder::tableUse(Value z, bool isSynthesis) {
  if (z->op != ModelOp::Contraction || z->inputs[1]->isComplex() || z->inputs[1]->ndim() != 3)
    return std::nullopt;
  TableUse use{};
  use.labels = *labelsOf(z->function, z->inputs[0], z->inputs[1]);
  const ModelValue& table = *z->inputs[1];
  std::vector<int> order(3, -1); // of the table's dimensions: order, degree, row
  for (int d = 0; d < 3; ++d) {
    const char label = use.labels.w[static_cast<std::size_t>(d)];
    const bool isInX = use.labels.x.find(label) != std::string::npos,
               isInY = use.labels.y.find(label) != std::string::npos;
    (isInX && isInY ? use.order : isInX ? use.inner : use.outer) = label;
    order[isInX && isInY ? 0 : isInX == isSynthesis ? 1 : 2] = d;
  }
  if (std::ranges::find(order, -1) != order.end() || use.labels.y.size() != use.labels.x.size())
    return std::nullopt;
  const ModelConstant constant = table.asConstant().transposed(order);
  use.tableOrders = constant.shape()[0];
  use.degrees = constant.shape()[1];
  use.orders = std::min(use.tableOrders, use.degrees);
  use.rows = constant.shape()[2];
  std::string key = isSynthesis ? "synthesis" : "analysis";
  if (constant.isNumbers())
    key += " " + std::to_string(table.asConstant().identity());
  for (const int d : order)
    key += " " + std::to_string(d);
  for (const ModelConstant::Piece& piece : constant.pieces())
    key += " " + piece.text();
  auto found = legendreTables_.find(key);
  if (found == legendreTables_.end())
    found = legendreTables_.emplace(key, recognisedTable(weights_, constant, isSynthesis)).first;
  if (!found->second)
    return std::nullopt;
  use.table = *found->second;
  return use;
}

// The result is stored: computePairs() changes values on the way from z to its field.
std::optional<ModelBuilder::Harmonics> ModelBuilder::harmonicsOf(Value z) {
  if (const auto known = harmonics_.find(z); known != harmonics_.end())
    return known->second;
  const auto harmonics =
      tables_ == ModelTables::Computed && !isComputingPairs_ ? foundHarmonics(z) : std::nullopt;
  harmonics_[z] = harmonics;
  return harmonics;
}

std::optional<ModelBuilder::Harmonics> ModelBuilder::foundHarmonics(Value z) {
  if (z->op == ModelOp::Contraction)
    return z->inputs[1]->isComplex()
               ? weighted(z, *labelsOf(z->function, z->inputs[0], z->inputs[1]),
                          z->inputs[1]->inputs[0])
               : analysed(z);
  if (z->op == ModelOp::Modes && z->inputs[1]->op == ModelOp::Complex)
    if (const auto labels = labelsOf(einsumOfModes(z->ndim()), z->inputs[0], z->inputs[1]))
      return weighted(z, *labels, z->inputs[1]->inputs[0]);
  if (z->op == ModelOp::Reshape)
    return regrouped(z);
  double factor = 1;
  const Value source = z->op == ModelOp::Transpose ? z->inputs[0] : unscaled(z, factor);
  if (!source)
    return std::nullopt;
  std::optional<Harmonics> harmonics = harmonicsOf(source);
  if (!harmonics)
    return std::nullopt;
  harmonics->factor *= factor;
  if (z->op == ModelOp::Transpose) {
    const std::string roles = harmonics->roles;
    for (std::size_t d = 0; d < roles.size(); ++d)
      harmonics->roles[d] = roles[static_cast<std::size_t>(z->dims[d])];
  }
  return harmonics;
}

// The coefficients of a field: a sum over the rows of its circles.
std::optional<ModelBuilder::Harmonics> ModelBuilder::analysed(Value z) {
  const auto circles = circlesOf(z->inputs[0]);
  if (!circles)
    return std::nullopt;
  const auto use = tableUse(z, /*isSynthesis=*/false);
  const Value x = circles->transform->inputs[0];
  const int rank = x->ndim();
  if (!use || rank < 2 || x->shape.back() == 0)
    return std::nullopt;
  const Index columns = x->shape.back();
  const auto dimOf = [&](char label) {
    const std::size_t d = use->labels.x.find(label);
    return d == std::string::npos ? -1 : circles->dims[d];
  };
  if (dimOf(use->order) != rank - 1 || dimOf(use->inner) != rank - 2 ||
      use->orders > columns / 2 + 1)
    return std::nullopt;
  Harmonics harmonics{.x = x, .roles = {}, .sphere = {}, .allOrders = use->tableOrders};
  for (const char label : use->labels.y)
    if (label == use->order || label == use->outer)
      harmonics.roles += label == use->order ? 'm' : 'l';
    else
      harmonics.roles += static_cast<char>((rank == 4 ? 'b' : 'B') + dimOf(label));
  harmonics.sphere = {.degrees = use->degrees,
                      .orders = use->orders,
                      .grid = use->table.grid,
                      .isSchmidt = use->table.isSchmidt,
                      .hasSign = use->table.hasSign,
                      .southFirst = use->table.southFirst};
  const auto count = static_cast<double>(columns);
  harmonics.factor = use->table.factor * circles->factor *
                     fourierFactor(circles->transform->function, count, /*isInverse=*/false) *
                     count / (2 * std::numbers::pi);
  return harmonics;
}

// Channels become groups of channels, or groups of channels become channels.
std::optional<ModelBuilder::Harmonics> ModelBuilder::regrouped(Value z) {
  std::optional<Harmonics> harmonics = harmonicsOf(z->inputs[0]);
  if (!harmonics)
    return std::nullopt;
  Shape before = z->inputs[0]->shape, after = z->shape;
  std::string& roles = harmonics->roles;
  const auto replaceDim = [](Shape& shape, std::size_t d) {
    shape[d] *= shape[d + 1];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  };
  if (const std::size_t c = roles.find('c');
      c != std::string::npos && after.size() == before.size() + 1) {
    roles.replace(c, 1, "gi");
    replaceDim(after, c);
  } else if (const std::size_t g = roles.find("gi");
             g != std::string::npos && before.size() == after.size() + 1) {
    roles.replace(g, 2, "c");
    replaceDim(before, g);
  } else {
    return std::nullopt;
  }
  return before == after ? harmonics : std::nullopt;
}

// Orders in their natural sequence, or as layers store them, in dimension 2 of coefficients.
ModelBuilder::Value ModelBuilder::orderedModes(Value c, Index orders, bool isNatural) {
  std::vector<Index> places(static_cast<std::size_t>(orders));
  for (Index place = 0; place < orders; ++place) {
    const Index order = orderAtPlace(place, orders);
    places[static_cast<std::size_t>(isNatural ? order : place)] = isNatural ? place : order;
  }
  return gather(c, 2, integers(places));
}

// The coefficients [n, c, orders, degrees, 2] of a field with any number of leading dimensions,
// which become two; without the factor.
ModelBuilder::Value ModelBuilder::transformOf(const Harmonics& harmonics) {
  const Shape& field = harmonics.x->shape;
  const auto rows = field.end() - 2;
  const Index batch = field.size() > 2 ? field[0] : 1,
              channels = elements(Shape(field.begin() + (field.size() > 2 ? 1 : 0), rows));
  const Value x = reshape(harmonics.x, {batch, channels, rows[0], rows[1]});
  ModelValue* result =
      make(ModelOp::HarmonicTransform, {x},
           {batch, channels, harmonics.sphere.orders, harmonics.sphere.degrees, 2});
  result->sphere = harmonics.sphere;
  return result;
}

// The pairs of coefficients, as the model has them.
ModelBuilder::Value ModelBuilder::harmonicPairs(const Harmonics& harmonics) {
  const ModelSphere& sphere = harmonics.sphere;
  Value c = orderedModes(transformOf(harmonics), sphere.orders, /*isNatural=*/true);
  c = pad(c, 2, 0, harmonics.allOrders - sphere.orders, "values");
  Shape shape(harmonics.x->shape.begin(), harmonics.x->shape.end() - 2);
  const auto leading = static_cast<int>(shape.size());
  shape.insert(shape.end(), {harmonics.allOrders, sphere.degrees, 2});
  c = reshape(c, shape);
  std::vector<int> order;
  for (const char role : harmonics.roles)
    order.push_back(role == 'm'   ? leading
                    : role == 'l' ? leading + 1
                                  : role - (leading == 2 ? 'b' : 'B'));
  order.push_back(leading + 2);
  return affine(transpose(c, order), {withoutRounding(harmonics.factor)}, {0});
}

// The value whose imaginary part is multiplied by 0 where inverse transforms of real numbers do not
// read it: at mode 0, and at the highest mode of an even number of columns. `dim` is that of the
// modes. Null for other values.
ModelBuilder::Value ModelBuilder::unmasked(Value z, int dim, Index columns) {
  if (z->op != ModelOp::Complex || z->inputs[0]->op != ModelOp::Concatenate ||
      z->inputs[0]->inputs.size() != 2 || z->inputs[0]->dim != z->ndim())
    return nullptr;
  Value masked = z->inputs[0]->inputs[1];
  if (masked->op == ModelOp::Reshape)
    masked = masked->inputs[0];
  if (masked->op != ModelOp::Affine || masked->dim != dim ||
      std::ranges::any_of(masked->shift, [](double shift) { return shift != 0; }))
    return nullptr;
  for (std::size_t m = 0; m < masked->scale.size(); ++m)
    if (masked->scale[m] != 1 && m != 0 && 2 * static_cast<Index>(m) != columns)
      return nullptr;
  const auto partOf = [&](Value v) { return v->ndim() > z->ndim() ? unitPart(v) : partIn(v); };
  const auto real = partOf(z->inputs[0]->inputs[0]), other = partOf(masked->inputs[0]);
  return real && other && real->which == 0 && other->which == 1 && isSame(real->whole, other->whole)
             ? real->whole
             : nullptr;
}

// The inverse transform of z along its last dimension, if z are circles of coefficients; null
// otherwise. The rows are the last dimension but one.
ModelBuilder::Value ModelBuilder::inverseHarmonics(Value z, Index columns,
                                                   const std::string& norm) {
  double factor = 1;
  std::vector<int> dims; // dimension of the contraction for each dimension of z
  for (int d = 0; d < z->ndim(); ++d)
    dims.push_back(d);
  const Shape circles = z->shape;
  for (Value next = z; next;) {
    z = next;
    const int modes = dims.back();
    next = unmasked(z, modes, columns);
    if (!next)
      next = unscaled(z, factor);
    if (!next && z->op == ModelOp::Transpose) {
      for (int& d : dims)
        d = z->dims[static_cast<std::size_t>(d)];
      next = z->inputs[0];
    }
    // Zeros of higher modes.
    if (!next && z->op == ModelOp::Pad && z->dim == modes && z->low[0] == 0 &&
        z->modes[0] == "values" && z->padValue == 0.0)
      next = z->inputs[0];
  }
  const auto use = tableUse(z, /*isSynthesis=*/true);
  const int rank = z->ndim();
  if (!use || rank < 2 || use->orders > columns / 2 + 1)
    return nullptr;
  const auto labelAt = [&](int d) {
    return use->labels.y[static_cast<std::size_t>(dims[static_cast<std::size_t>(d)])];
  };
  if (labelAt(rank - 1) != use->order || labelAt(rank - 2) != use->outer)
    return nullptr;
  factor *= use->table.factor * fourierFactor(norm, static_cast<double>(columns), true);
  // Coefficients with the leading dimensions of the result, then orders and degrees.
  std::vector<int> order;
  for (int d = 0; d < rank - 2; ++d)
    order.push_back(static_cast<int>(use->labels.x.find(labelAt(d))));
  order.push_back(static_cast<int>(use->labels.x.find(use->order)));
  order.push_back(static_cast<int>(use->labels.x.find(use->inner)));
  Shape field = circles;
  field.back() = columns;
  return synthesised(transpose(z->inputs[0], order), *use, field, factor);
}

// The field of coefficients z [leading dimensions, orders, degrees].
ModelBuilder::Value ModelBuilder::synthesised(Value z, const TableUse& use, const Shape& field,
                                              double factor) {
  ModelSphere sphere = {.degrees = use.degrees,
                        .orders = use.orders,
                        .grid = use.table.grid,
                        .outputGrid = use.table.grid,
                        .isSchmidt = use.table.isSchmidt,
                        .hasSign = use.table.hasSign,
                        .southFirst = use.table.southFirst,
                        .size = {use.rows, field.back()}};
  const auto harmonics = harmonicsOf(z);
  const auto isAlike = [&](const ModelSphere& other) {
    return other.degrees == sphere.degrees && other.orders == sphere.orders &&
           other.isSchmidt == sphere.isSchmidt && other.hasSign == sphere.hasSign &&
           other.southFirst == sphere.southFirst;
  };
  const std::size_t leading = field.size() - 2;
  std::string plainRoles = leading == 2 ? "bc" : "";
  for (std::size_t d = 0; leading != 2 && d < leading; ++d)
    plainRoles += static_cast<char>('B' + d);
  const bool isWhole =
      harmonics && isAlike(harmonics->sphere) && harmonics->roles == plainRoles + "ml";
  if (isWhole && harmonics->weight) {
    sphere.grid = harmonics->sphere.grid;
    sphere.weights = harmonics->sphere.weights;
    ModelValue* y = make(ModelOp::SphericalConvolution, {harmonics->x, harmonics->weight}, field);
    y->sphere = sphere;
    y->groups = harmonics->groups;
    return affine(y, {withoutRounding(factor * harmonics->factor)}, {0});
  }
  const Index batch = leading > 0 ? field[0] : 1,
              channels = elements(Shape(field.begin() + (leading > 0 ? 1 : 0), field.end() - 2));
  Value c = nullptr;
  if (isWhole) {
    c = transformOf(*harmonics);
    factor *= harmonics->factor;
  } else {
    c = reshape(pairsOf(z), {batch, channels, use.tableOrders, use.degrees, 2});
    c = orderedModes(slice(c, 2, 0, use.orders), use.orders, /*isNatural=*/false);
  }
  ModelValue* y =
      make(ModelOp::InverseHarmonicTransform, {c}, {batch, channels, use.rows, field.back()});
  y->sphere = sphere;
  return affine(reshape(y, field), {withoutRounding(factor)}, {0});
}

} // namespace tenon
