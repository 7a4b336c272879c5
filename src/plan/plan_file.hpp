// SPDX-License-Identifier: BSD-2-Clause
// Plans of networks of layers as JSON: what one rank tells the others, and the heart of a file that
// also says what the plan was made for:
//
//   {"format": "tenon-plan-6", "network": [...], "data_type": "float32", "input": [256,1,28,28],
//    "pinned_input": "", "pinned_output": "", "processes": 4, "grid": [2,2], "plan": {...}}
//
// Of a network with several inputs "further_inputs" has the shapes of the others, and of one with
// lists of a mesh "lists" what all ranks know of these.
//
// "network" has the lines of a network file, without containers; "grid" has the prime factors of
// the number of processes in the order of the machine's levels. Reading searches nothing and prices
// nothing: each layer has its signature, and the layouts in which it uses its inputs, beside its
// parallelization, so that a reader only makes its form and compares. A plan for something else is
// refused.
#pragma once

#include "geometry/layout/box.hpp"
#include "planner/prices/declared_network.hpp"
#include "planner/prices/listed_moves.hpp"
#include "planner/search/plan_search.hpp"
#include "sys/files/json_text.hpp"
#include "sys/files/json_tree.hpp"

namespace tenon {

// What a plan that is read must fit: the layers that have parallelizations, the grids of the
// processes, and the pinned layouts, on whose grids parallelizations may be, too.
struct PlanFrame {
  DeclaredNetwork network;
  std::vector<FineGrid> grids;
  std::optional<Layout> input, output;
  std::vector<ListedField> listed = {}; // on whose grids parallelizations may be as well
};

Json jsonOf(const FoundPlan& plan);
std::string textOf(const FoundPlan& plan);
// Throws TENON_ERR_FORMAT naming the key and the byte where the text is damaged, or where a grid, a
// parallelization, a signature or a layout does not fit.
FoundPlan planFrom(const JsonView& plan, const PlanFrame& frame);

// What a plan was made for, in the form in which it is compared.
struct PlanSubject {
  std::string network, dataType; // the network as text, a line for each layer
  Shape input;
  std::vector<Shape> furtherInputs;      // of a network with several
  std::string pinnedInput, pinnedOutput; // the caller's layouts as text; "" where free
  std::string lists;                     // of a mesh, as text; "" where there are none
  Index processes = 1;
  std::vector<int> grid;
};

std::string textOf(const PlanSubject& subject, const FoundPlan& plan);
// Checks that the plan in a file from `path`, which has the key "plan", was made for this subject.
// Throws TENON_ERR_FORMAT naming the key and the byte where the file is damaged, or of another
// version; and for another network, input, number of processes, levels or pinned layouts
// TENON_ERR_FORMAT, TENON_ERR_SHAPE, TENON_ERR_STATE or TENON_ERR_LAYOUT, saying what differs
// first.
void checkSubject(const JsonView& file, const PlanSubject& wanted, const std::string& path);

} // namespace tenon
