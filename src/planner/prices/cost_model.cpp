// SPDX-License-Identifier: BSD-2-Clause
// What all cost models share (cost_model.hpp): parallelizations as text for a layer, the list of
// legal ones, and the tables of seconds and bytes on which a search works. The position of a
// parallelization in the list of a layer is a state of the search; in the model each
// parallelization has a number.
//
// The order of a layer's parallelizations decides between plans of equal cost, because a search
// prefers the first. Those on the grid of a pinned field (an input or output whose layout the user
// has fixed) are listed first, so a layer prefers the distribution of the field.
#include "planner/prices/cost_model.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tenon {

int CostModel::numberOf(const Parallelization& parallelization) const {
  const auto found = std::find(parallelizations_.begin(), parallelizations_.end(), parallelization);
  return found == parallelizations_.end() ? -1
                                          : static_cast<int>(found - parallelizations_.begin());
}

std::string CostModel::text(int layer, int number) const {
  return textOf(parallelizations_[number], spatial(layer), channelLabel(layer));
}

int CostModel::parse(int layer, const std::string& text) const {
  const std::string who = "layer " + names_[layer];
  // The model has parallelizations with input channels only if the search was requested with them.
  const int number =
      numberOf(parseParallelization(text, grid_, spatial(layer), who, channelLabel(layer)));
  const std::string why =
      number < 0 ? "the label i is not among the choices of this search" : fault(layer, number);
  if (!why.empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} cannot have the parallelization '{}': {}", who, text, why));
  return number;
}

namespace {

// The first parallelization splits only the batch, and its fault is the simplest to explain.
[[noreturn]] void throwNotDivisible(const CostModel& model, int layer) {
  throw Error(
      TENON_ERR_SHAPE,
      fmt::format("layer {} cannot be divided among {} processes: {}; no other mix of batch, "
                  "channels and space is possible either. Use fewer processes or a larger "
                  "batch",
                  model.names()[layer], model.grid().processes(), model.fault(layer, 0)));
}

} // namespace

ParallelizationLists legalParallelizations(const CostModel& model) {
  ParallelizationLists lists(model.layers());
  for (int layer = 0; layer < model.layers(); ++layer) {
    // Starts with the first parallelization after those of the fine grid, and wraps around.
    const int fine = static_cast<int>(model.parallelizations().size()),
              aligned = model.firstBalanced();
    for (int turn = 0; turn < model.parallelizationCount(); ++turn)
      if (const int parallelization = turn < aligned ? (fine + turn) % aligned : turn;
          model.fault(layer, parallelization).empty())
        lists[layer].push_back(parallelization);
    if (lists[layer].empty())
      throwNotDivisible(model, layer);
  }
  return lists;
}

CostTables tablesOf(const CostModel& model, const ParallelizationLists& parallelizations,
                    Precision precision) {
  CostTables tables{.names = model.names(),
                    .seconds = std::vector<std::vector<double>>(model.layers()),
                    .bytes = std::vector<std::vector<double>>(model.layers()),
                    .pairs = {}};
  for (int layer = 0; layer < model.layers(); ++layer)
    for (int parallelization : parallelizations[layer]) {
      tables.seconds[layer].push_back(model.layerSeconds(layer, parallelization, precision));
      tables.bytes[layer].push_back(model.layerBytes(layer, parallelization));
    }
  for (std::size_t m = 0; m < model.moves().size(); ++m) {
    const auto [from, to] = model.moves()[m];
    PairTable& pair = tables.pairs.emplace_back(PairTable{from, to, {}});
    // Networks repeat their layers, and copying a table of hundreds of thousands of prices is
    // faster than looking them up.
    const int like = model.firstLike(static_cast<int>(m));
    if (const auto [first, second] = model.moves()[like];
        like < static_cast<int>(m) && parallelizations[first] == parallelizations[from] &&
        parallelizations[second] == parallelizations[to]) {
      pair.seconds = tables.pairs[like].seconds;
      continue;
    }
    pair.seconds.reserve(parallelizations[from].size() * parallelizations[to].size());
    for (int a : parallelizations[from])
      for (int b : parallelizations[to])
        pair.seconds.push_back(model.moveSeconds(static_cast<int>(m), a, b, precision));
  }
  return tables;
}

double CostModel::planBytes(const std::vector<int>& parallelizations) const {
  double sum = 0;
  for (int layer = 0; layer < layers(); ++layer)
    sum += layerBytes(layer, parallelizations[layer]);
  return sum;
}

double secondsOf(const CostModel& model, const std::vector<int>& plan, Precision precision) {
  // The same sum as CostTables::secondsOf(), but of any precision, and for parallelizations
  // instead of states.
  double sum = 0;
  for (int layer = 0; layer < model.layers(); ++layer)
    sum += model.layerSeconds(layer, plan[layer], precision);
  for (std::size_t m = 0; m < model.moves().size(); ++m)
    sum += model.moveSeconds(static_cast<int>(m), plan[model.moves()[m].from],
                             plan[model.moves()[m].to], precision);
  return sum;
}

} // namespace tenon
