// SPDX-License-Identifier: BSD-2-Clause
// Fine grids, the two-ended parallelizations on them (parallelization.hpp), and their text. 12
// processes on 2 nodes of 6 are the fine grid 2 x 2 x 3. With the parallelization "n,o,h", the node
// splits the batch, and within a node 2 parts of the output channels and 3 of space.
//
// The axes are counted from both ends, batch from the first axis and space from the last. Every
// function must split a dimension in this order; otherwise two parallelizations of one plan would
// not be prefixes of each other, and a rank would have other data under each.
#include "planner/parallelizations/parallelization.hpp"

#include "geometry/schedule/traffic.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace tenon {

namespace {

// Appends the prime factors of a number, in increasing order.
void appendFactors(Index number, std::vector<int>& factors) {
  for (Index prime = 2; prime * prime <= number; ++prime)
    for (; number % prime == 0; number /= prime)
      factors.push_back(static_cast<int>(prime));
  if (number > 1)
    factors.push_back(static_cast<int>(number));
}

std::string runText(const std::string& labels, int count) {
  return count == 1 ? labels.substr(0, 1) : fmt::format("{}{}", labels, count);
}

constexpr int kMaxAxes = 64;        // more than any number of processes has prime factors
constexpr double kMaxOrders = 1000; // each order costs a whole search

// A run of a text: "h3" is label h for 3 axes.
struct Run {
  std::string labels;
  int count = 1;
};

} // namespace

FineGrid::FineGrid(const std::vector<Index>& levels) {
  int number = 0;
  for (Index level : levels) {
    // The factors of each level are separate: no axis crosses the border of a level.
    appendFactors(level, extents_);
    processes_ *= level;
    levels_.resize(extents_.size(), number++);
  }
  ranks_.resize(processes_);
  std::iota(ranks_.begin(), ranks_.end(), 0);
}

// Each process keeps its coordinates, in another order: only the numbering of positions changes,
// and the levels of the machine keep their meaning.
FineGrid FineGrid::ordered(const std::vector<int>& order) const {
  FineGrid derived = *this;
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    derived.extents_[axis] = extents_[order[axis]];
    derived.levels_[axis] = levels_[order[axis]];
  }
  const GridPtr before = grid(), after = Grid::make(derived.extents_);
  std::vector<int> coordinates(order.size());
  for (int position = 0; position < after->size(); ++position) {
    for (std::size_t axis = 0; axis < order.size(); ++axis)
      coordinates[order[axis]] = after->coordinate(position, static_cast<int>(axis));
    derived.ranks_[position] = before->rank(before->positionAt(coordinates));
  }
  return derived;
}

FineGrid FineGrid::reversed() const {
  std::vector<int> order(extents_.size());
  std::iota(order.rbegin(), order.rend(), 0);
  FineGrid derived = ordered(order);
  derived.reversed_ = !reversed_;
  return derived;
}

// The level and extent of each axis. Axes of one kind are interchangeable.
std::vector<std::pair<int, int>> FineGrid::kinds() const {
  std::vector<std::pair<int, int>> kinds;
  for (int axis = 0; axis < axes(); ++axis)
    kinds.emplace_back(levels_[axis], extents_[axis]);
  return kinds;
}

// The multinomial coefficient: axes! / product over kinds of (axes of this kind)!
double FineGrid::countOrders() const {
  const std::vector<std::pair<int, int>> all = kinds();
  double count = 1;
  for (std::size_t i = 0; i < all.size(); ++i)
    count *= static_cast<double>(i + 1) /
             static_cast<double>(std::ranges::count(all.begin(), all.begin() + int(i) + 1, all[i]));
  return count;
}

bool FineGrid::hasFewOrders() const {
  return countOrders() <= kMaxOrders;
}

