// SPDX-License-Identifier: BSD-2-Clause
// The topology of this computer, from hwloc: packages, NUMA nodes, last-level caches and cores, and
// those to which this process is bound. Without hwloc only the number of processors is known.
#pragma once

#include "machine/places.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

// The topology is read once, by the constructor.
class LocalTopology {
public:
  // Describes this computer; or, for tests, one of hwloc's synthetic descriptions, where this
  // process is bound to processors first ... last.
  LocalTopology();
  LocalTopology(const std::string& synthetic, int first, int last);
  ~LocalTopology();

  // Returns "interface 2.8", or "none" with a remedy.
  static std::string library();
  // Names of the levels in the places below: package, numa, l3, core; empty without hwloc.
  static const std::vector<std::string>& levels();
  // Notes on information that is missing without hwloc.
  static const std::vector<std::string>& notes();
  // Returns the unit of each level that contains all processors on which this process can run;
  // kNoUnit if none does. A process that is bound to the cores 4 and 5 of package 0 has, for
  // example, {0, 0, 1, kNoUnit}.
  std::vector<Index> ownPlace() const;
  // Returns the place of each core, by core number.
  std::vector<std::vector<Index>> corePlaces() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the cores of this computer as a machine without links.
JoinedPlaces localMachine(const LocalTopology& topology);

} // namespace tenon
