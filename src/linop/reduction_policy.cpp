// SPDX-License-Identifier: BSD-2-Clause
#include "linop/reduction_policy.hpp"

#include "linop/reduction_op.hpp"
#include "machine/machine_file.hpp"
#include "sys/error.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace tenon {

namespace {

constexpr OptionSpec kReductionOptions[] = {
    {"reduction", OptionSpec::String, "mpi",
     "how to reduce over grid axes: mpi (as routed), auto (the cheapest program), or a list of "
     "programs separated by semicolons; see doc/placement.md"},
    {"machine_levels", OptionSpec::String, "",
     "sizes of the machine's levels for reduction programs, outermost first, such as 2,4; ranks "
     "are numbered level by level; empty: all ranks on one level"},
};
const OptionRegistration kReductionRegistration{{"reduction", kReductionOptions}};

Hierarchy parseLevels(const std::string& text) {
  Hierarchy levels;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    Index size = 0;
    const auto [stop, error] = std::from_chars(at, end, size);
    const bool more = stop != end && *stop == ',' && stop + 1 != end;
    if (error != std::errc() || size < 1 || !(stop == end || more))
      throw Error(TENON_ERR_ARG,
                  fmt::format("-tenon_machine_levels is '{}' (error at byte {}); it must be a list "
                              "of sizes >= 1 separated by commas, such as 2,4",
                              text, at - text.data()));
    levels.push_back(size);
    at = more ? stop + 1 : stop;
  }
  return levels;
}

// Digits of a place on the levels.
std::vector<Index> digitsOf(Index place, const Hierarchy& machine) {
  std::vector<Index> digits(machine.size());
  for (std::size_t level = machine.size(); level-- > 0; place /= machine[level])
    digits[level] = place % machine[level];
  return digits;
}

// The digits of each level among the ranks, in the order in which they come; the product of their
// numbers is the ranks' number.
std::vector<std::vector<Index>> digitsOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  std::vector<std::vector<Index>> digits(machine.size());
  for (int rank : ranks) {
    const std::vector<Index> own = digitsOf(rank, machine);
    for (std::size_t level = 0; level < machine.size(); ++level)
      if (std::ranges::find(digits[level], own[level]) == digits[level].end())
        digits[level].push_back(own[level]);
  }
  return digits;
}

std::vector<Index> sizesOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  std::vector<Index> sizes;
  Index product = 1;
  for (const std::vector<Index>& ofLevel : digitsOf(ranks, machine)) {
    sizes.push_back(static_cast<Index>(ofLevel.size()));
    product *= sizes.back();
  }
  if (product != static_cast<Index>(ranks.size()))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("ranks {} reduce together, but at each of the machine's levels [{}] they are "
                    "at {} places, which makes {}: not a part of each level; place the process "
                    "grid with TenonPartitionCreatePlaced(), or pass other -tenon_machine_levels",
                    fmt::join(ranks, ","), fmt::join(machine, ","), fmt::join(sizes, ","),
                    product));
  return sizes;
}

// Which of the ranks has each number, level by level.
std::vector<int> orderOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  sizesOf(ranks, machine); // or throws
  const std::vector<std::vector<Index>> digits = digitsOf(ranks, machine);
  std::vector<int> order(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::vector<Index> own = digitsOf(ranks[i], machine);
    std::size_t number = 0;
    for (std::size_t level = 0; level < machine.size(); ++level) {
      const auto place = std::ranges::find(digits[level], own[level]) - digits[level].begin();
      number = number * digits[level].size() + place;
    }
    order[number] = static_cast<int>(i);
  }
  return order;
}

// Bytes are counted in each program of its own.
std::vector<Program> parsePrograms(const std::string& text) {
  std::vector<Program> programs;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(';', begin);
    programs.push_back(parseProgram(
        text.substr(begin, end == std::string::npos ? std::string::npos : end - begin)));
  }
  return programs;
}

void checkRanks(const Mesh& mesh, const Hierarchy& machine) {
  const int places = deviceCount(machine);
  for (int rank : mesh.ranks())
    if (rank >= places)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("the machine's levels [{}] have {} places, but process grid {} has rank {}; "
                      "pass -tenon_machine_levels whose product is at least the number of ranks",
                      fmt::join(machine, ","), places, mesh.describe(), rank));
}

} // namespace

ReductionPolicy ReductionPolicy::fromOptions() {
  ReductionPolicy policy;
  policy.machine = parseLevels(options().getString("", "machine_levels"));
  const std::string text = options().getString("", "reduction");
  policy.automatic = text == "auto";
  if (policy.automatic)
    policy.machineFile = machineFileOption();
  else if (text != "mpi")
    policy.programs = parsePrograms(text);
  return policy;
}

std::string ReductionPolicy::agreedText() const {
  if (isByRoute())
    return "";
  std::string how = machineFile.empty() ? "auto" : fmt::format("auto on machine '{}'", machineFile);
  if (!automatic) {
    std::vector<std::string> texts;
    for (const Program& program : programs)
      texts.push_back(describe(program));
    how = fmt::format("{}", fmt::join(texts, "; "));
  }
  return fmt::format("; reduction by {} on levels [{}]", how, fmt::join(machine, ","));
}

std::vector<std::vector<int>> reductionGroupsOf(const Mesh& mesh, const std::vector<int>& axes,
                                                const std::vector<int>& order) {
  std::vector<std::vector<int>> groups;
  std::set<int> seen;
  for (int rank : mesh.ranks()) {
    if (seen.count(rank))
      continue;
    groups.push_back(membersOf(reductionGroupOf(mesh, axes, rank), order));
    seen.insert(groups.back().begin(), groups.back().end());
  }
  return groups;
}

Hierarchy reductionHierarchy(const Mesh& mesh, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  checkRanks(mesh, machine);
  std::vector<Index> sizes;
  std::vector<int> first;
  for (const std::vector<int>& group : reductionGroupsOf(mesh, axes)) {
    const std::vector<Index> own = sizesOf(group, machine);
    if (first.empty()) {
      sizes = own;
      first = group;
    } else if (own != sizes) {
      throw Error(
          TENON_ERR_ARG,
          fmt::format("on the machine's levels [{}], ranks {} reduce together at {} places per "
                      "level, but ranks {} at {}; all groups must be alike: place the process grid "
                      "with TenonPartitionCreatePlaced(), or pass other -tenon_machine_levels",
                      fmt::join(machine, ","), fmt::join(first, ","), fmt::join(sizes, ","),
                      fmt::join(group, ","), fmt::join(own, ",")));
    }
  }
  std::erase(sizes, 1);
  return sizes;
}

std::vector<int> memberOrder(const Mesh& mesh, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  const auto groups = reductionGroupsOf(mesh, axes);
  std::vector<int> order = orderOf(groups.front(), machine);
  for (const std::vector<int>& group : groups)
    if (orderOf(group, machine) != order)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("ranks {1} and ranks {2}, in the order of their coordinates, are placed "
                      "differently on machine levels [{0}], so a program would sum in "
                      "different orders; place the process grid by a parallelism matrix of "
                      "the levels (TenonPartitionCreatePlaced()), or pass other "
                      "-tenon_machine_levels",
                      fmt::join(machine, ","), fmt::join(group, ","),
                      fmt::join(groups.front(), ",")));
  if (std::ranges::is_sorted(order))
    order.clear();
  return order;
}

} // namespace tenon
