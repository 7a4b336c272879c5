// SPDX-License-Identifier: BSD-2-Clause
#include "linop/reduction_policy.hpp"

#include "linop/reduction_op.hpp"
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
     "cheapest program, once -tenon_machine_... rates are given; else a program of "
     "the reduction language, such as '(0, InsideGroup, ReduceScatter), (0, InsideGroup, "
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
  if (text != "mpi" && text != "auto")
    policy.program = parseProgram(text);
  return policy;
}

std::string ReductionPolicy::agreedText() const {
  if (!program && !automatic)
    return "";
  return fmt::format("; reduction by {} on levels [{}]", automatic ? "auto" : describe(*program),
                     fmt::join(machine, ","));
}

Hierarchy reductionHierarchy(const Mesh& mesh, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  checkRanks(mesh, machine);
  std::vector<Index> sizes;
  std::vector<int> first;
  std::set<int> seen;
  for (int rank : mesh.ranks()) {
    if (seen.count(rank))
      continue;
    const std::vector<int> group = reductionGroupOf(mesh, axes, rank);
    seen.insert(group.begin(), group.end());
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
