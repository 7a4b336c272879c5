// SPDX-License-Identifier: BSD-2-Clause
// Sums over products of complex values with constants, as symbols: members of ModelBuilder. Models
// on the sphere write such a sum in several ways, for a table P of real numbers for example
//
//   complex(einsum(real(z), P), einsum(imag(z), P))      both parts, each by itself
//   zeros, whose elements [..., 0] and [..., 1] are overwritten by the two sums
//   einsum(z, complex weight), or the product of z with weights that are broadcast
//
// All of them become one value Contraction(z, P), so sphere/spherical.cpp can recognise transforms.
// To this end the parts of a transform are symbols too (Pairs), and einsum() notes its factors.
// What no transform has taken is computed at the end (computePairs()): then the parts of a value
// become those that complex.cpp makes, in all values that read them. Class ModelBuilder is in
// model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace tenon {

namespace {

Shape withoutLast(Shape shape) {
  shape.pop_back();
  return shape;
}

Shape withUnit(Shape shape) {
  shape.push_back(1);
  return shape;
}

std::vector<int> withoutLastDim(std::vector<int> permutation) {
  permutation.pop_back();
  return permutation;
}

bool isMovement(const ModelValue* v) {
  return v->op == ModelOp::Slice || v->op == ModelOp::Reshape || v->op == ModelOp::Transpose;
}

} // namespace

// -- real sums

ModelBuilder::Value ModelBuilder::unshaped(Value v) {
  return v->op == ModelOp::Reshape ? unshaped(v->inputs[0]) : v;
}

void ModelBuilder::noteContraction(const std::string& equation, Value x, Value table,
                                   Value result) {
  if (table->isKnown() && !x->isConstant() && !x->isComplex())
    contractions_[unshaped(result)].push_back({equation, x, table, result->shape});
}

const ModelBuilder::RealContraction* ModelBuilder::contractionOf(Value v) const {
  const auto found = contractions_.find(unshaped(v));
  if (found == contractions_.end())
    return nullptr;
  for (const RealContraction& made : found->second)
    if (made.shape == v->shape || withUnit(made.shape) == v->shape)
      return &made;
  return nullptr;
}

bool ModelBuilder::isSame(Value a, Value b) {
  return a == b || (a->op == b->op && isMovement(a) && a->shape == b->shape && a->dim == b->dim &&
                    a->dims == b->dims && a->begin == b->begin && a->end == b->end &&
                    a->step == b->step && isSame(a->inputs[0], b->inputs[0]));
}

// Whether two constants have the same elements of the file, or are one computed constant.
bool ModelBuilder::isSameTable(Value a, Value b) {
  if (a == b)
    return true;
  const ModelConstant &p = a->asConstant(), &q = b->asConstant();
  if (p.isNumbers() || q.isNumbers())
    return p.identity() != 0 && p.identity() == q.identity() && p.shape() == q.shape();
  return p.shape() == q.shape() && p.dim() == q.dim() &&
         std::ranges::equal(p.pieces(), q.pieces(), {}, &ModelConstant::Piece::text,
                            &ModelConstant::Piece::text);
}

// -- parts

// The complex value of pairs [..., 2], if they are those of one; null otherwise.
ModelBuilder::Value ModelBuilder::unpaired(Value pairs) {
  if (pairs->op == ModelOp::Pairs)
    return pairs->inputs[0];
  if (const auto known = complexes_.find(pairs); known != complexes_.end())
    return known->second;
  const int last = pairs->ndim() - 1;
  if (pairs->op == ModelOp::Concatenate && pairs->dim == last && pairs->inputs.size() == 2)
    return complexOf(pairs->inputs[0], pairs->inputs[1]);
  if (!isMovement(pairs) || pairs->inputs[0]->ndim() == 0 || pairs->inputs[0]->shape.back() != 2 ||
      (pairs->op == ModelOp::Slice && pairs->dim == last) ||
      (pairs->op == ModelOp::Transpose && pairs->dims.back() != last))
    return nullptr;
  const Value z = unpaired(pairs->inputs[0]);
  if (!z)
    return nullptr;
  // Movements of a value that was made of pairs would be movements of these pairs. A multiple of a
  // transform stays in sight.
  if (z->op == ModelOp::Complex) {
    if (z->inputs[0]->op != ModelOp::Affine || z->inputs[0]->inputs[0]->op != ModelOp::Pairs)
      return nullptr;
    ModelValue* moved = make(pairs->op, {z}, withoutLast(pairs->shape));
    moved->dim = pairs->dim;
    moved->begin = pairs->begin;
    moved->end = pairs->end;
    moved->step = pairs->step;
    if (pairs->op == ModelOp::Transpose)
      moved->dims = withoutLastDim(pairs->dims);
    return moved;
  }
  if (pairs->op == ModelOp::Slice)
    return slice(z, pairs->dim, pairs->begin, pairs->end, pairs->step);
  return pairs->op == ModelOp::Transpose ? transpose(z, withoutLastDim(pairs->dims))
                                         : reshape(z, withoutLast(pairs->shape));
}

