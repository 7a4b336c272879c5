// SPDX-License-Identifier: BSD-2-Clause
// Attention: from queries q [..., m, e], keys k [..., n, e] and values v [..., n, f]
//
//   y = softmax(scale q k^T + mask) v,   y [..., m, f]
//
// matrix by matrix along equal leading dimensions (batch, heads), the softmax over the keys. With
// `causal` query i sees the keys 0 to i. With `mask` a fourth input [..., m, n] is added, broadcast
// where it has an extent of 1: 0 and -infinity say which keys a query sees, other numbers are a
// bias. A query that sees none has the result 0.
//
// Labels on a grid axis: S0, S1, ... leading dimensions; s the sequence, of queries and of keys,
// which are cut each as they lie; m the queries alone, with all keys on all ranks; B, R. The mask
// has the rows of the rank's queries and all columns, so that it does not travel. Where axes have
// the label s no rank has all keys: parts of keys and values take turns on the ranks of these axes.
// In each turn every rank sends the part that it has to the rank before it. The sums over keys are
// brought along by their running maximum, and the adjoint goes round once more, with the cotangents
// of the parts.
//
// What a rank sends in a turn is an array of its own, as long for every part as for the longest. A
// turn is therefore a conversion of the list of all such arrays to the same list on a process grid
// whose ranks have moved on by one part. The kernel applies it; no map does.
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/types/broadcast.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kAttentionSettings[] = {
    {"scale", OptionSpec::Real, nullptr,
     "factor of the products of queries and keys; 1/sqrt(features) where it is not set"},
    {"causal", OptionSpec::Flag, "false", "whether query i sees the keys 0 to i alone"},
    {"mask", OptionSpec::Flag, "false",
     "whether a fourth input is added to these products: 0 and -infinity, or a bias"}};

// The dimensions from the last one on: rows of a matrix, and its columns.
int rowDim(const Layout& layout) {
  return layout.rank() - 2;
}

// By position the elements of a part of keys and values, the longest part's for all of a dimension.
Layout arraysOf(const Layout& keys, Index features) {
  Index longest = 0;
  for (int part = 0; part < keys.parts(rowDim(keys)); ++part)
    longest = std::max(longest, keys.owned(rowDim(keys), part).size());
  LayoutSpec spec{.shape = {0}, .grid = keys.gridPtr(), .properties = {}};
  spec.properties.assign(static_cast<std::size_t>(keys.grid().axes()), Property::shard(0));
  spec.cuts = {{0}};
  for (int position = 0; position < keys.grid().size(); ++position) {
    Index count = keys.isHolder(position) ? longest * features : 0;
    for (int d = 0; d < rowDim(keys) && count > 0; ++d)
      count *= keys.owned(d, keys.part(position, d)).size();
    spec.shape[0] += count;
    spec.cuts[0].push_back(spec.shape[0]);
  }
  return Layout(std::move(spec));
}

// The grid on which each rank has the part behind its own, and the first one behind the last.
GridPtr movedOn(const Layout& keys) {
  const Grid& grid = keys.grid();
  const int parts = keys.parts(rowDim(keys));
  const std::vector<int>& axes = keys.splitAxes(rowDim(keys));
  std::vector<int> ranks;
  for (int position = 0; position < grid.size(); ++position) {
    std::vector<int> coordinates = grid.coordinates(position);
    const int before = (keys.part(position, rowDim(keys)) + parts - 1) % parts;
    const std::vector<int> there = keys.partCoordinates(rowDim(keys), before);
    for (std::size_t a = 0; a < axes.size(); ++a)
      coordinates[axes[a]] = there[a];
    ranks.push_back(grid.rank(grid.positionAt(coordinates)));
  }
  return Grid::make(grid.extents(), std::move(ranks));
}

