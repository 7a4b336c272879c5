// SPDX-License-Identifier: BSD-2-Clause
// Shapes, rows and layouts of inputs that are broadcast. All follow from the output's: an input
// lies as the output does but for the dimensions in which it has one element, which no axis splits.
#include "declaration/types/broadcast.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

Shape broadcastShape(const std::vector<Shape>& inputs, const std::string& who) {
  Shape shape = inputs.front();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape& input = inputs[i];
    bool fits = input.size() == shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) {
      fits = input[d] == shape[d] || input[d] == 1 || shape[d] == 1;
      if (shape[d] == 1)
        shape[d] = input[d];
    }
    if (!fits)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} needs inputs of equal shape, but for extents of 1, which stand for "
                      "all elements of a dimension; input {} has [{}], and input 0 has [{}]",
                      who, i, fmt::join(input, ","), fmt::join(inputs.front(), ",")));
  }
  return shape;
}

std::size_t widestInput(const std::vector<Shape>& inputs, const Shape& output) {
  const auto found = std::ranges::find(inputs, output);
  return found == inputs.end() ? 0 : static_cast<std::size_t>(found - inputs.begin());
}

SignatureTable broadcastTable(const std::vector<Shape>& inputs, const Shape& output, bool linear) {
  SignatureTable table = elementwiseTable(static_cast<int>(output.size()), linear);
  for (SignatureRow& row : table) {
    if (!row.output.isShard())
      continue;
    row.inputs.clear();
    for (const Shape& input : inputs)
      row.inputs.push_back(isBroadcast(input, output, row.output.dim) ? Property::broadcast()
                                                                      : row.output);
  }
  return table;
}

Form broadcastForm(const Layouts& inputs, const Choice& choice, const SignatureTable& table,
                   const Shape& output, const std::string& who) {
  const FormInputs from(inputs, choice);
  const Signature chosen = Signature::choose(table, from.plain, from.grid, choice.labels, who);
  const auto lying = [&](const Shape& shape, const TensorSignature& requested, const Layout& like) {
    std::vector<CutSource> same;
    for (int d = 0; d < like.rank(); ++d)
      same.push_back({&like, d});
    return makeLayout(shape, from.grid, requested, same);
  };
  Form form{.signature = chosen,
            .inputs = inputs,
            .uses = {},
            .output = lying(output, chosen.output(), from.plain[widestInput(from.shapes, output)])};
  for (std::size_t i = 0; i < from.shapes.size(); ++i)
    form.uses.push_back(lying(from.shapes[i], chosen.input(static_cast<int>(i)), form.output));
  return form;
}

Layout broadcastUse(const Layout& output, const Shape& input) {
  if (input == output.shape())
    return output;
  LayoutSpec spec = output.spec();
  spec.shape = input;
  for (int d = 0; d < output.rank(); ++d) {
    if (!isBroadcast(input, output.shape(), d))
      continue;
    spec.cuts[d] = {0, 1};
    spec.splitAxes[d].clear();
    for (Property& p : spec.properties)
      if (p == Property::shard(d))
        p = Property::broadcast();
  }
  return Layout(std::move(spec));
}

} // namespace tenon
