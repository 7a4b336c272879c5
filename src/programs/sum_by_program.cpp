// SPDX-License-Identifier: BSD-2-Clause
// Whether a sum over grid axes runs a program, and which: the options, and the prices. All of it
// follows from what ranks share (grid, options, machine file, the largest local array), so that
// they choose alike.
#include "programs/sum_by_program.hpp"

#include "comm/machine_object.hpp"
#include "linop/exchange/way_to_sum.hpp"
#include "machine/machine_file.hpp"
#include "programs/reduction_groups.hpp"
#include "programs/reduction_op.hpp"
#include "reduction/execution.hpp"
#include "reduction/simulation.hpp"
#include "reduction/synthesis.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <optional>

namespace tenon {

namespace {

// The default of all sums is that of the first row.
constexpr OptionSpec kReductionOptions[] = {
    {"reduction", OptionSpec::String, "mpi",
     "how to reduce over grid axes: mpi (as routed), auto (the cheapest program), or a list of "
     "programs separated by semicolons; see doc/placement.md"},
    {"machine_levels", OptionSpec::String, "",
     "sizes of the machine's levels for reduction programs, outermost first, such as 2,4; ranks "
     "are numbered level by level; empty: all ranks on one level"},
};
const OptionRegistration kReductionRegistration{{"reduction", kReductionOptions}};

// With auto a program must cost less than this share of what it is compared with: the margin keeps
// the errors of predictions from deciding between ways that cost nearly the same.
constexpr double kWorthwhile = 0.8;

struct Choice {
  ReductionPlan plan;
  bool taken = false;
  double seconds = 0; // 0 for a program that the user asked for
  std::string why;    // what auto has decided, and why
};

class SumByProgram final : public WayToSum {
public:
  // Throws TENON_ERR_ARG for an option's text that says no programs or no levels.
  SumByProgram();
  // Without any program all sums go by their routes.
  bool isWanted() const noexcept { return automatic_ || !programs_.empty(); }

  std::string agreedText() const override;
  SumOffer offer(const SumTask& sum) const override;

private:
  Choice choose(const SumTask& sum) const;
  Hierarchy levelsOf(const std::optional<Machine>& machine, int ranks) const;

