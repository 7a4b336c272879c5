// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's arithmetic, comparisons, choices and conversions of elements. Comparisons give 0 and 1,
// since tensors of a run have no flags.
#include "import/pt2/operator_rows.hpp"

#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues same(ModelBuilder&, const Operands& given, const char*) {
  return {self(given)};
}
// An argument as 0 and 1: a number is true where it is not 0.
Value flagsOf(ModelBuilder& b, const Operands& given, const char* name) {
  const Value x = given.needed(name);
  return given.isFlag(name) ? x : b.compare("ne", x, b.number(0));
}
// A conversion of the elements; between real types it changes nothing, as the run has its own.
ModelValues converted(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const Index type = given.integer("dtype", 7); // PyTorch's number: 6, 7, 8 and 13 are real
  if (type == 6 || type == 7 || type == 8 || type == 13 ||
      (x->isConstant() && x->asConstant().isInteger()))
    return {x};
  constexpr Index kBool = 12;
  if (type == kBool)
    return {flagsOf(b, given, "self")};
  return {b.refuse("a conversion to integers or flags", "real numbers", x->shape)};
}
ModelValues arithmetic(ModelBuilder& b, const Operands& given, const char* of) {
  Value other = given.needed("other");
  if (given.has("alpha"))
    other = b.binary("mul", other, given.value("alpha"));
  if (given.has("rounding_mode"))
    return {b.refuse("a division that rounds", "a division of real numbers", self(given)->shape)};
  return {b.binary(of, self(given), other)};
}
ModelValues reversedSub(ModelBuilder& b, const Operands& given, const char*) {
  b.check(given.real("alpha", 1) == 1, "it has a factor alpha");
  return {b.binary("sub", given.needed("other"), self(given))};
}
ModelValues power(ModelBuilder& b, const Operands& given, const char*) {
  return {b.binary("pow", self(given), given.needed("exponent"))};
}
ModelValues logic(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.compare(of, flagsOf(b, given, "self"), flagsOf(b, given, "other"))};
}
ModelValues inverse(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("not", flagsOf(b, given, "self"))};
}
ModelValues comparison(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.compare(of, self(given), given.needed("other"))};
}
// Only NaN is not equal to itself.
ModelValues isNaN(ModelBuilder& b, const Operands& given, const char*) {
  return {b.compare("ne", self(given), self(given))};
}
ModelValues sign(ModelBuilder& b, const Operands& given, const char*) {
  return {b.sign(self(given))};
}
ModelValues heaviside(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), zero = b.number(0);
  return {b.where(b.compare("eq", x, zero), given.needed("values"), b.compare("gt", x, zero))};
}
ModelValues threshold(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  // Not "greater", of which NaN is none.
  return {b.where(b.compare("le", x, given.needed("threshold")), given.needed("value"), x)};
}
// self + value times or by
ModelValues addProduct(ModelBuilder& b, const Operands& given, const char* of) {
  Value term = b.binary(of, given.needed("tensor1"), given.needed("tensor2"));
  if (given.has("value"))
    term = b.binary("mul", term, given.value("value"));
  return {b.binary("add", self(given), term)};
}
ModelValues interpolated(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.binary(
      "add", x, b.binary("mul", b.binary("sub", given.needed("end"), x), given.needed("weight")))};
}
ModelValues maskedFill(ModelBuilder& b, const Operands& given, const char*) {
  return {b.where(given.needed("mask"), given.needed("value"), self(given))};
}
ModelValues where(ModelBuilder& b, const Operands& given, const char*) {
  return {b.where(given.needed("condition"), given.needed("self"), given.needed("other"))};
}

} // namespace

std::span<const Pt2Row> pt2Arithmetic() {
  static constexpr Pt2Row rows[] = {{"__and__", logic, "and"},
                                    {"__or__", logic, "or"},
                                    {"_to_copy", converted},
                                    {"add", arithmetic, "add"},
                                    {"addcdiv", addProduct, "div"},
                                    {"addcmul", addProduct, "mul"},
                                    {"alias", same},
                                    {"bitwise_and", logic, "and"},
                                    {"bitwise_not", inverse},
                                    {"bitwise_or", logic, "or"},
                                    {"clone", same},
                                    {"contiguous", same},
                                    {"detach", same},
                                    {"div", arithmetic, "truediv"},
                                    {"divide", arithmetic, "truediv"},
                                    {"eq", comparison, "eq"},
                                    {"ge", comparison, "ge"},
                                    {"gt", comparison, "gt"},
                                    {"heaviside", heaviside},
                                    {"isnan", isNaN},
                                    {"le", comparison, "le"},
                                    {"lerp", interpolated},
                                    {"lift_fresh_copy", same},
                                    {"logical_and", logic, "and"},
                                    {"logical_not", inverse},
                                    {"logical_or", logic, "or"},
                                    {"lt", comparison, "lt"},
                                    {"masked_fill", maskedFill},
                                    {"maximum", arithmetic, "max"},
                                    {"minimum", arithmetic, "min"},
                                    {"mul", arithmetic, "mul"},
                                    {"multiply", arithmetic, "mul"},
                                    {"ne", comparison, "ne"},
                                    {"pow", power},
                                    {"rsub", reversedSub},
                                    {"sign", sign},
                                    {"sub", arithmetic, "sub"},
                                    {"subtract", arithmetic, "sub"},
                                    {"threshold", threshold},
                                    {"to", converted},
                                    {"true_divide", arithmetic, "truediv"},
                                    {"where", where}};
  return rows;
}

} // namespace tenon
