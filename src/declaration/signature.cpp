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

Property inputOf(const SignatureRow& row, std::size_t index) {
  return row.inputs[std::min(index, row.inputs.size() - 1)];
}

// How many inputs a row leaves where they are.
int inPlace(const SignatureRow& row, std::span<const Layout> inputs, int axis) {
  int count = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    count +=
        inputs[i].mesh() == inputs.front().mesh() && inputs[i].property(axis) == inputOf(row, i);
  return count;
}

// The row that moves least. Along an axis of one process nothing moves, so there the output keeps the
// input's property: a solver's boxes name an axis for every dimension, cut or not.
const SignatureRow& rowFor(const SignatureTable& table, std::span<const Layout> inputs, int axis) {
  if (inputs.front().mesh().extent(axis) == 1)
    for (const SignatureRow& row : table)
      if (row.output == inputs.front().property(axis))
        return row;
  return *std::ranges::max_element(
      table, {}, [&](const SignatureRow& row) { return inPlace(row, inputs, axis); });
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

Signature Signature::named(const SignatureTable& table, const Mesh& mesh,
                           const std::string& letters, const std::string& who) {
  const std::vector<std::string> chosen = words(letters);
  if (static_cast<int>(chosen.size()) != mesh.axes())
    throw Error(TENON_ERR_OPTION,
                fmt::format("the signature \"{}\" of {} has {}, but the process grid has {}; "
                            "pass one label per grid axis",
                            letters, who, counted(static_cast<Index>(chosen.size()), "label"),
                            counted(mesh.axes(), "axis", "axes")));
  std::vector<SignatureRow> rows;
  for (const std::string& letter : chosen)
    rows.push_back(rowOf(table, letter, who));
  return Signature(std::move(rows));
}

Signature Signature::following(const SignatureTable& table, std::span<const Layout> inputs) {
  std::vector<SignatureRow> rows;
  for (int axis = 0; axis < inputs.front().mesh().axes(); ++axis)
    rows.push_back(rowFor(table, inputs, axis));
  return Signature(std::move(rows));
}

Signature Signature::choose(const SignatureTable& table, std::span<const Layout> inputs,
                            const MeshPtr& mesh, const std::string& letters,
                            const std::string& who) {
  if (!letters.empty())
    return named(table, *mesh, letters, who);
  if (const Layout& input = inputs.front(); !(*mesh == input.mesh()))
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} is to run on process grid {}, but its input lies on {}; name its "
                            "index labels on the new grid",
                            who, mesh->describe(), input.mesh().describe()));
  return following(table, inputs);
}

Properties Signature::input(int index) const {
  Properties result;
  for (const SignatureRow& row : rows_)
    result.push_back(inputOf(row, static_cast<std::size_t>(index)));
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
    if (!source || source->shape()[dim] != shape[d] || !(source->mesh() == *mesh))
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

Layout makeLayoutLike(const Layout& source, const MeshPtr& mesh, const Properties& properties) {
  const Layout plain = source.withoutMargins();
  std::vector<CutSource> same;
  for (int d = 0; d < plain.rank(); ++d)
    same.push_back({&plain, d});
  return makeLayout(plain.shape(), mesh, properties, same);
}

} // namespace tenon
