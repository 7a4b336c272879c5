// SPDX-License-Identifier: BSD-2-Clause
// Plans of networks of layers as JSON. The text of a plan is broadcast from the rank that searched,
// and it is the entry "plan" of a file. The other entries of the file are the subject: the network,
// inputs and processes for which the plan was made:
//
//   {"format": "tenon-plan-6", "network": [...], "data_type": "float32", "input": [256,1,28,28],
//    "pinned_input": "", "pinned_output": "", "processes": 4, "grid": [2,2], "plan": {...}}
//
// For a network with several inputs "further_inputs" has the shapes of all but the first, and for
// one with lists of a mesh "lists" has the data of the lists that all ranks know.
//
// "network" has the lines of a network file, without containers; "grid" has the prime factors of
// the number of processes in the order of the machine's levels. A reader needs neither search nor
// prices: the plan contains for each layer the parallelization, the signature, and the layouts in
// which the layer uses its inputs. The reader makes the form of the layer and compares it with
// these. A plan for another subject is an error.
#pragma once

#include "geometry/layout/box.hpp"
#include "planner/parallelizations/declared_network.hpp"
#include "planner/parallelizations/native_layouts.hpp"
#include "planner/search/plan_search.hpp"
#include "sys/files/json_text.hpp"
#include "sys/files/json_tree.hpp"

namespace tenon {

// The context in which a plan that is read must be valid: the layers with parallelizations, the
// grids of the processes, and the pinned layouts, whose grids parallelizations can use as well.
struct PlanFrame {
  DeclaredNetwork network;
  std::vector<FineGrid> grids;
  std::optional<Layout> input, output;
  std::vector<ListedField> listed = {}; // parallelizations can use their grids as well
};

Json jsonOf(const FoundPlan& plan);
std::string textOf(const FoundPlan& plan);
// Throws TENON_ERR_FORMAT with the key and the byte if the text is damaged, or if a grid, a
// parallelization, a signature or a layout does not fit.
FoundPlan planFrom(const JsonView& plan, const PlanFrame& frame);

// Everything for which a plan was made, in the form in which it is compared.
struct PlanSubject {
  std::string network, dataType; // the network as text, one line per layer
  Shape input;
  std::vector<Shape> furtherInputs;      // of a network with several inputs
  std::string pinnedInput, pinnedOutput; // the user's layouts as text; "" if not pinned
  std::string lists;                     // of a mesh, as text; "" if there are none
  Index processes = 1;
  std::vector<int> grid;
};

std::string textOf(const PlanSubject& subject, const FoundPlan& plan);
// Checks that the plan in a file from `path`, which has the key "plan", was made for this subject.
// Throws TENON_ERR_FORMAT with the key and the byte if the file is damaged or of another version.
// For another network, input, number of processes, levels or pinned layouts throws
// TENON_ERR_FORMAT, TENON_ERR_SHAPE, TENON_ERR_STATE or TENON_ERR_LAYOUT with the first difference.
void checkSubject(const JsonView& file, const PlanSubject& wanted, const std::string& path);

} // namespace tenon
