// SPDX-License-Identifier: BSD-2-Clause
// What the commands of `tenon plan` share: a system and the axes of a job from options, their
// placements, and lists of numbers as text.
#pragma once

#include "tools/handles.hpp"
#include "tools/program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tenon::tools {

using Sizes = std::vector<TenonInt>;

// The numbers of an option such as "-system 4,16"; an error if it is not given or holds anything
// else.
Sizes sizesOption(const char* name);

// The same of a text that the option of this name has.
Sizes sizesFrom(const char* name, const std::string& given);

struct PlannedPlacements {
  Sizes system, axes;
  PlacementList list;

  // The placements that -system and -axes name. Axes that do not make up the system are a wrong
  // call, and an answer too: `printNone` gives it before the error is thrown.
  static PlannedPlacements fromOptions(const std::function<void()>& printNone);
  static PlannedPlacements on(Sizes system, const std::function<void()>& printNone);
  TenonInt count() const;
  std::vector<Sizes> matrix(TenonInt index) const;
};

// The axes that -reduce names.
std::vector<int> reducedAxesOption();
// The limit that -size sets on the instructions of a program.
int programSizeOption();
// A program in the paper's notation.
std::string programText(const ReductionPrograms& programs, TenonInt index);

// The text in quotes, as in JSON.
std::string quoted(const std::string& text);
// Lists as text, "[4,16]" and "[[1,2],[4,8]]", which is JSON and the paper's notation.
std::string textOf(const Sizes& sizes);
std::string textOf(const std::vector<Sizes>& matrix);

} // namespace tenon::tools
