// SPDX-License-Identifier: BSD-2-Clause
// Functions that the elementwise types of several inputs share (add, multiply, compare, ...), whose
// inputs are broadcast as in NumPy: an extent of 1 is repeated along a dimension in which another
// input has more. For example [2,3,8,8] times a mask [2,1,8,8] gives [2,3,8,8].
//
//   broadcastShape    the shape of the output
//   widestInput       the input that has this shape, whose split points the output takes over
//   broadcastTable    the ways to distribute the layer over a grid axis, one row per label
//   broadcastForm     the layouts of inputs and output on all ranks, for chosen labels
//   broadcastUse      the layout of one input that fits a layout of the output
//
// An input has the layout of the output, except that a dimension in which it has one element is not
// split: the element is replicated on the axes that split this dimension of the output.
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
      // An extent of 1 is repeated to the other extent.
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
  const auto widest = std::ranges::find(inputs, output);
  return widest == inputs.end() ? 0 : static_cast<std::size_t>(widest - inputs.begin());
}

// Only rows that split a dimension (S0, S1, ...) differ between the inputs.
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
  const FormInputs formInputs(inputs, choice);
  const Signature signature =
      Signature::choose(table, formInputs.plain, formInputs.grid, choice.labels, who);
  // A layout with the split points of `pattern` in all dimensions. The output takes over those of
  // the widest input, which is then read in place.
  const auto layoutLike = [&](const Shape& shape, const TensorSignature& requested,
                              const Layout& pattern) {
    std::vector<CutSource> cuts;
    for (int d = 0; d < pattern.ndim(); ++d)
      cuts.push_back({&pattern, d});
    return makeLayout(shape, formInputs.grid, requested, cuts);
  };
  Form form{.signature = signature,
            .inputs = inputs,
            .uses = {},
            .output = layoutLike(output, signature.output(),
                                 formInputs.plain[widestInput(formInputs.shapes, output)])};
  for (std::size_t i = 0; i < formInputs.shapes.size(); ++i)
    form.uses.push_back(
        layoutLike(formInputs.shapes[i], signature.input(static_cast<int>(i)), form.output));
  return form;
}

Layout broadcastUse(const Layout& output, const Shape& input) {
  if (input == output.shape())
    return output;
  LayoutSpec spec = output.spec();
  spec.shape = input;
  for (int d = 0; d < output.ndim(); ++d) {
    if (!isBroadcast(input, output.shape(), d))
      continue;
    // A single element cannot be split: it is replicated on the axes that split this dimension.
    spec.cuts[d] = {0, 1};
    spec.splitAxes[d].clear();
    for (Property& p : spec.properties)
      if (p == Property::shard(d))
        p = Property::broadcast();
  }
  return Layout(std::move(spec));
}

Example broadcastExample(ExampleDraw& draw, int count) {
  std::vector<Shape> inputs(static_cast<std::size_t>(count), draw.shape(1, 3));
  for (Shape& input : inputs)
    for (Index& extent : input)
      if (draw.chance(15))
        extent = 1;
  return {{}, inputs};
}

} // namespace tenon
