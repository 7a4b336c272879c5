// SPDX-License-Identifier: BSD-2-Clause
// This computer as hwloc sees it: packages, NUMA nodes, last-level caches and cores, and which of
// them this process is bound to. Built without hwloc, it knows the number of processors and no
// more.
#pragma once

#include "machine/places.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

class LocalTopology {
public:
  // Describes this computer; or, for tests, one that hwloc's synthetic description names, on which
  // this process is bound to the processors from `first` to `last`.
  LocalTopology();
  LocalTopology(const std::string& synthetic, int first, int last);
  ~LocalTopology();

  // "interface 2.8", or "none" with what to do about it.
  static std::string library();
  // The levels of all places below: package, numa, l3, core; none without hwloc.
  static const std::vector<std::string>& levels();
  // What cannot be seen for lack of hwloc.
  static const std::vector<std::string>& notes();
  // The units that hold all processors which this process may run on; kNoUnit where none does.
  std::vector<Index> ownPlace() const;
  // The place of each core, by number.
  std::vector<std::vector<Index>> corePlaces() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The cores of this computer as a machine without links.
JoinedPlaces localMachine(const LocalTopology& topology);

} // namespace tenon