class Attention final : public Declaration {
public:
  Attention() : Declaration("attention", kAttentionSettings) {}
  int inputCount() const override { return flag("mask") ? 4 : 3; }
  std::string inputAdvice() const override {
    return "; they are queries, keys and values, and a mask where the setting mask is true";
  }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape &q = inputs[0], &k = inputs[1], &v = inputs[2];
    const std::size_t rank = q.size();
    const auto leads = [&](const Shape& other) {
      return other.size() == rank && std::equal(q.begin(), q.end() - 2, other.begin());
    };
    if (rank < 2 || !leads(k) || !leads(v) || k[rank - 1] != q[rank - 1] ||
        k[rank - 2] != v[rank - 2] || k[rank - 2] < 1)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} needs queries [...,m,e], keys [...,n,e] and values [...,n,f], but "
                      "they have [{}], [{}] and [{}]",
                      title(), fmt::join(q, ","), fmt::join(k, ","), fmt::join(v, ",")));
    checkMask(inputs);
    Shape shape = q;
    shape.back() = v.back();
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Property B = Property::broadcast(), R = Property::root();
    const int row = static_cast<int>(inputs.front().size()) - 2;
    // Of the mask: as the scores, but on all ranks where it is broadcast.
    const auto masked = [&](Property scores) {
      return scores.isShard() && isBroadcast(inputs.back(), inputs.front(), scores.dim) ? B
                                                                                        : scores;
    };
    const auto line = [&](std::string label, Property q, Property kv) {
      Properties properties = {q, kv, kv};
      if (inputs.size() > 3)
        properties.push_back(masked(q));
      return SignatureRow(std::move(label), std::move(properties), {}, q);
    };
    SignatureTable table;
    for (int d = 0; d < row; ++d)
      table.push_back(line(Property::shard(d).describe(), Property::shard(d), Property::shard(d)));
    table.push_back(line("s", Property::shard(row), Property::shard(row)));
    table.push_back(line("m", Property::shard(row), B));
    table.push_back(line("B", B, B));
    table.push_back(line("R", R, R));
    return table;
  }

  // Keys are cut as they lie, and values as keys; leading dimensions as those of the queries.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const auto [shapes, plain, grid, shape, chosen] = beginForm(inputs, choice);
    const int row = static_cast<int>(shape.size()) - 2;
    std::vector<CutSource> cuts;
    for (int d = 0; d <= row; ++d)
      cuts.push_back({&plain[0], d});
    cuts.emplace_back();
    const Layout q = makeLayout(shapes[0], grid, chosen.input(0), cuts);
    for (int d = 0; d < row; ++d)
      cuts[d] = {&q, d};
    cuts[row] = {&plain[1], row};
    const Layout k = makeLayout(shapes[1], grid, chosen.input(1), cuts);
    cuts[row] = {&k, row};
    const Layout v = makeLayout(shapes[2], grid, chosen.input(2), cuts);
    cuts[row] = {&q, row};
    Form form{.signature = chosen,
              .inputs = inputs,
              .uses = {q, k, v},
              .output = makeLayout(shape, grid, chosen.output(), cuts)};
    if (shapes.size() > 3)
      form.uses.push_back(makeLayout(shapes[3], grid, chosen.input(3), cuts));
    return form;
  }

  // Every query of a rank meets all keys, in one turn or in several.
  Work work(const Form& form, int position) const override {
    const Box y = form.output.box(position);
    const double features = double(form.uses[0].shape().back()), outputs = double(y.back().size());
    const double rows = outputs > 0 ? double(elements(y)) / outputs : 0;
    const double products =
        2 * rows * double(form.uses[1].shape()[rowDim(form.uses[1])]) * (flag("causal") ? 0.5 : 1);
    // The adjoint computes the scores again, and three products with features, two with outputs.
    return {products * (features + outputs), products * (3 * features + 2 * outputs), 0};
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const char* const names[] = {"q", "k", "v", "mask"};
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      list.input(names[i], form.inputs[i]);
    list.output("y", form.output);
    std::vector<ValueId> uses;
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      uses.push_back(
          addUse(list, list.inputs()[i], std::string(names[i]) + "Use", form.uses[i], false));
    KernelEntry entry = kernel(form);
    const Layout &k = form.uses[1], &v = form.uses[2];
    if (const Index turns = k.parts(rowDim(k)); turns > 1) {
      const Layout arrays = arraysOf(k, k.shape().back() + v.shape().back());
      LayoutSpec spec = arrays.spec();
      spec.grid = movedOn(k);
      const Layout next(std::move(spec));
      // Of the parts, and of their tangents or cotangents, which come home in the last turn.
      for (const OwnMove& times : {OwnMove{0, turns - 1, turns - 1}, OwnMove{0, 0, turns}}) {
        entry.moves.push_back(times);
        entry.moves.back().op = list.ownOperator(OperatorKind::Exchange, arrays, next);
      }
    }
    const ValueId y = list.stagedOutput();
    list.run(std::move(entry), uses, y);
    list.unstage(y);
    return list;
  }

  bool movesInKernels() const override { return true; }

  std::string summary() const override {
    std::vector<std::string> words;
    if (isSet("scale"))
      words.push_back(fmt::format("scale {}", real("scale")));
    for (const char* name : {"causal", "mask"})
      if (flag(name))
        words.push_back(name);
    return joined(words, ", ");
  }

  Example example(ExampleDraw& draw) const override {
    const Shape q = draw.shape(2, 4);
    Shape k = q, v;
    k[k.size() - 2] = draw.between(1, 6);
    v = k;
    v.back() = draw.between(1, 6);
    Example example{{{"causal", draw.chance(50)}}, {q, k, v}};
    if (draw.chance(50))
      example.settings.emplace_back("scale", 0.5);
    if (draw.chance(50)) {
      example.settings.emplace_back("mask", true);
      Shape mask = q;
      mask.back() = k[k.size() - 2];
      for (Index& extent : mask)
        extent = draw.chance(30) ? 1 : extent;
      example.inputs.push_back(mask);
    }
    return example;
  }

protected:
  // For each query the logarithm of its sum.
  KernelEntry kernel(const Form& form) const override {
    Shape shape = form.output.shape();
    shape.back() = 1;
    LayoutSpec spec = form.output.spec();
    spec.shape = shape;
    spec.cuts.back() = {0, 1};
    return {.name = type(),
            .keepsInputs = true,
            .keepsOutput = true,
            .workspace = {elementBytes(), Layout(std::move(spec))}};
  }

private:
  void checkMask(const std::vector<Shape>& inputs) const {
    if (inputs.size() < 4)
      return;
    Shape scores = inputs[0];
    scores.back() = inputs[1][inputs[1].size() - 2];
    const Shape& mask = inputs[3];
    bool fits = mask.size() == scores.size();
    for (std::size_t d = 0; fits && d < mask.size(); ++d)
      fits = mask[d] == scores[d] || mask[d] == 1;
    if (!fits)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} has products of queries and keys of shape [{}], but a mask of "
                              "[{}]; pass one of as many dimensions, each of the same extent or 1",
                              title(), fmt::join(scores, ","), fmt::join(mask, ",")));
  }
};

} // namespace

std::unique_ptr<Declaration> declareAttention() {
  return std::make_unique<Attention>();
}

} // namespace tenon
