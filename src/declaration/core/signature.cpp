// SPDX-License-Identifier: BSD-2-Clause
// Reads signatures from text, chooses them for given inputs, and makes layouts from them. Layouts
// follow the cuts of their source as far as the same axes split both and are balanced beyond: split
// points that a user gave never move, and whatever is free is even.
#include "declaration/core/signature.hpp"

#include "geometry/schedule/axis_change.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tenon {

namespace {

std::string labels(const SignatureTable& table) {
  std::string text;
  for (const SignatureRow& row : table)
    text += (text.empty() ? "" : ", ") + row.label;
  return text;
}

const SignatureRow& rowOf(const SignatureTable& table, const std::string& label,
                          const std::string& who) {
  for (const SignatureRow& row : table)
    if (row.label == label)
      return row;
  throw Error(
      TENON_ERR_OPTION,
      fmt::format("{} has no index label '{}'; use one of {} per grid axis, separated by commas",
                  who, label, labels(table)));
}

Property inputOf(const SignatureRow& row, std::size_t index) {
  return row.inputs[std::min(index, row.inputs.size() - 1)];
}

// How many inputs a row leaves where they are. Properties compare only on one grid.
int inPlace(const SignatureRow& row, std::span<const Layout> inputs, int axis) {
  int count = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    count +=
        inputs[i].grid() == inputs.front().grid() && inputs[i].property(axis) == inputOf(row, i);
  return count;
}

// The row that moves least. Along an axis of one process nothing moves, so there the output keeps
// the input's property: a solver's boxes name an axis for every dimension, cut or not.
const SignatureRow& rowFor(const SignatureTable& table, std::span<const Layout> inputs, int axis) {
  if (inputs.front().grid().extent(axis) == 1)
    for (const SignatureRow& row : table)
      if (row.output == inputs.front().property(axis))
        return row;
  // The first of equal rows is taken, since a table lists the preferred rows first.
  return *std::ranges::max_element(
      table, {}, [&](const SignatureRow& row) { return inPlace(row, inputs, axis); });
}

constexpr int kMaxAxes = 64;

// Reads the text of a signature, run by run, into one row for each grid axis.
class SignatureText {
public:
  SignatureText(const SignatureTable& table, const std::string& who) : table_(table), who_(who) {}

  void read(const std::string& text) {
    for (std::string& run : split(text, ',')) {
      std::erase(run, ' ');
      add(run);
    }
  }
  std::vector<SignatureRow> rows;
  std::vector<bool> reversed;

private:
  bool isLabel(const std::string& label) const {
    return std::any_of(table_.begin(), table_.end(),
                       [&](const SignatureRow& row) { return row.label == label; });
  }
  // The labels of a run, which take turns: its characters if each is a label, or else the whole as
  // one.
  std::vector<std::string> turns(const std::string& labels) const {
    std::vector<std::string> each;
    for (char label : labels)
      each.emplace_back(1, label);
    const bool all = std::all_of(each.begin(), each.end(),
                                 [&](const std::string& label) { return isLabel(label); });
    return all && !isLabel(labels) && !each.empty() ? each : std::vector{labels};
  }

  void add(std::string run) {
    const bool isReversed = run.ends_with('-');
    if (isReversed)
      run.pop_back();
    // A label can end in a digit itself, as S0 does, so a count is looked for only where the run is
    // no label.
    const std::size_t digits = isLabel(run) ? std::string::npos : run.find_first_of("0123456789");
    const std::vector<std::string> labels = turns(run.substr(0, digits));
    const int count = digits == std::string::npos ? 1 : countIn(run, digits);
    for (int axis = 0; axis < count; ++axis) {
      const int turn = isReversed ? count - 1 - axis : axis;
      rows.push_back(rowOf(table_, labels[std::size_t(turn) % labels.size()], who_));
      reversed.push_back(isReversed);
    }
  }
  int countIn(const std::string& run, std::size_t digits) const {
    int count = 0;
    const char *begin = run.data() + digits, *end = run.data() + run.size();
    const auto [stop, error] = std::from_chars(begin, end, count);
    if (error != std::errc() || stop != end || count < 1 || count > kMaxAxes)
      throw Error(TENON_ERR_OPTION,
                  fmt::format("the run '{}' in the signature of {} is not possible; pass a label "
                              "with the number of its grid axes, such as n2",
                              run, who_));
    return count;
  }

  const SignatureTable& table_;
  const std::string& who_;
};

} // namespace

Signature Signature::named(const SignatureTable& table, const Grid& grid, const std::string& labels,
                           const std::string& who) {
  SignatureText text(table, who);
  text.read(labels);
  if (static_cast<int>(text.rows.size()) != grid.axes())
    throw Error(TENON_ERR_OPTION,
                fmt::format("the signature \"{}\" of {} has {}, but the process grid has {}; "
                            "pass one label per grid axis",
                            labels, who, counted(static_cast<Index>(text.rows.size()), "label"),
                            counted(grid.axes(), "axis", "axes")));
  return Signature(std::move(text.rows), std::move(text.reversed));
}

