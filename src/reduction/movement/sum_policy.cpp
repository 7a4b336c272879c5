// SPDX-License-Identifier: BSD-2-Clause
// Reads the options of sums over grid axes, and finds the levels of the machine on which they run.
// Levels come, in this order, from the machine file, the option -tenon_machine_levels, the rates of
// the links, or the nodes. For example, 8 ranks on two nodes have the levels 2,4: two
// nodes of four ranks. All inputs are equal on all ranks, so every rank finds the same levels
// without communication; only the machine file can be missing on some of them.
#include "reduction/movement/sum_policy.hpp"

#include "machine/machine_file.hpp"
#include "reduction/cheapest_sum.hpp"
#include "reduction/sum_plan.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace tenon {

namespace {

constexpr OptionSpec kReductionOptions[] = {
    {"reduction", OptionSpec::String, "auto",
     "how to sum over grid axes: auto (the cheapest program on several levels of a machine), route "
     "(as any conversion), nccl (by NCCL, on devices), or a list of programs separated by "
     "semicolons; see doc/placement.md"},
    {"reduction_order", OptionSpec::Choice, "levels",
     "the order in which contributions are added: that of the machine's levels, or that of the "
     "grid's "
     "coordinates whatever the machine, for equal bits on other numbers of nodes",
     "levels|flat"},
    {"machine_levels", OptionSpec::String, "",
     "sizes of the machine's levels for sums, outermost first, such as 2,4; ranks are numbered "
     "level by level; empty: the nodes that MPI tells"},
};
const OptionRegistration kReductionRegistration{{"reduction", kReductionOptions}};

// Parses a list of sizes such as "2,4".
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

// Programs are parsed separately, so errors count bytes from the beginning of each.
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

} // namespace

SumPolicy SumPolicy::fromOptions() {
  SumPolicy policy{.levels = parseLevels(options().getString("", "machine_levels"))};
  const std::string text = options().getString("", "reduction");
  const bool isFlat = options().getChoice("", "reduction_order") == "flat";
  if (text == "auto") {
    // The route adds in the order of coordinates, as "flat" requires.
    policy.by = isFlat ? By::Route : By::Cheapest;
    policy.machineFile = machineFileOption();
  } else if (text == "nccl") {
    if (isFlat)
      throw Error(TENON_ERR_ARG, "-tenon_reduction_order is flat, but NCCL, which -tenon_reduction "
                                 "names, adds in an order of its own; leave one of them out");
    policy.by = By::Vendor;
  } else if (text != "route") {
    if (isFlat)
      throw Error(TENON_ERR_ARG,
                  fmt::format("-tenon_reduction_order is flat, but the program '{}' of "
                              "-tenon_reduction adds on its levels; leave one of them out",
                              text));
    policy.by = By::Programs;
    policy.programs = parsePrograms(text);
  }
  return policy;
}

// A route that the user has requested is not replaced by a cheaper program. If nodes have different
// numbers of ranks, programs are considered nevertheless, and views say why none is used.
bool SumPolicy::mayReplaceRoutes(const RoutePolicy& routes, int ranks, Index ranksPerNode) const {
  if (routes.mode == RouteMode::Exchange || by == By::Route)
    return false;
  if (by != By::Cheapest)
    return true;
  const bool hasLevels = !machineFile.empty() || !levels.empty() || !routes.rates.levels.empty() ||
                         ranksPerNode < ranks;
  return routes.mode == RouteMode::Auto && hasLevels;
}

std::string SumPolicy::agreedText(Index ranksPerNode) const {
  if (by == By::Vendor)
    return "; reduction by nccl";
  std::string choice =
      machineFile.empty() ? "auto" : fmt::format("auto on machine '{}'", machineFile);
  if (by == By::Programs) {
    std::vector<std::string> texts;
    for (const Program& program : programs)
      texts.push_back(describe(program));
    choice = fmt::format("{}", fmt::join(texts, "; "));
  }
  return fmt::format("; reduction by {} on levels [{}], {} ranks a node", choice,
                     fmt::join(levels, ","), ranksPerNode);
}

SumLevels SumPolicy::levelsFor(const LinkRates& links, int ranks, Index ranksPerNode) const {
  const auto on = [&](LinkRates rates) {
    Hierarchy sizes = levels.empty() ? levelsOf(rates, ranks) : levels;
    return SumLevels{std::move(sizes), std::move(rates)};
  };
  if (!machineFile.empty()) {
    const Machine machine = machineForRanks(machineFile, ranks);
    if (!levels.empty() && levels != machine.sizes())
      throw Error(TENON_ERR_ARG,
                  fmt::format("-tenon_machine_levels is {}, but machine '{}' of "
                              "-tenon_machine_file has the levels {}; set only one of them",
                              fmt::join(levels, ","), machine.name(),
                              fmt::join(machine.sizes(), ",")));
    return on(ratesOf(machine, links));
  }
  if (!levels.empty())
    return on(withAssumedNodes(links.onLevel(links.levels.size()), levels));
  if (!links.levels.empty() || ranksPerNode == 0 || ranksPerNode == ranks)
    return on(links);
  return on(withAssumedNodes(links, {ranks / ranksPerNode, ranksPerNode}));
}

} // namespace tenon
