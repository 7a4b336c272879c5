// SPDX-License-Identifier: BSD-2-Clause
// A plan of a network of layers as a file, with what it was made for:
//
//   {"format": "tenon-plan-2", "network": [...], "data_type": "float32", "input": [256,1,28,28],
//    "pinned_input": "", "pinned_output": "", "processes": 4, "grid": [2,2], "plan": {...}}
//
// "network" has the lines of a network file, without containers; "grid" has the prime factors of
// the number of processes in the order of the machine's levels. Reading searches nothing: a plan
// for something else is refused.
#pragma once

#include "geometry/box.hpp"
#include "planner/search/plan_search.hpp"
#include "sys/files/json_text.hpp"
#include "sys/files/json_tree.hpp"

namespace tenon {

// A plan that was found, as JSON: what one rank tells the others, and the heart of a plan file.

Json jsonOf(const FoundPlan& plan);
std::string textOf(const FoundPlan& plan);
// Reads a plan. Throws TENON_ERR_FORMAT naming the key and the byte.
FoundPlan planFrom(const JsonView& plan);

struct PlanFile {
  std::string network, dataType; // the network as text, a line for each layer
  Shape input;
  std::string pinnedInput, pinnedOutput; // the caller's layouts as text; "" where free
  Index processes = 1;
  std::vector<int> grid;
  FoundPlan plan;
};

std::string textOf(const PlanFile& file);
// Throws TENON_ERR_FORMAT naming `path`, the key and the byte.
PlanFile planFileFrom(const std::string& text, const std::string& path);
// Checks that a plan from `path` is for the same network, input, number of processes, levels and
// pinned layouts as `wanted`. Throws TENON_ERR_FORMAT, TENON_ERR_SHAPE, TENON_ERR_STATE or
// TENON_ERR_LAYOUT, saying what differs first.
void checkSame(const PlanFile& file, const PlanFile& wanted, const std::string& path);
// Throws TENON_ERR_FORMAT unless the plan has a word for each of these layers, and for no other.
void checkLayers(const FoundPlan& plan, const std::vector<std::string>& layers,
                 const std::string& path);

} // namespace tenon