Signature Signature::following(const SignatureTable& table, std::span<const Layout> inputs) {
  std::vector<SignatureRow> rows;
  for (int axis = 0; axis < inputs.front().grid().axes(); ++axis)
    rows.push_back(rowFor(table, inputs, axis));
  return Signature(std::move(rows));
}

Signature Signature::choose(const SignatureTable& table, std::span<const Layout> inputs,
                            const GridPtr& grid, const std::string& labels,
                            const std::string& who) {
  if (!labels.empty())
    return named(table, *grid, labels, who);
  // What leaves the input where it is can be asked on the input's own grid alone.
  if (const Layout& input = inputs.front(); !(*grid == input.grid()))
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} is to run on process grid {}, but its input lies on {}; name its "
                            "index labels on the new grid",
                            who, grid->describe(), input.grid().describe()));
  return following(table, inputs);
}

TensorSignature Signature::input(int index) const {
  Properties result;
  for (const SignatureRow& row : rows_)
    result.push_back(inputOf(row, static_cast<std::size_t>(index)));
  return {std::move(result), reversed_};
}

TensorSignature Signature::parameter(int index) const {
  Properties result;
  for (const SignatureRow& row : rows_)
    result.push_back(row.parameters[index]);
  return {std::move(result), reversed_};
}

TensorSignature Signature::output() const {
  Properties result;
  for (const SignatureRow& row : rows_)
    result.push_back(row.output);
  return {std::move(result), reversed_};
}

std::string Signature::describe() const {
  std::string text;
  for (std::size_t axis = 0; axis < rows_.size(); ++axis) {
    text += (axis == 0 ? "" : ",") + rows_[axis].label;
    if (!reversed_.empty() && reversed_[axis])
      text += '-';
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

std::vector<int> splitOrder(const TensorSignature& requested, int dim) {
  std::vector<int> order;
  bool isRequested = false;
  for (int axis = 0; axis < static_cast<int>(requested.reversed.size()); ++axis) {
    if (!(requested.properties[axis] == Property::shard(dim)))
      continue;
    // A reversed axis goes in front of all that came before it: the last axis splits first.
    order.insert(requested.reversed[axis] ? order.begin() : order.end(), axis);
    isRequested |= requested.reversed[axis];
  }
  return isRequested ? order : std::vector<int>();
}

namespace {

// Orders the axes that are to split a dimension: those that split the source's dimension come
// first, as far as they are among `axes`, and then the others as they are. The search ends at the
// first axis that is missing, since cuts agree from the major axis on only as long as all are
// there.
std::vector<int> orderLike(const std::vector<int>& source, std::vector<int> axes) {
  auto next = axes.begin();
  for (int axis : source) {
    const auto found = std::find(next, axes.end(), axis);
    if (found == axes.end())
      break;
    std::rotate(next, found, found + 1);
    ++next;
  }
  return axes;
}

// The cuts of a source's dimension for another list of axes. What both lists have in common, from
// the major axis on, stays cut where it was; what further axes of the source cut is joined, and
// what further axes here are to cut is divided evenly.
std::vector<Index> cutsLike(const Layout& source, int dim, const std::vector<int>& order) {
  const std::vector<int>& given = source.splitAxes(dim);
  const auto [theirs, ours] = std::ranges::mismatch(given, order);
  std::vector<Index> cuts = source.cuts(dim);
  for (auto axis = given.end(); axis != theirs;)
    cuts = joinedCuts(cuts, source.grid().extent(*--axis));
  for (auto axis = ours; axis != order.end(); ++axis)
    cuts = dividedCuts(cuts, source.grid().extent(*axis));
  return cuts;
}

} // namespace

Layout makeLayout(const Shape& shape, const GridPtr& grid, const TensorSignature& requested,
                  const std::vector<CutSource>& cutsFrom) {
  LayoutSpec spec{.shape = shape, .grid = grid, .properties = requested.properties};
  spec.splitAxes.resize(shape.size());
  spec.cuts.resize(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d)
    spec.splitAxes[d] = splitOrder(requested, static_cast<int>(d));
  const Layout plain(spec);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto& [source, dim] = cutsFrom[d];
    if (!source || source->shape()[dim] != shape[d] || !(source->grid() == *grid))
      continue;
    // An order that the signature asks for holds; only where it asks for none is the source's
    // taken.
    if (spec.splitAxes[d].empty())
      spec.splitAxes[d] = orderLike(source->splitAxes(dim), plain.splitAxes(static_cast<int>(d)));
    // An axis of one process splits nothing and would only hide that two lists of axes agree.
    std::erase_if(spec.splitAxes[d], [&](int axis) { return grid->isTrivial(axis); });
    spec.cuts[d] = cutsLike(*source, dim, spec.splitAxes[d]);
  }
  return Layout(std::move(spec));
}

Layout makeLayoutLike(const Layout& source, const GridPtr& grid, const TensorSignature& requested) {
  const Layout plain = source.withoutHalos();
  std::vector<CutSource> same;
  for (int d = 0; d < plain.rank(); ++d)
    same.push_back({&plain, d});
  return makeLayout(plain.shape(), grid, requested, same);
}

} // namespace tenon
