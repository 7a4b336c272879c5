// SPDX-License-Identifier: BSD-2-Clause
// Sums of cost tables for a plan, and tables restricted to fewer states. A plan chooses one state
// (parallelization) of each layer; it costs the seconds of each layer in its state and of each pair
// of layers that communicate. The seconds of a pair are one array, row by row of the states of
// `from`; code that restricts or reads it must use the number of states for which the table was
// built.
#include "planner/search/cost_tables.hpp"

namespace tenon {

double CostTables::secondsOf(const std::vector<int>& choice) const {
  double sum = 0;
  for (int layer = 0; layer < layers(); ++layer)
    sum += seconds[layer][choice[layer]];
  for (const PairTable& pair : pairs)
    sum += pair.seconds[std::size_t(choice[pair.from]) * states(pair.to) + choice[pair.to]];
  return sum;
}

double CostTables::bytesOf(const std::vector<int>& choice) const {
  double sum = 0;
  for (int layer = 0; layer < layers(); ++layer)
    sum += bytes[layer][choice[layer]];
  return sum;
}

CostTables CostTables::restrictedTo(const std::vector<std::vector<int>>& candidates) const {
  CostTables restricted{.names = names,
                        .seconds = std::vector<std::vector<double>>(layers()),
                        .bytes = std::vector<std::vector<double>>(layers()),
                        .pairs = {}};
  for (int layer = 0; layer < layers(); ++layer)
    for (int state : candidates[layer]) {
      restricted.seconds[layer].push_back(seconds[layer][state]);
      restricted.bytes[layer].push_back(bytes[layer][state]);
    }
  for (const PairTable& pair : pairs) {
    PairTable part{.from = pair.from, .to = pair.to, .seconds = {}};
    for (int a : candidates[pair.from])
      for (int b : candidates[pair.to])
        part.seconds.push_back(pair.seconds[std::size_t(a) * states(pair.to) + b]);
    restricted.pairs.push_back(std::move(part));
  }
  return restricted;
}

} // namespace tenon
