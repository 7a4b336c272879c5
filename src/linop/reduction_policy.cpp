// SPDX-License-Identifier: BSD-2-Clause
#include "linop/reduction_policy.hpp"

#include "linop/reduction_op.hpp"
#include "machine/machine_file.hpp"
#include "sys/error.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <set>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"reduction", OptionSpec::String, "mpi",
     "how sums over mesh axes, P to B, are made; mpi: by the conversion's route; auto: by the "
     "cheapest program, once -tenon_machine_file or -tenon_machine_... rates are given; else "
     "programs of the reduction language with semicolons between, of which each sum takes the "
     "first "
     "that fits its levels, such as '(0, InsideGroup, ReduceScatter), (0, InsideGroup, "
     "AllGather)'"},
    {"machine_levels", OptionSpec::String, "",
     "sizes of the machine's levels for reduction programs, outermost first, such as 2,4; ranks "
     "are numbered level by level; none: all ranks on one level"},
};
const OptionRegistration kRegistration{{"reduction", kOptions}};

Hierarchy parseLevels(const std::string& text) {
  Hierarchy levels;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    Index size = 0;
    const auto [stop, error] = std::from_chars(at, end, size);
    const bool more = stop != end && *stop == ',' && stop + 1 != end;
    if (error != std::errc() || size < 1 || !(stop == end || more))
      throw Error(TENON_ERR_ARG,
                  fmt::format("-tenon_machine_levels is '{}'; expected sizes of at least 1 with "
                              "commas between, such as 2,4; byte {} is at fault",
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

// How many digits each level has among the ranks; their product is the ranks' number.
std::vector<Index> sizesOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  std::vector<std::set<Index>> digits(machine.size());
  for (int rank : ranks) {
    const std::vector<Index> own = digitsOf(rank, machine);
    for (std::size_t level = 0; level < machine.size(); ++level)
      digits[level].insert(own[level]);
  }
  std::vector<Index> sizes;
  Index product = 1;
  for (const std::set<Index>& set : digits) {
    sizes.push_back(static_cast<Index>(set.size()));
    product *= sizes.back();
  }
  if (product != static_cast<Index>(ranks.size()))
    throw Error(TENON_ERR_ARG,
                fmt::format("the ranks {} sum together, but on the machine's levels [{}] they "
                            "stand at {} places each, which makes {}: not a part of each level; "
                            "place the mesh by a parallelism matrix of the levels "
                            "(TenonPartitionCreatePlaced), or pass other -tenon_machine_levels",
                            fmt::join(ranks, ","), fmt::join(machine, ","), fmt::join(sizes, ","),
                            product));
  return sizes;
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
      throw Error(TENON_ERR_ARG,
                  fmt::format("the machine's levels [{}] have {} places, but the mesh {} holds "
                              "rank {}; pass -tenon_machine_levels whose product is at least the "
                              "number of ranks",
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

std::vector<std::vector<int>> reductionGroupsOf(const Mesh& mesh, const std::vector<int>& axes) {
  std::vector<std::vector<int>> groups;
  std::set<int> seen;
  for (int rank : mesh.ranks()) {
    if (seen.count(rank))
      continue;
    groups.push_back(reductionGroupOf(mesh, axes, rank));
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
      throw Error(TENON_ERR_ARG,
                  fmt::format("on the machine's levels [{}] the ranks {} that sum together stand "
                              "at {} places each, but the ranks {} at {}; all groups must be "
                              "alike: place the mesh by a parallelism matrix of the levels "
                              "(TenonPartitionCreatePlaced), or pass other -tenon_machine_levels",
                              fmt::join(machine, ","), fmt::join(first, ","), fmt::join(sizes, ","),
                              fmt::join(group, ","), fmt::join(own, ",")));
    }
  }
  std::erase(sizes, 1);
  return sizes;
}

} // namespace tenon
