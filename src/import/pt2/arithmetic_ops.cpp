// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: arithmetic, comparisons, selections and type conversions. Each function reads
// the arguments of an operation by name (Operands) and appends values to the canonical graph by the
// builder b; self() is the first argument. The table at the end has a row per family of operators:
// name, function, and the function's last argument `variant`, which selects what a shared function
// computes (operator_rows.hpp). Comparisons return 0 and 1, because layers have real numbers only.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues unchanged(ModelBuilder&, const Operands& operands, const char*) {
  return {self(operands)};
}
// The value itself, without a gradient for it.
ModelValues detached(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.stopped(self(operands))};
}
// Returns an argument as 0 and 1: a number is true if it is not 0.
Value flagsOf(ModelBuilder& b, const Operands& operands, const char* name) {
  const Value x = operands.needed(name);
  return operands.isFlag(name) ? x : b.compare("ne", x, b.number(0));
}
// The type that a conversion is to; none if it keeps that of its argument.
std::optional<Index> typeOf(const Operands& operands) {
  if (operands.has("dtype"))
    return operands.integer("dtype");
  if (const Value other = operands.value("other"))
    return operands.isFlag("other")      ? TorchType::kBool
           : operands.isInteger("other") ? TorchType::kInt64
           : other->isComplex()          ? TorchType::kFirstComplex
                                         : TorchType::kFloat32;
  return std::nullopt;
}
// Whether integers are the same ones in a type; narrower types would wrap others around.
bool areOfType(ModelBuilder& b, const Operands& operands, Value x, Index type) {
  if (operands.isFlag("self"))
    return true;
  if (!operands.isInteger("self") && !(x->isConstant() && x->asConstant().isInteger()))
    return false;
  if (type > TorchType::kInt16)
    return true;
  const Index most = type == TorchType::kUint8   ? 255
                     : type == TorchType::kInt16 ? 32767
                                                 : 127,
              least = type == TorchType::kUint8 ? 0 : -most - 1;
  return x->isKnown() && std::ranges::all_of(b.integersOf(x, "an integer"),
                                             [&](Index i) { return i >= least && i <= most; });
}
// Converts the element type. Between real types this changes nothing, because a run has one type.
ModelValues converted(ModelBuilder& b, const Operands& operands, const char*) {
  Value x = self(operands);
  const std::optional<Index> type = typeOf(operands);
  if (!type)
    return {x};
  if (*type >= TorchType::kFirstComplex && *type <= TorchType::kLastComplex)
    return {x->isComplex() ? x : b.ofParts({x, b.affine(x, {0}, {0})})};
  if (*type == TorchType::kBool && !x->isComplex())
    return {flagsOf(b, operands, "self")};
  if (x->isComplex()) // the imaginary part is lost
    x = b.partsOf(x).real;
  if (TorchType::isReal(*type))
    return {x};
  if (TorchType::isInteger(*type) && areOfType(b, operands, x, *type))
    return {x};
  if (*type == TorchType::kInt32 || *type == TorchType::kInt64)
    return {b.truncated(x)};
  return {b.refuse("a conversion to integers of fewer than 32 bits, or to another type",
                   "32 or 64 bits, or real numbers", x->shape)};
}
// `alpha` is a factor of the second operand.
ModelValues arithmetic(ModelBuilder& b, const Operands& operands, const char* variant) {
  Value other = operands.needed("other");
  if (operands.has("alpha"))
    other = b.binary("mul", other, operands.value("alpha"));
  if (operands.has("rounding_mode"))
    variant = operands.text("rounding_mode", "") == "floor" ? "floordiv" : "truncdiv";
  return {b.binary(variant, self(operands), other)};
}
// other - alpha self.
ModelValues reversedSub(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.binary("sub", operands.needed("other"),
                   b.affine(self(operands), {operands.real("alpha", 1)}, {0}))};
}
ModelValues angleOfPoint(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.angle(self(operands), operands.needed("other"))};
}
ModelValues angleOfComplex(ModelBuilder& b, const Operands& operands, const char*) {
  const Value z = self(operands);
  const ModelBuilder::Parts parts = b.partsOf(z);
  return {b.angle(z->isComplex() ? parts.imaginary : b.number(0), parts.real)};
}
ModelValues hypotenuse(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), y = operands.needed("other");
  return {b.rootOfSquares(b.binary("add", b.binary("mul", x, x), b.binary("mul", y, y)))};
}
// The number of boundaries (which increase) below each element; with `right` also of equal ones.
ModelValues bucket(ModelBuilder& b, const Operands& operands, const char* variant) {
  const bool isSearch = *variant == 's';
  const Value x = self(operands),
              limits = operands.needed(isSearch ? "sorted_sequence" : "boundaries");
  const bool isRight = operands.flag("right", false) || operands.text("side", "left") == "right";
  if (limits->ndim() != 1 || operands.has("sorter"))
    return {b.refuse("a search in several lists, or in one that is not sorted",
                     "one list that is sorted", x->shape)};
  Shape shape = x->shape;
  shape.push_back(1);
  return {b.reduce("sum", b.compare(isRight ? "ge" : "gt", b.reshape(x, shape), limits),
                   {x->ndim()}, /*keeps=*/false)};
}
// Whether each element is one of a list.
ModelValues isIn(ModelBuilder& b, const Operands& operands, const char*) {
  const auto either = [&](const char* tensor, const char* number) {
    const Value x = operands.value(tensor);
    return x ? x : operands.needed(number);
  };
  operands.has("assume_unique"); // how PyTorch searches
  const Value x = either("elements", "element"), list = either("test_elements", "test_element");
  Shape shape = x->shape;
  shape.push_back(1);
  const Value count = b.reduce("sum", b.compare("eq", b.reshape(x, shape), b.reshape(list, {-1})),
                               {x->ndim()}, /*keeps=*/false);
  const char* relation = operands.flag("invert", false) ? "eq" : "ne";
  return {b.compare(relation, count, b.number(0))};
}
// Vectors of three components, along one dimension.
ModelValues cross(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), y = operands.needed("other");
  const Shape shape = b.broadcast(x->shape, y->shape);
  const int rank = static_cast<int>(shape.size());
  int d = rank - 1;
  if (operands.has("dim"))
    d = b.dimension(operands.integer("dim"), rank);
  else if (operands.operation().type.starts_with("aten.cross")) // the first one of three
    d = static_cast<int>(std::ranges::find(shape, 3) - shape.begin());
  b.check(d < rank && shape[static_cast<std::size_t>(d)] == 3, "it has no vectors of 3 components");
  const Value p = b.expand(x, shape), q = b.expand(y, shape);
  const auto product = [&](Index by) {
    return b.binary("mul", b.roll(p, d, by), b.roll(q, d, -by));
  };
  return {b.binary("sub", product(-1), product(1))};
}
ModelValues power(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.binary("pow", self(operands), operands.needed("exponent"))};
}
// Whether the arguments of an operation on bits are truth values, whose bits are logical.
bool areFlags(const Operands& operands) {
  return operands.isFlag("self") && (!operands.has("other") || operands.isFlag("other"));
}
// `variant`: the operation; "ne" is the exclusive or.
ModelValues bitwise(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  if (!areFlags(operands))
    return {b.refuse("an operation on the bits of integers", "booleans", x->shape)};
  return {std::string_view(variant) == "not" ? b.unary("not", x)
                                             : b.compare(variant, x, operands.needed("other"))};
}
ModelValues logic(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.compare(variant, flagsOf(b, operands, "self"), flagsOf(b, operands, "other"))};
}
// Logical negation.
ModelValues inverse(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary("not", flagsOf(b, operands, "self"))};
}
ModelValues comparison(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.compare(variant, self(operands), operands.needed("other"))};
}
// Only NaN differs from itself.
ModelValues isNaN(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.compare("ne", self(operands), self(operands))};
}
ModelValues sign(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.sign(self(operands))};
}
// 0 below 0, 1 above, `values` at 0.
ModelValues heaviside(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), zero = b.number(0);
  return {b.where(b.compare("eq", x, zero), operands.needed("values"), b.compare("gt", x, zero))};
}
ModelValues threshold(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  // Not "greater", which is false for NaN; PyTorch returns NaN.
  return {b.where(b.compare("le", x, operands.needed("threshold")), operands.needed("value"), x)};
}
// self + value * tensor1 op tensor2, where op is * or /.
ModelValues addProduct(ModelBuilder& b, const Operands& operands, const char* variant) {
  Value term = b.binary(variant, operands.needed("tensor1"), operands.needed("tensor2"));
  if (operands.has("value"))
    term = b.binary("mul", term, operands.value("value"));
  return {b.binary("add", self(operands), term)};
}
// start + weight (end - start).
ModelValues interpolated(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {b.binary(
      "add", x,
      b.binary("mul", b.binary("sub", operands.needed("end"), x), operands.needed("weight")))};
}
ModelValues maskedFill(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.where(operands.needed("mask"), operands.needed("value"), self(operands))};
}
ModelValues where(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.where(operands.needed("condition"), operands.needed("self"), operands.needed("other"))};
}

