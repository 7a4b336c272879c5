// SPDX-License-Identifier: BSD-2-Clause
// Common code of the commands of `tenon plan`: a system and the axes of a job from options, their
// placements, and lists of numbers as text.
#pragma once

#include "tools/handles.hpp"
#include "tools/program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tenon::tools {

using Sizes = std::vector<TenonInt>;

// The numbers of an option such as "-system 4,16"; an error if it is missing or contains anything
// else.
Sizes sizesOption(const char* name);

// The numbers in a text, which comes from the option `name`.
Sizes sizesFrom(const char* name, const std::string& given);

// The placements of a job on a system: the ways to divide the axes of its process grid over the
// levels. For the system 2,4 (2 nodes of 4 GPUs) and axes 4,2 they are the matrices [[1,4],[2,1]]
// and [[2,2],[1,2]], whose entry [axis][level] is the number of parts.
struct PlannedPlacements {
  Sizes system, axes; // sizes of the levels, outermost first; extents of the process grid
  PlacementList list;

  // The placements of the options -system and -axes. Axes that do not multiply to the system are an
  // error, but also an answer: `printNone` prints it before the error is thrown.
  static PlannedPlacements fromOptions(const std::function<void()>& printNone);
  // The placements of the option -axes on a given system.
  static PlannedPlacements on(Sizes system, const std::function<void()>& printNone);
  TenonInt count() const;
  // The matrix of one placement, by axis.
  std::vector<Sizes> matrix(TenonInt index) const;
};

// The axes of the option -reduce.
std::vector<int> reducedAxesOption();
// The limit of the option -size on the instructions of a program.
int programSizeOption();
// A program in the paper's notation.
std::string programText(const ReductionPrograms& programs, TenonInt index);

// The text in quotes, as in JSON.
std::string quoted(const std::string& text);
// Lists as text, "[4,16]" and "[[1,2],[4,8]]", which is both JSON and the paper's notation.
std::string textOf(const Sizes& sizes);
std::string textOf(const std::vector<Sizes>& matrix);

} // namespace tenon::tools
