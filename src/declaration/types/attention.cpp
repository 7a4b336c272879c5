// SPDX-License-Identifier: BSD-2-Clause
// Declares attention: from queries q [..., m, e], keys k [..., n, e] and values v [..., n, f]
//
//   y = softmax(scale q k^T + mask) v,   y [..., m, f]
//
// for each matrix along equal leading dimensions (batch, heads), with the softmax over the keys. If
// `causal`, query i sees the keys 0 to i. If `mask`, a fourth input [..., m, n] is added to the
// scores, broadcast along extents of 1: 0 and -infinity select the keys of a query, other numbers
// are a bias. A query without keys has the result 0. The kernel is in layer/types/attention.cpp.
//
// Labels, which state what an axis of the process grid does: S0, S1, ... splits a leading
// dimension; s splits the sequence, both of queries and of keys, each with its own split points; m
// splits the queries only, and all ranks have all keys; B replicates, R holds everything on its
// root. The mask has the rows of the rank's queries and all columns, and is not communicated.
//
// Ring attention: with label s, no rank has all keys. Blocks of keys and values rotate through the
// ranks of these axes. On 3 ranks with blocks 0, 1, 2, each rank sends its current block to the
// preceding rank:
//
//   turn        rank 0    rank 1    rank 2
//   0           block 0   block 1   block 2
//   1           block 1   block 2   block 0
//   2           block 2   block 0   block 1
//
// The softmax is accumulated with a running maximum. The adjoint rotates the blocks once more,
// together with their cotangents.
//
// In a turn each rank sends one array, padded to the length of the longest block. The map list,
// which describes all communication of the layer, has this as an exchange of all these arrays from
// one layout to the same layout on a process grid that is shifted by one rank. The kernel runs the
// exchange itself (OwnMove in core/map_list.hpp), and no map of the list applies it.
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

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kAttentionSettings[] = {
    {"scale", OptionSpec::Real, nullptr,
     "factor of the products of queries and keys; 1/sqrt(features) where it is not set"},
    {"causal", OptionSpec::Flag, "false", "whether query i sees the keys 0 to i alone"},
    {"mask", OptionSpec::Flag, "false",
     "whether a fourth input is added to these products: 0 and -infinity, or a bias"}};

// The dimension that counts the rows of a matrix; the last dimension counts its columns.
int rowDim(const Layout& layout) {
  return layout.ndim() - 2;
}