std::vector<FineGrid> FineGrid::orders() const {
  std::vector<std::pair<int, int>> kinds = this->kinds();
  const double count = countOrders();
  if (!hasFewOrders())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("the {} axes of the process grid can be placed on the levels of the "
                            "machine in {:.0f} orders, and at most {:.0f} are searched; set "
                            "placement auto, which looks at two",
                            axes(), count, kMaxOrders));
  const std::vector<std::pair<int, int>> own = kinds;
  std::vector<FineGrid> derived = {*this};
  std::ranges::sort(kinds);
  do {
    std::vector<int> order;
    std::map<std::pair<int, int>, int> next; // start of the search for the next axis of a kind
    for (const auto& kind : kinds) {
      int& start = next[kind];
      start = static_cast<int>(std::find(own.begin() + start, own.end(), kind) - own.begin()) + 1;
      order.push_back(start - 1);
    }
    if (!std::ranges::is_sorted(order))
      derived.push_back(ordered(order));
  } while (std::ranges::next_permutation(kinds).found);
  return derived;
}

FineGrid FineGrid::withoutLast(int axes) const {
  FineGrid derived = *this;
  derived.extents_.resize(extents_.size() - axes);
  derived.levels_.resize(derived.extents_.size());
  // Dropping the innermost axes spreads the remaining processes over all nodes.
  const Index groupSize = product(this->axes() - axes, this->axes());
  derived.processes_ = processes_ / groupSize;
  derived.ranks_.clear();
  for (Index position = 0; position < processes_; position += groupSize)
    derived.ranks_.push_back(ranks_[position]);
  return derived;
}

// The product of the extents of axes first to last - 1.
Index FineGrid::product(int first, int last) const {
  Index product = 1;
  for (int axis = first; axis < last; ++axis)
    product *= extents_[axis];
  return product;
}

std::vector<Parallelization> FineGrid::parallelizations(bool inputChannels) const {
  std::vector<Parallelization> parallelizations;
  // The largest splits of the batch are first: a search prefers the first of equal plans, and a
  // split batch needs only a reduction of gradients.
  const auto add = [&](auto&& isWanted) {
    for (int batch = axes(); batch >= 0; --batch)
      for (int channels = 0; batch + channels <= axes(); ++channels)
        for (int outputs = channels; outputs >= 0; --outputs)
          if (const int inputs = channels - outputs; isWanted(outputs, inputs))
            parallelizations.push_back({.batch = batch,
                                        .outputs = outputs,
                                        .inputs = inputs,
                                        .space = axes() - batch - channels});
  };
  add([](int, int inputs) { return inputs == 0; });
  if (inputChannels) {
    add([](int outputs, int inputs) { return inputs > 0 && outputs == 0; });
    add([](int outputs, int inputs) { return inputs > 0 && outputs > 0; });
  }
  return parallelizations;
}

Parts FineGrid::parts(const Parallelization& parallelization, int splitDims) const {
  const int inner = axes() - parallelization.space;
  Parts parts{.batch = product(0, parallelization.batch),
              .channels = product(parallelization.batch, inner),
              .space = product(inner, axes()),
              .inputs = product(parallelization.batch + parallelization.outputs, inner),
              .spatial = std::vector<Index>(splitDims, 1)};
  // Axes are assigned to spatial dimensions round-robin from the last axis, which keeps their
  // numbers of parts similar.
  for (int turn = 0; turn < parallelization.space && splitDims > 0; ++turn)
    parts.spatial[turn % splitDims] *= extents_[axes() - 1 - turn];
  return parts;
}

std::string spatialLabels(int dims, int split) {
  // The last dimension is always w, for any number of dimensions.
  const std::string all = "dhw";
  return dims > 3 ? "" : all.substr(3 - dims, split);
}

std::string meaningOf(const Parts& parts, const std::string& spatial, char label) {
  std::vector<std::string> meanings;
  const auto add = [&](const char* what, Index over) {
    if (over > 1)
      meanings.push_back(fmt::format("{} over {}", what, over));
  };
  add("batch", parts.batch);
  for (std::size_t d = 0; d < std::min(spatial.size(), parts.spatial.size()); ++d)
    add(spatial[d] == 'd' ? "planes" : spatial[d] == 'h' ? "rows" : "columns", parts.spatial[d]);
  add(label == 'g' ? "groups" : "channels out", parts.channels / parts.inputs);
  add("channels in", parts.inputs);
  return meanings.empty() ? "whole on each process" : joined(meanings, ", ");
}

