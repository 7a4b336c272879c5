// SPDX-License-Identifier: BSD-2-Clause
// Finds runs of maps that take rows, compute on each and sum them, as message passing does, and makes each one map, so
// that the rows between need no memory beyond the cache. Whoever runs the list exchanges the kernel (layer/mesh/).
#include "declaration/core/map_list.hpp"

#include <algorithm>
#include <functional>

namespace tenon {

namespace {

// Whose kernel does that with rows, in each pass.
bool works(const MapList& list, const Map& map, RowWork work) {
  return map.kind == Map::Kind::Kernel && map.when == When::Always && !map.fixed &&
         list.kernels()[map.object].rows == work;
}

std::vector<int> writersOf(const MapList& list, ValueId v) {
  std::vector<int> writers;
  for (std::size_t m = 0; m < list.maps().size(); ++m)
    if (list.maps()[m].kind != Map::Kind::Source && list.maps()[m].y == v)
      writers.push_back(static_cast<int>(m));
  return writers;
}

// Whether the value has no other memory than the library's, and no other reader than one map.
bool isBetween(const MapList& list, ValueId v) {
  std::ptrdiff_t readers = 0;
  for (const Map& map : list.maps())
    readers += std::ranges::count(map.x, v);
  return readers == 1 && list.values()[v].place == Value::Place::Own &&
         !list.values()[v].isCallers();
}

} // namespace

std::vector<RowRun> MapList::rowRuns() const {
  std::vector<RowRun> runs;
  for (std::size_t m = 0; m < maps_.size(); ++m) {
    if (!works(*this, maps_[m], RowWork::Summed))
      continue;
    const ValueId message = maps_[m].x.front();
    const std::vector<int> networks = writersOf(*this, message);
    if (networks.size() != 1 || !works(*this, maps_[networks[0]], RowWork::Each))
      continue;
    const Map& network = maps_[networks[0]];
    // A kernel that runs elsewhere too stays what it is.
    const auto calls = std::ranges::count_if(maps_, [&](const Map& map) {
      return map.kind == Map::Kind::Kernel && map.object == network.object;
    });
    const ValueId rows = network.x.front();
    const std::vector<int> taken = writersOf(*this, rows);
    const bool areTaken = !taken.empty() && std::ranges::all_of(taken, [&](int map) {
      return works(*this, maps_[map], RowWork::Taken);
    });
    if (calls == 1 && areTaken && isBetween(*this, rows) && isBetween(*this, message))
      runs.push_back({taken, networks[0], static_cast<int>(m)});
  }
  return runs;
}

void MapList::fuse(const RowRun& run) {
  const Map network = maps_[run.network];
  Map fused = maps_[run.summed];
  fused.object = network.object;
  fused.node = network.node;
  fused.x.clear();
  for (const int map : run.taken)
    fused.x.push_back(maps_[map].x.front());
  KernelEntry& kernel = kernels_[network.object];
  kernel.anyStrides = false;
  kernel.rows = RowWork::Fused;
  values_[network.x.front()].kept = values_[network.y].kept = false;
  for (const ValueId x : fused.x)
    values_[x].kept = values_[x].place != Value::Place::Constant;
  maps_[run.summed] = std::move(fused);
  std::vector<int> dropped = run.taken;
  dropped.push_back(run.network);
  std::ranges::sort(dropped, std::greater<>());
  for (const int map : dropped)
    maps_.erase(maps_.begin() + map);
}

} // namespace tenon