// The layout of the rotating arrays: one block of keys and values per rank, padded along the rows
// to the length of the longest block.
Layout ringLayout(const Layout& keys, Index features) {
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

// The process grid shifted by one block: each rank is at the position of the block that follows
// its own.
GridPtr shiftedGrid(const Layout& keys) {
  const Grid& grid = keys.grid();
  const int parts = keys.parts(rowDim(keys));
  const std::vector<int>& axes = keys.splitAxes(rowDim(keys));
  std::vector<int> ranks;
  for (int position = 0; position < grid.size(); ++position) {
    std::vector<int> coordinates = grid.coordinates(position);
    const int precedingBlock = (keys.part(position, rowDim(keys)) + parts - 1) % parts;
    const std::vector<int> precedingCoordinates =
        keys.partCoordinates(rowDim(keys), precedingBlock);
    for (std::size_t a = 0; a < axes.size(); ++a)
      coordinates[axes[a]] = precedingCoordinates[a];
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
    const auto hasSameLeading = [&](const Shape& other) {
      return other.size() == rank && std::equal(q.begin(), q.end() - 2, other.begin());
    };
    if (rank < 2 || !hasSameLeading(k) || !hasSameLeading(v) || k[rank - 1] != q[rank - 1] ||
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
    // A mask has the property of the scores, but is replicated along dimensions of extent 1.
    const auto maskProperty = [&](Property scores) {
      return scores.isShard() && isBroadcast(inputs.back(), inputs.front(), scores.dim) ? B
                                                                                        : scores;
    };
    const auto makeRow = [&](std::string label, Property q, Property kv) {
      Properties properties = {q, kv, kv};
      if (inputs.size() > 3)
        properties.push_back(maskProperty(q));
      return SignatureRow(std::move(label), std::move(properties), {}, q);
    };
    SignatureTable table;
    for (int d = 0; d < row; ++d)
      table.push_back(
          makeRow(Property::shard(d).describe(), Property::shard(d), Property::shard(d)));
    table.push_back(makeRow("s", Property::shard(row), Property::shard(row)));
    table.push_back(makeRow("m", Property::shard(row), B));
    table.push_back(makeRow("B", B, B));
    table.push_back(makeRow("R", R, R));
    return table;
  }

  // Keys keep their split points, and values have those of the keys; leading dimensions follow the
  // queries.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const auto [shapes, plain, grid, shape, signature] = beginForm(inputs, choice);
    const int row = static_cast<int>(shape.size()) - 2;
    // For each dimension of the next tensor, the layout and dimension whose split points it takes;
    // none for the features. The entries change from tensor to tensor.
    std::vector<CutSource> cuts;
    for (int d = 0; d <= row; ++d)
      cuts.push_back({&plain[0], d});
    cuts.emplace_back();
    const Layout q = makeLayout(shapes[0], grid, signature.input(0), cuts);
    for (int d = 0; d < row; ++d)
      cuts[d] = {&q, d};
    cuts[row] = {&plain[1], row};
    const Layout k = makeLayout(shapes[1], grid, signature.input(1), cuts);
    cuts[row] = {&k, row};
    const Layout v = makeLayout(shapes[2], grid, signature.input(2), cuts);
    cuts[row] = {&q, row};
    Form form{.signature = signature,
              .inputs = inputs,
              .uses = {q, k, v},
              .output = makeLayout(shape, grid, signature.output(), cuts)};
    if (shapes.size() > 3)
      form.uses.push_back(makeLayout(shapes[3], grid, signature.input(3), cuts));
    return form;
  }

  // Every query of a rank is multiplied by all keys, in one turn or in several.
  Work work(const Form& form, int position) const override {
    const Box y = form.output.box(position);
    const double features = double(form.uses[0].shape().back()), outputs = double(y.back().size());
    const double rows = outputs > 0 ? double(elements(y)) / outputs : 0;
    const double products =
        2 * rows * double(form.uses[1].shape()[rowDim(form.uses[1])]) * (flag("causal") ? 0.5 : 1);
    // The adjoint computes the scores again, then three products with features and two with
    // outputs.
    return {.forward = products * (features + outputs),
            .adjoint = products * (3 * features + 2 * outputs),
            .adjointParameters = 0};
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const char* const names[] = {"q", "k", "v", "mask"};
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      list.input(names[i], form.inputs[i]);
    list.output("y", form.output);
    std::vector<ValueId> uses;
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      uses.push_back(addUse(list, list.inputs()[i], std::string(names[i]) + "Use", form.uses[i],
                            /*anyStrides=*/false));
    KernelEntry entry = kernel(form);
    const Layout &k = form.uses[1], &v = form.uses[2];
    if (const Index turns = k.parts(rowDim(k)); turns > 1) {
      const Layout arrays = ringLayout(k, k.shape().back() + v.shape().back());
      LayoutSpec spec = arrays.spec();
      spec.grid = shiftedGrid(k);
      const Layout next(std::move(spec));
      // One exchange for blocks, one for their tangents or cotangents; these return to their owners
      // in the last turn.
      for (const OwnMove& times : {OwnMove{.op = 0, .inApply = turns - 1, .inAdjoint = turns - 1},
                                   OwnMove{.op = 0, .inApply = 0, .inAdjoint = turns}}) {
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
  // Saves the largest score of each query, and the sum of the exponentials relative to it.
  KernelEntry kernel(const Form& form) const override {
    Shape shape = form.output.shape();
    shape.back() = 2;
    LayoutSpec spec = form.output.spec();
    spec.shape = shape;
    spec.cuts.back() = {0, 2};
    return {.name = type(),
            .savesInputs = true,
            .savesOutput = true,
            .workspace = {.bytes = elementBytes(), .elementsOf = Layout(std::move(spec))}};
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
