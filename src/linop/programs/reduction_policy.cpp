// SPDX-License-Identifier: BSD-2-Clause
// Whether a sum over grid axes runs a program, and which: the options, the prices, and the
// numbering of ranks on the levels of the machine. All of it follows from what ranks share (grid,
// options, machine file, the largest local array), so that they choose alike.
#include "linop/programs/reduction_policy.hpp"

#include "comm/machine_object.hpp"
#include "linop/programs/reduction_op.hpp"
#include "machine/machine_file.hpp"
#include "reduction/execution.hpp"
#include "reduction/simulation.hpp"
#include "reduction/synthesis.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

namespace tenon {

namespace {

struct Cheapest {
  Program program;
  double seconds = std::numeric_limits<double>::infinity();
};

template <class SecondsOf>
Cheapest cheapestOf(const Hierarchy& hierarchy, SecondsOf secondsOf) {
  const int levels = static_cast<int>(hierarchy.size());
  // The number of programs grows fast with levels and steps, and each of them is priced at set-up:
  // hence the two limits. They come in order of size, so that of equal prices the shortest program
  // wins.
  const auto programs = reductionPrograms(levels, levels > 3 ? 3 : 5);
  Cheapest best;
  for (Index i = 0; i < programs->count(); ++i) {
    const Program program = programs->program(i);
    const double seconds = secondsOf(program);
    if (seconds < best.seconds)
      best = {program, seconds};
  }
  return best;
}

void takeIfCheaper(ReductionChoice& choice, const Cheapest& best, const std::string& other,
                   double otherSeconds) {
  // The margin keeps the errors of predictions from deciding between ways that cost nearly the
  // same.
  choice.taken = best.seconds < kWorthwhile * otherSeconds;
  choice.plan.program = best.program;
  choice.why = fmt::format(
      "-tenon_reduction auto: {}; the best program is predicted at {:.3g} us, {} at {:.3g} us",
      choice.taken ? "by a program" : "as mpi", 1e6 * best.seconds, other, 1e6 * otherSeconds);
}

void chooseByRates(ReductionChoice& choice, Index elements, Index elementBytes,
                   double routeSeconds) {
  const Hierarchy& hierarchy = choice.plan.hierarchy;
  const LinkRates& rates = choice.plan.rates;
  const auto secondsOf = [&](const Program& program) {
    return priceOfSteps(
        reductionSteps(program, hierarchy, elements, elements * elementBytes, rates), elementBytes,
        rates);
  };
  takeIfCheaper(choice, cheapestOf(hierarchy, secondsOf), "the route", routeSeconds);
}

void chooseBySimulation(ReductionChoice& choice, const Machine& machine, const Layout& domain,
                        const std::vector<int>& axes, Index bytes) {
  Simulation simulation(machine, choice.plan.hierarchy,
                        reductionGroupsOf(domain.grid(), axes, choice.plan.order),
                        ReductionAlgorithm::Ring, static_cast<double>(bytes));
  const auto secondsOf = [&](const Program& program) { return simulation.seconds(program); };
  takeIfCheaper(choice, cheapestOf(choice.plan.hierarchy, secondsOf),
                fmt::format("one AllReduce on machine '{}'", machine.name()),
                simulation.seconds({Instruction{}}));
}

// The first of several programs that reduces over so many levels. One program alone is not checked
// here: where it is used its error is told in full.
const Program& fittingProgram(const std::vector<Program>& programs, const Hierarchy& hierarchy) {
  std::string reasons;
  for (const Program& program : programs) {
    if (programs.size() == 1)
      return program;
    try {
      checkReduces(program, static_cast<int>(hierarchy.size()));
      return program;
    } catch (const Error& error) {
      reasons += fmt::format("; '{}': {}", describe(program), error.text());
    }
  }
  throw Error(
      TENON_ERR_ARG,
      fmt::format("none of the {} programs of -tenon_reduction reduces over the hierarchy [{}]{}",
                  programs.size(), fmt::join(hierarchy, ","), reasons));
}

// The levels on which the ranks are numbered: those of the machine file, or of the option, or one
// level.
Hierarchy levelsOf(const ReductionPolicy& policy, const std::optional<Machine>& machine,
                   int ranks) {
  if (!machine)
    return policy.machine.empty() ? Hierarchy{ranks} : policy.machine;
  if (!policy.machine.empty() && policy.machine != machine->sizes())
    throw Error(TENON_ERR_ARG,
                fmt::format("-tenon_machine_levels is {}, but machine '{}' of -tenon_machine_file "
                            "has the levels {}; set only one of them",
                            fmt::join(policy.machine, ","), machine->name(),
                            fmt::join(machine->sizes(), ",")));
  return machine->sizes();
}

} // namespace

ReductionChoice chooseReduction(const ReductionPolicy& policy, const Layout& domain,
                                const std::vector<int>& axes, int ranks, Index elementBytes,
                                double routeSeconds, const LinkRates& rates) {
  ReductionChoice choice;
  choice.plan.rates = rates;
  std::optional<Machine> machine;
  if (!policy.machineFile.empty())
    machine = machineForRanks(policy.machineFile, ranks);
  // The default rates stand for no machine in particular, so that prices made of them must not
  // decide.
  if (policy.automatic && !machine && rates == LinkRates{}) {
    choice.why = "-tenon_reduction auto: as mpi, since the machine is not described (pass "
                 "-tenon_machine_file or -tenon_machine_latency, -tenon_machine_bandwidth, ...)";
    return choice;
  }
  const Hierarchy levels = levelsOf(policy, machine, ranks);
  try {
    choice.plan.hierarchy = reductionHierarchy(domain.grid(), axes, levels);
    choice.plan.order = memberOrder(domain.grid(), axes, levels);
  } catch (const Error& error) {
    // Ranks that do not stand on the levels are an error for a program that the user asked for;
    // auto has another way, and says why it takes it.
    if (!policy.automatic)
      throw;
    choice.why = "-tenon_reduction auto: as mpi, since " + error.text();
    return choice;
  }
  // Each group is one rank, so that there is nothing to sum.
  if (choice.plan.hierarchy.empty())
    return choice;
  const Index elements = mostElements(domain);
  if (machine) {
    chooseBySimulation(choice, *machine, domain, axes, elements * elementBytes);
  } else if (policy.automatic) {
    chooseByRates(choice, elements, elementBytes, routeSeconds);
  } else if (!policy.programs.empty()) {
    choice.plan.program = fittingProgram(policy.programs, choice.plan.hierarchy);
    choice.taken = true;
  }
  return choice;
}

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

// The digits of a place on the levels, of which the last runs fastest.
std::vector<Index> digitsOf(Index place, const Hierarchy& machine) {
  std::vector<Index> digits(machine.size());
  for (std::size_t level = machine.size(); level-- > 0; place /= machine[level])
    digits[level] = place % machine[level];
  return digits;
}

// The digits that the ranks have on each level, in the order in which they first come.
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

// How many digits the ranks have on each level. Different ranks have different digits, so that the
// product of these numbers is at least the number of ranks, and equal to it only if all
// combinations of the digits occur: then the group is a product of parts of the levels.
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

// Which of the ranks has each number, where ranks are numbered level by level.
std::vector<int> orderOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  sizesOf(ranks, machine); // throws if the group is no such product
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

// Each program is parsed by itself, so that errors count bytes from its own beginning.
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

void checkRanks(const Grid& grid, const Hierarchy& machine) {
  const int places = deviceCount(machine);
  for (int rank : grid.ranks())
    if (rank >= places)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("the machine's levels [{}] have {} places, but process grid {} has rank {}; "
                      "pass -tenon_machine_levels whose product is at least the number of ranks",
                      fmt::join(machine, ","), places, grid.describe(), rank));
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

std::vector<std::vector<int>> reductionGroupsOf(const Grid& grid, const std::vector<int>& axes,
                                                const std::vector<int>& order) {
  std::vector<std::vector<int>> groups;
  std::set<int> seen;
  for (int rank : grid.ranks()) {
    if (seen.count(rank))
      continue;
    groups.push_back(membersOf(reductionGroupOf(grid, axes, rank), order));
    seen.insert(groups.back().begin(), groups.back().end());
  }
  return groups;
}

Hierarchy reductionHierarchy(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  checkRanks(grid, machine);
  std::vector<Index> sizes;
  std::vector<int> first;
  for (const std::vector<int>& group : reductionGroupsOf(grid, axes)) {
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
  // A level of one member has nothing to sum, and programs do not know it.
  std::erase(sizes, 1);
  return sizes;
}

std::vector<int> memberOrder(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  const auto groups = reductionGroupsOf(grid, axes);
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
  // No order stands for the order of coordinates, so that texts do not name the usual case.
  if (std::ranges::is_sorted(order))
    order.clear();
  return order;
}

} // namespace tenon