constexpr Pt2Row kArithmeticRows[] = {{"__and__", bitwise, "and"},
                                      {"__iand__", bitwise, "and"},
                                      {"__ior__", bitwise, "or"},
                                      {"__ixor__", bitwise, "ne"},
                                      {"__or__", bitwise, "or"},
                                      {"__xor__", bitwise, "ne"},
                                      {"_to_copy", converted},
                                      {"add", arithmetic, "add"},
                                      {"addcdiv", addProduct, "div"},
                                      {"addcmul", addProduct, "mul"},
                                      {"alias", unchanged},
                                      {"angle", angleOfComplex},
                                      {"arctan2", angleOfPoint},
                                      {"atan2", angleOfPoint},
                                      {"bitwise_and", bitwise, "and"},
                                      {"bitwise_not", bitwise, "not"},
                                      {"bitwise_or", bitwise, "or"},
                                      {"bitwise_xor", bitwise, "ne"},
                                      {"bucketize", bucket, "buckets"},
                                      {"clone", unchanged},
                                      {"contiguous", unchanged},
                                      {"cross", cross},
                                      {"detach", detached},
                                      {"div", arithmetic, "truediv"},
                                      {"divide", arithmetic, "truediv"},
                                      {"eq", comparison, "eq"},
                                      {"float_power", power},
                                      {"floor_divide", arithmetic, "floordiv"},
                                      {"fmod", arithmetic, "fmod"},
                                      {"ge", comparison, "ge"},
                                      {"greater", comparison, "gt"},
                                      {"greater_equal", comparison, "ge"},
                                      {"gt", comparison, "gt"},
                                      {"heaviside", heaviside},
                                      {"hypot", hypotenuse},
                                      {"isin", isIn},
                                      {"isnan", isNaN},
                                      {"le", comparison, "le"},
                                      {"lerp", interpolated},
                                      {"less", comparison, "lt"},
                                      {"less_equal", comparison, "le"},
                                      {"lift_fresh_copy", unchanged},
                                      {"linalg_cross", cross},
                                      {"logical_and", logic, "and"},
                                      {"logical_not", inverse},
                                      {"logical_or", logic, "or"},
                                      {"logical_xor", logic, "ne"},
                                      {"lt", comparison, "lt"},
                                      {"masked_fill", maskedFill},
                                      {"maximum", arithmetic, "max"},
                                      {"minimum", arithmetic, "min"},
                                      {"mul", arithmetic, "mul"},
                                      {"multiply", arithmetic, "mul"},
                                      {"ne", comparison, "ne"},
                                      {"not_equal", comparison, "ne"},
                                      {"positive", unchanged},
                                      {"pow", power},
                                      {"remainder", arithmetic, "mod"},
                                      {"rsub", reversedSub},
                                      {"searchsorted", bucket, "search"},
                                      {"sign", sign},
                                      {"sub", arithmetic, "sub"},
                                      {"subtract", arithmetic, "sub"},
                                      {"threshold", threshold},
                                      {"to", converted},
                                      {"true_divide", arithmetic, "truediv"},
                                      {"type_as", converted},
                                      {"where", where}};

} // namespace

std::span<const Pt2Row> pt2Arithmetic() {
  return kArithmeticRows;
}

} // namespace tenon
