// SPDX-License-Identifier: BSD-2-Clause
// Sums of cost tables for a plan, and tables of fewer states. A pair's seconds are one array, row
// by row of the states of `from`; whoever restricts or reads it has to use the number of states
// that the table was made for.
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

CostTables CostTables::restrictedTo(const std::vector<std::vector<int>>& kept) const {
  CostTables made{.names = names,
                  .seconds = std::vector<std::vector<double>>(layers()),
                  .bytes = std::vector<std::vector<double>>(layers()),
                  .pairs = {}};
  for (int layer = 0; layer < layers(); ++layer)
    for (int state : kept[layer]) {
      made.seconds[layer].push_back(seconds[layer][state]);
      made.bytes[layer].push_back(bytes[layer][state]);
    }
  for (const PairTable& pair : pairs) {
    PairTable part{.from = pair.from, .to = pair.to, .seconds = {}};
    for (int a : kept[pair.from])
      for (int b : kept[pair.to])
        part.seconds.push_back(pair.seconds[std::size_t(a) * states(pair.to) + b]);
    made.pairs.push_back(std::move(part));
  }
  return made;
}

} // namespace tenon