// The complex value with these parts [..., 1].
ModelBuilder::Value ModelBuilder::complexOf(Value real, Value imaginary) {
  if (real->shape.back() != 1 || imaginary->shape.back() != 1)
    return nullptr;
  const auto areParts = [](const std::optional<Part>& p, const std::optional<Part>& q) {
    return p && q && p->which == 0 && q->which == 1 && isSame(p->whole, q->whole);
  };
  const std::optional<Part> p = unitPart(real);
  if (areParts(p, p ? unitPart(imaginary) : p))
    return p->whole;
  const RealContraction *a = contractionOf(real), *b = contractionOf(imaginary);
  if (!a || !b || a->equation != b->equation || !isSameTable(a->table, b->table))
    return nullptr;
  const std::optional<Part> x = partIn(a->x);
  if (!areParts(x, x ? partIn(b->x) : x))
    return nullptr;
  return contraction(a->equation, x->whole, a->table);
}

// The complex value of which a real value is a part.
std::optional<ModelBuilder::Part> ModelBuilder::partIn(Value v) {
  if (v->op == ModelOp::Reshape && v->inputs[0]->shape == withUnit(v->shape))
    return unitPart(v->inputs[0]);
  if (v->op != ModelOp::Slice && v->op != ModelOp::Transpose)
    return std::nullopt;
  std::optional<Part> part = partIn(v->inputs[0]);
  if (part)
    part->whole = v->op == ModelOp::Slice ? slice(part->whole, v->dim, v->begin, v->end, v->step)
                                          : transpose(part->whole, v->dims);
  return part;
}

// The same for a part [..., 1].
std::optional<ModelBuilder::Part> ModelBuilder::unitPart(Value v) {
  const int last = v->ndim() - 1;
  if (v->op == ModelOp::Reshape && withUnit(v->inputs[0]->shape) == v->shape)
    return partIn(v->inputs[0]);
  if (v->op == ModelOp::Slice && v->dim == last && v->inputs[0]->shape.back() == 2) {
    const Value whole = unpaired(v->inputs[0]);
    return whole ? std::optional(Part{whole, v->begin}) : std::nullopt;
  }
  const bool isTransposed = v->op == ModelOp::Transpose && v->dims.back() == last;
  if ((v->op != ModelOp::Slice || v->dim == last) && !isTransposed)
    return std::nullopt;
  std::optional<Part> part = unitPart(v->inputs[0]);
  if (part)
    part->whole = isTransposed ? transpose(part->whole, withoutLastDim(v->dims))
                               : slice(part->whole, v->dim, v->begin, v->end, v->step);
  return part;
}

// -- complex sums

// The labels of an equation of two factors, with labels for the dimensions of an ellipsis of x.
std::optional<ModelBuilder::Labels> ModelBuilder::labelsOf(const std::string& equation, Value x,
                                                           Value w) {
  std::string text;
  for (const char c : equation)
    if (c != ' ')
      text += c;
  const std::size_t comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos || comma > arrow)
    return std::nullopt;
  Labels labels = {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
                   text.substr(arrow + 2)};
  if (labels.x.starts_with("...") && labels.y.starts_with("...")) {
    std::string leading;
    for (char c = 'A';
         c <= 'Z' && static_cast<int>(leading.size() + labels.x.size()) < x->ndim() + 3; ++c)
      if (text.find(c) == text.npos)
        leading += c;
    labels.x.replace(0, 3, leading);
    labels.y.replace(0, 3, leading);
  }
  const auto isPlain = [](const std::string& names) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!std::isalpha(static_cast<unsigned char>(names[i])) || names.find(names[i]) != i)
        return false;
    return true;
  };
  if (!isPlain(labels.x) || !isPlain(labels.w) || !isPlain(labels.y) ||
      static_cast<int>(labels.x.size()) != x->ndim() ||
      static_cast<int>(labels.w.size()) != w->ndim())
    return std::nullopt;
  return labels;
}

