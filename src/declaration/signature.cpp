// SPDX-License-Identifier: BSD-2-Clause
#include "declaration/signature.hpp"

#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

std::string letters(const SignatureTable& table) {
  std::string text;
  for (const SignatureRow& row : table)
    text += (text.empty() ? "" : ", ") + row.letter;
  return text;
}

const SignatureRow& rowOf(const SignatureTable& table, const std::string& letter,
                          const std::string& who) {
  for (const SignatureRow& row : table)
    if (row.letter == letter)
      return row;
  throw Error(
      TENON_ERR_OPTION,
      fmt::format("{} has no index label '{}'; use one of {} per grid axis, separated by commas",
                  who, letter, letters(table)));
}

// The row that moves nothing. Along an axis of one process none does, so there the output keeps the
// input's property: a solver's boxes name an axis for every dimension, cut or not.
const SignatureRow& rowFor(const SignatureTable& table, Property input, int processes) {
  if (processes == 1)
    for (const SignatureRow& row : table)
      if (row.output == input)
        return row;
  for (const SignatureRow& row : table)
    if (row.input == input)
      return row;
  return table.front();
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    std::erase(result.back(), ' ');
    begin = end + 1;
  }
  return result;
}

} // namespace

Signature::Signature(const SignatureTable& table, const Layout& layout, const std::string& forced,
                     const std::string& who) {
  const Properties& input = layout.properties();
  const std::vector<std::string> chosen = words(forced);
  if (!chosen.empty() && chosen.size() != input.size())
    throw Error(TENON_ERR_OPTION,
                fmt::format("the signature \"{}\" of {} has {}, but the process grid has {}; "
                            "pass one label per grid axis",
                            forced, who, counted(static_cast<Index>(chosen.size()), "label"),
                            counted(static_cast<Index>(input.size()), "axis", "axes")));
  for (std::size_t axis = 0; axis < input.size(); ++axis)
    rows_.push_back(chosen.empty()
                        ? rowFor(table, input[axis], layout.mesh().extent(static_cast<int>(axis)))
                        : rowOf(table, chosen[axis], who));
}

Properties Signature::input() const {
  Properties result;
  for (const SignatureRow& row : rows_)
    result.push_back(row.input);
  return result;
}

Properties Signature::parameter(int index) const {
  Properties result;
  for (const SignatureRow& row : rows_)
    result.push_back(row.parameters[index]);
  return result;
}

Properties Signature::output() const {
  Properties result;
  for (const SignatureRow& row : rows_)
    result.push_back(row.output);
  return result;
}

std::string Signature::describe() const {
  std::string text;
  for (const SignatureRow& row : rows_) {
    if (!text.empty())
      text += ',';
    text += row.letter;
  }
  return text;
}

SignatureTable elementwiseTable(int rank, bool linear) {
  SignatureTable table;
  for (int d = 0; d < rank; ++d)
    table.push_back({fmt::format("S{}", d), Property::shard(d), {}, Property::shard(d)});
  table.push_back({"B", Property::broadcast(), {}, Property::broadcast()});
  table.push_back({"R", Property::root(), {}, Property::root()});
  if (linear)
    table.push_back({"P", Property::partial(), {}, Property::partial()});
  return table;
}

Layout makeLayout(const Shape& shape, const MeshPtr& mesh, const Properties& properties,
                  const std::vector<CutSource>& cutsFrom) {
  LayoutSpec spec{.shape = shape, .mesh = mesh, .properties = properties};
  spec.splitAxes.resize(shape.size());
  spec.cuts.resize(shape.size());
  const Layout plain(spec);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto& [source, dim] = cutsFrom[d];
    if (!source || source->shape()[dim] != shape[d])
      continue;
    const std::vector<int>& axes = plain.splitAxes(static_cast<int>(d));
    const std::vector<int>& order = source->splitAxes(dim);
    if (!std::is_permutation(axes.begin(), axes.end(), order.begin(), order.end()))
      continue;
    spec.splitAxes[d] = order;
    spec.cuts[d] = source->cuts(dim);
  }
  return Layout(std::move(spec));
}

} // namespace tenon