std::string textOf(const Parallelization& parallelization, const std::string& spatial, char label) {
  std::vector<std::string> runs;
  if (parallelization.batch > 0)
    runs.push_back(runText("n", parallelization.batch));
  if (parallelization.outputs > 0)
    runs.push_back(runText(std::string(1, label), parallelization.outputs));
  if (parallelization.inputs > 0)
    runs.push_back(runText("i", parallelization.inputs));
  if (parallelization.space > 0)
    runs.push_back(runText(spatial, parallelization.space) +
                   (parallelization.space > 1 ? "-" : ""));
  return joined(runs, ",");
}

namespace {

// Parses the text of a parallelization, such as "n4,o2,h3-". `who` is the layer in messages.
class ParallelizationReader {
public:
  ParallelizationReader(std::string_view text, const FineGrid& grid, const std::string& spatial,
                        const std::string& who, char label)
      : text_(text), grid_(grid), spatial_(spatial), who_(who), label_(label) {}

  Parallelization read() const {
    Parallelization parallelization;
    for (const std::string& piece : split(text_, ','))
      add(runOf(piece), parallelization);
    if (sum(parallelization) != grid_.axes())
      fail(fmt::format("it has {} labels, but {} processes are a grid of {}", sum(parallelization),
                       grid_.processes(), counted(grid_.axes(), "axis", "axes")));
    return parallelization;
  }

private:
  static int sum(const Parallelization& parallelization) {
    return parallelization.batch + parallelization.channels() + parallelization.space;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(
        TENON_ERR_OPTION,
        fmt::format("{}: the parallelization '{}' is not possible: {}. Pass runs of n, of {}, of i "
                    "and of {}, in this order, such as n4,{}2",
                    who_, text_, why, label_, spatial_.empty() ? "no spatial label" : spatial_,
                    label_));
  }

  // Reads one run of a parallelization, such as "n4", "o" or "h3-". Space is always ordered from
  // the last axis, so its sign has no effect.
  Run runOf(std::string piece) const {
    if (piece.ends_with('-'))
      piece.pop_back();
    const std::size_t digits = piece.find_first_of("0123456789");
    Run run{.labels = piece.substr(0, digits)};
    if (digits != std::string::npos) {
      const char* end = piece.data() + piece.size();
      const auto [stop, error] = std::from_chars(piece.data() + digits, end, run.count);
      if (error != std::errc() || stop != end || run.count < 1 || run.count > kMaxAxes)
        fail(fmt::format("'{}' is not a label with the number of its grid axes", piece));
    }
    if (run.labels.empty())
      fail(fmt::format("'{}' has no label", piece));
    return run;
  }

  void add(const Run& run, Parallelization& parallelization) const {
    // Batch, output channels, input channels and space must follow in this order: each run checks
    // that no later kind has been read.
    const bool isSpace = run.labels == "s" ? !spatial_.empty() : isTurn(run);
    if (run.labels == "n" && parallelization.channels() + parallelization.space == 0)
      parallelization.batch += run.count;
    else if (run.labels == std::string(1, label_) &&
             parallelization.inputs + parallelization.space == 0)
      parallelization.outputs += run.count;
    else if (run.labels == "i" && parallelization.space == 0)
      parallelization.inputs += run.count;
    else if (run.labels == (label_ == 'o' ? "g" : "o"))
      fail(fmt::format("its output channels have the label {}", label_));
    else if (isSpace)
      parallelization.space += run.count;
    else
      fail(fmt::format("'{}' is not a label that can follow there", run.labels));
  }

  // A run of space lists all split dimensions, which alternate; a single axis can be named by the
  // first of them alone.
  bool isTurn(const Run& run) const {
    return run.labels == spatial_ || (run.count == 1 && run.labels == spatial_.substr(0, 1));
  }

  std::string_view text_;
  const FineGrid& grid_;
  const std::string& spatial_;
  const std::string& who_;
  char label_;
};

} // namespace

Parallelization parseParallelization(std::string_view text, const FineGrid& grid,
                                     const std::string& spatial, const std::string& who,
                                     char label) {
  return ParallelizationReader(text, grid, spatial, who, label).read();
}

} // namespace tenon