// The symbol of einsum(x, w) for a constant w, if it is a step of a transform; null otherwise.
ModelBuilder::Value ModelBuilder::contraction(const std::string& equation, Value x, Value w) {
  const std::optional<Labels> labels = labelsOf(equation, x, w);
  const bool isWeights = w->op == ModelOp::Complex && w->inputs[0]->isConstant();
  if (!labels || tables_ != ModelTables::Computed || !(isWeights || w->isKnown()))
    return nullptr;
  Shape shape;
  for (const char label : labels->y) {
    const std::size_t inX = labels->x.find(label), inW = labels->w.find(label);
    if (inX == std::string::npos && inW == std::string::npos)
      return nullptr;
    shape.push_back(inX != std::string::npos ? x->shape[inX] : w->shape[inW]);
  }
  for (std::size_t i = 0; i < labels->w.size(); ++i)
    if (const std::size_t d = labels->x.find(labels->w[i]);
        d != std::string::npos && x->shape[d] != w->shape[i])
      return nullptr;
  ModelValue* result = make(ModelOp::Contraction, {x, w}, shape);
  result->function = labels->x + "," + labels->w + "->" + labels->y;
  return harmonicsOf(result) || tableUse(result, /*isSynthesis=*/true) ? result : nullptr;
}

// A product of a transform's result with weights that are broadcast: one for each channel and
// degree, for example.
ModelBuilder::Value ModelBuilder::scaledByModes(Value z, Value w) {
  if (isComputingPairs_ || w->op != ModelOp::Complex || !w->inputs[0]->isConstant() ||
      broadcast(z->shape, w->shape) != z->shape)
    return nullptr;
  std::string labels, ofW;
  Shape shape;
  const int extra = z->ndim() - w->ndim();
  for (int d = 0; d < z->ndim(); ++d) {
    labels += static_cast<char>('a' + d);
    if (d < extra || w->shape[static_cast<std::size_t>(d - extra)] == 1)
      continue;
    ofW += labels.back();
    shape.push_back(w->shape[static_cast<std::size_t>(d - extra)]);
  }
  return contraction(labels + "," + ofW + "->" + labels, z, reshape(w, shape));
}

// -- the end of the symbols

// A value that does not read symbols any more. Movements of symbols are made again, since those of
// the parts may be simpler.
ModelBuilder::Value ModelBuilder::withoutSymbols(Value v, std::map<Value, Value>& known) {
  if (const auto found = known.find(v); found != known.end())
    return found->second;
  if (!isMovement(v) || v->isComplex())
    return v;
  const Value input = withoutSymbols(v->inputs[0], known);
  if (input == v->inputs[0])
    return v;
  Value result = nullptr;
  if (v->op == ModelOp::Slice)
    result = slice(input, v->dim, v->begin, v->end, v->step);
  else
    result = v->op == ModelOp::Reshape ? reshape(input, v->shape) : transpose(input, v->dims);
  return known[v] = result;
}

void ModelBuilder::computePairs() {
  separateBiases();
  isComputingPairs_ = true;
  pairs_.clear();
  const std::set<Value> needed = neededValues(graph_);
  std::map<Value, Value> known;
  const std::size_t count = graph_.values.size(); // the computation appends values
  for (std::size_t i = 0; i < count; ++i) {
    ModelValue& v = graph_.values[i];
    if (!needed.contains(&v))
      continue;
    label_ = v.label;
    where_ = v.where;
    reads_ = v.inputs;
    if (v.op == ModelOp::Pairs)
      known[&v] = pairsOf(v.inputs[0]);
    else if (!isMovement(&v) || v.isComplex())
      for (Value& input : v.inputs)
        input = withoutSymbols(input, known);
  }
  for (Value& output : graph_.outputs)
    output = withoutSymbols(output, known);
}

} // namespace tenon