  // Each sum takes the first program that reduces over its levels.
  std::vector<Program> programs_;
  bool automatic_ = false;
  // With auto, the description of the machine at whose levels and links it looks; may be empty.
  std::string machineFile_;
  // The levels of the machine, outermost first. Without any all ranks are on one level.
  Hierarchy levels_;
};

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

void takeIfCheaper(Choice& choice, const Cheapest& best, const std::string& other,
                   double otherSeconds) {
  choice.taken = best.seconds < kWorthwhile * otherSeconds;
  choice.seconds = best.seconds;
  choice.plan.program = best.program;
  choice.why = fmt::format(
      "-tenon_reduction auto: {}; the best program is predicted at {:.3g} us, {} at {:.3g} us",
      choice.taken ? "by a program" : "as mpi", 1e6 * best.seconds, other, 1e6 * otherSeconds);
}

// By the rates of the links, which are one for all levels. The way without a program is the
// conversion's route.
void chooseByRates(Choice& choice, const SumTask& sum) {
  const Hierarchy& hierarchy = choice.plan.hierarchy;
  const Index elements = mostElements(sum.from), elementBytes = dataTypeSize(sum.type);
  const auto secondsOf = [&](const Program& program) {
    return priceOfSteps(
        reductionSteps(program, hierarchy, elements, elements * elementBytes, sum.rates),
        elementBytes, sum.rates);
  };
  takeIfCheaper(choice, cheapestOf(hierarchy, secondsOf), "the route", sum.routeSeconds);
}

// By the levels and links of a machine, in rings. The way without a program is one AllReduce of
// all.
void chooseBySimulation(Choice& choice, const Machine& machine, const SumTask& sum) {
  const Index bytes = mostElements(sum.from) * dataTypeSize(sum.type);
  Simulation simulation(machine, choice.plan.hierarchy,
                        reductionGroupsOf(sum.from.grid(), sum.axes, choice.plan.order),
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

} // namespace

SumByProgram::SumByProgram() : levels_(parseLevels(options().getString("", "machine_levels"))) {
  const std::string text = options().getString("", "reduction");
  automatic_ = text == "auto";
  if (automatic_)
    machineFile_ = machineFileOption();
  else if (text != "mpi")
    programs_ = parsePrograms(text);
}

std::string SumByProgram::agreedText() const {
  std::string how =
      machineFile_.empty() ? "auto" : fmt::format("auto on machine '{}'", machineFile_);
  if (!automatic_) {
    std::vector<std::string> texts;
    for (const Program& program : programs_)
      texts.push_back(describe(program));
    how = fmt::format("{}", fmt::join(texts, "; "));
  }
  return fmt::format("; reduction by {} on levels [{}]", how, fmt::join(levels_, ","));
}

// The levels on which the ranks are numbered: those of the machine file, or of the option, or one
// level.
Hierarchy SumByProgram::levelsOf(const std::optional<Machine>& machine, int ranks) const {
  if (!machine)
    return levels_.empty() ? Hierarchy{ranks} : levels_;
  if (!levels_.empty() && levels_ != machine->sizes())
    throw Error(TENON_ERR_ARG,
                fmt::format("-tenon_machine_levels is {}, but machine '{}' of -tenon_machine_file "
                            "has the levels {}; set only one of them",
                            fmt::join(levels_, ","), machine->name(),
                            fmt::join(machine->sizes(), ",")));
  return machine->sizes();
}

// With auto all programs of a few steps are priced, and the cheapest is taken if it is worthwhile.
Choice SumByProgram::choose(const SumTask& sum) const {
  Choice choice;
  choice.plan.rates = sum.rates;
  std::optional<Machine> machine;
  if (!machineFile_.empty())
    machine = machineForRanks(machineFile_, sum.comm->size());
  // The default rates stand for no machine in particular, so that prices made of them must not
  // decide.
  if (automatic_ && !machine && sum.rates == LinkRates{}) {
    choice.why = "-tenon_reduction auto: as mpi, since the machine is not described (pass "
                 "-tenon_machine_file or -tenon_machine_latency, -tenon_machine_bandwidth, ...)";
    return choice;
  }
  const Grid& grid = sum.from.grid();
  const Hierarchy levels = levelsOf(machine, sum.comm->size());
  try {
    choice.plan.hierarchy = reductionHierarchy(grid, sum.axes, levels);
    choice.plan.order = memberOrder(grid, sum.axes, levels);
  } catch (const Error& error) {
    // Ranks that do not stand on the levels are an error for a program that the user asked for;
    // auto has another way, and says why it takes it.
    if (!automatic_)
      throw;
    choice.why = "-tenon_reduction auto: as mpi, since " + error.text();
    return choice;
  }
  // Each group is one rank, so that there is nothing to sum.
  if (choice.plan.hierarchy.empty())
    return choice;
  if (machine) {
    chooseBySimulation(choice, *machine, sum);
  } else if (automatic_) {
    chooseByRates(choice, sum);
  } else {
    choice.plan.program = fittingProgram(programs_, choice.plan.hierarchy);
    choice.taken = true;
  }
  return choice;
}

SumOffer SumByProgram::offer(const SumTask& sum) const {
  const Choice choice = choose(sum);
  SumOffer offer{.make = {}, .seconds = choice.seconds, .why = choice.why};
  if (choice.taken)
    offer.make = [sum, plan = choice.plan] {
      return makeRef<ReductionOp>(sum.comm, sum.from, sum.to, sum.type, plan, sum.carrier);
    };
  return offer;
}

namespace {

WayToSumRef sumByProgram() {
  auto way = std::make_shared<const SumByProgram>();
  return way->isWanted() ? way : nullptr;
}

constexpr WayToSumRow kWaysToSum[] = {sumByProgram};

} // namespace

void registerWaysToSum() noexcept {
  setWaysToSum(kWaysToSum);
}

} // namespace tenon
