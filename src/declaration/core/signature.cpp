// SPDX-License-Identifier: BSD-2-Clause
// Parses signatures, chooses them for given inputs, and makes layouts from them. A signature has
// one row of a layer's signature table for each axis of the process grid (signature.hpp); a row
// states whether x, the parameters and y are split, replicated or partial sums along the axis. On a
// grid of 2 x 3, "n,o" of a fully connected layer splits the batch into 2 and the output features
// into 3.
//
// A layout takes over the split points of its source as far as the same axes split both, and is
// balanced along further axes: split points that a user gave never move. All functions depend only
// on layouts that every rank knows, and nothing is communicated.
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

// The elements of an input; of one sample if the batch is empty, since no row depends on the batch.
Index weightOf(const Layout& input) {
  Index count = 1;
  for (const Index extent : input.shape())
    count *= std::max(extent, Index(1));
  return count;
}

// How much a row leaves of the inputs.
struct Left {
  Index local = 0;   // elements of inputs that are not communicated
  Index inPlace = 0; // those of them that also keep their property
  auto operator<=>(const Left&) const = default;
};

// A process has the elements of its block of an input in B already. That does not count where the
// result is a partial sum, which is yet to be added. Properties are comparable only on the same
// grid.
Left leftBy(const SignatureRow& row, std::span<const Layout> inputs, int axis) {
  Left left;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!(inputs[i].grid() == inputs.front().grid()))
      continue;
    const Property from = inputs[i].property(axis), to = inputOf(row, i);
    const Index count = weightOf(inputs[i]);
    const bool isBlock = from.isBroadcast() && to.isShard() && !row.output.isPartial();
    left.local += from == to || isBlock ? count : 0;
    left.inPlace += from == to ? count : 0;
  }
  return left;
}

// The row with the least redistribution: a field stays where it is, and a factor for each of its
// channels comes there. Along an axis of one process nothing is redistributed, so the output keeps
// the input's property: a decomposition that is passed as boxes has an axis for every dimension,
// split or not.
const SignatureRow& rowFor(const SignatureTable& table, std::span<const Layout> inputs, int axis) {
  if (inputs.front().grid().extent(axis) == 1)
    for (const SignatureRow& row : table)
      if (row.output == inputs.front().property(axis))
        return row;
  // max_element returns the first of equal rows, and a table lists the preferred rows first.
  return *std::ranges::max_element(
      table, {}, [&](const SignatureRow& row) { return leftBy(row, inputs, axis); });
}

// Limit of the number in a run such as n2. A process grid has fewer axes: each with at least 2
// processes doubles their number, which is an int.
constexpr int kMaxAxes = 64;

// Parses the text of a signature, run by run, into one row for each grid axis: "n2,h-" is n, n, h,
// where the axis of h is reversed, and "no4" is n, o, n, o. `who` is the layer in messages.
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
  // The labels that a run repeats in turn: its characters if each is a label, or else the whole
  // text as one label.
  std::vector<std::string> turns(const std::string& labels) const {
    std::vector<std::string> characters;
    for (char label : labels)
      characters.emplace_back(1, label);
    const bool areLabels = std::all_of(characters.begin(), characters.end(),
                                       [&](const std::string& label) { return isLabel(label); });
    return areLabels && !isLabel(labels) && !characters.empty() ? characters : std::vector{labels};
  }

  void add(std::string run) {
    const bool isReversed = run.ends_with('-');
    if (isReversed)
      run.pop_back();
    // A label can itself end in a digit, such as S0, so a count is only searched for if the run is
    // not a label.
    const std::size_t digits = isLabel(run) ? std::string::npos : run.find_first_of("0123456789");
    const std::vector<std::string> labels = turns(run.substr(0, digits));
    const int count = digits == std::string::npos ? 1 : countIn(run, digits);
    for (int axis = 0; axis < count; ++axis) {
      const int turn = isReversed ? count - 1 - axis : axis; // the first label is on the last axis
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
  // Properties of the input can only be compared on the input's own grid.
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
    // A reversed axis precedes all earlier ones, so the last axis splits first: for "h2-" on axes 0
    // and 1 the order is 1, 0.
    order.insert(requested.reversed[axis] ? order.begin() : order.end(), axis);
    isRequested |= requested.reversed[axis];
  }
  return isRequested ? order : std::vector<int>();
}

namespace {

// Orders the axes that shall split a dimension: first those that split the source's dimension, in
// its order, then the others. The search ends at the first axis of the source that is not among
// `axes`, since split points can only be reused from the slowest axis on.
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

// The split points of a source's dimension for another list of axes. The common axes, from the
// major one on, keep their split points. Blocks along further axes of the source are joined, and
// blocks along further axes of `order` are divided evenly. For example, if axes 0 and 1 with two
// processes each split the source at 0, 1, 4, 6, 8, the order {0} gives 0, 4, 8, and {0, 2} with
// two processes on axis 2 gives 0, 2, 4, 6, 8.
std::vector<Index> cutsLike(const Layout& source, int dim, const std::vector<int>& order) {
  const std::vector<int>& sourceAxes = source.splitAxes(dim);
  const auto [sourceRest, orderRest] = std::ranges::mismatch(sourceAxes, order);
  std::vector<Index> cuts = source.cuts(dim);
  for (auto axis = sourceAxes.end(); axis != sourceRest;)
    cuts = joinedCuts(cuts, source.grid().extent(*--axis));
  for (auto axis = orderRest; axis != order.end(); ++axis)
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
    // An order that the signature requests has priority over the order of the source.
    if (spec.splitAxes[d].empty())
      spec.splitAxes[d] = orderLike(source->splitAxes(dim), plain.splitAxes(static_cast<int>(d)));
    // Axes of one process split nothing; with them, equal lists of axes would look different.
    std::erase_if(spec.splitAxes[d], [&](int axis) { return grid->isTrivial(axis); });
    spec.cuts[d] = cutsLike(*source, dim, spec.splitAxes[d]);
  }
  return Layout(std::move(spec));
}

Layout makeLayoutLike(const Layout& source, const GridPtr& grid, const TensorSignature& requested) {
  const Layout plain = source.withoutHalos();
  std::vector<CutSource> sameCuts;
  for (int d = 0; d < plain.ndim(); ++d)
    sameCuts.push_back({&plain, d});
  return makeLayout(plain.shape(), grid, requested, sameCuts);
}

Layout cutAtMultiples(const Layout& layout, int dim, Index of) {
  if (layout.parts(dim) == 1)
    return layout;
  LayoutSpec spec = layout.spec();
  for (Index& cut : spec.cuts[dim])
    cut = (cut + of / 2) / of * of;
  return Layout(std::move(spec));
}

} // namespace tenon
