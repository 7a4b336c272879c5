// SPDX-License-Identifier: BSD-2-Clause
// Decides whether a sum over grid axes uses a reduction program, and which one. A program is a list
// of collectives within and across the levels of a machine (such as nodes). The option decides:
//   -tenon_reduction auto      the cheapest program, if it is predicted to be faster than the route
//                              that the conversion has without a program
//   -tenon_reduction route     no program
//   a list of programs         the first one that fits the levels of the sum
// All inputs (grid, options, machine file, the largest local array) are equal on all ranks, so all
// ranks decide alike without communication.
#include "programs/sum_by_program.hpp"

#include "comm/machine_object.hpp"
#include "linop/exchange/reduction_method.hpp"
#include "machine/machine_file.hpp"
#include "programs/reduction_op.hpp"
#include "programs/sum_by_nccl.hpp"
#include "reduction/execution.hpp"
#include "reduction/sum_plan.hpp"
#include "reduction/sum_route.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

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

// Result of the decision for one sum.
struct Choice {
  ReductionPlan plan;
  bool taken = false; // the sum uses the program of the plan
  double seconds = 0; // 0 for a program that the user requested
  std::string why;    // the decision of `auto`, and its reason
};

class SumByProgram final : public ReductionMethod {
public:
  // Throws TENON_ERR_ARG if an option's text is not a list of programs or levels.
  SumByProgram();
  // If false, all sums use their routes.
  bool isWanted() const noexcept { return automatic_ || !programs_.empty(); }

  bool appliesTo(const ReductionTask& sum) const override;
  std::string agreedText(const ReductionTask& sum) const override;
  ReductionOffer offer(const ReductionTask& sum) const override;

private:
  Choice choose(const ReductionTask& sum) const;
  ReductionOffer offerInSteps(const ReductionTask& sum) const;
  void chooseByPrice(Choice& choice, const ReductionTask& sum, const LinkRates& rates) const;
  LinkRates ratesFor(const ReductionTask& sum) const;

  // Each sum uses the first program that reduces over its levels.
  std::vector<Program> programs_;
  bool automatic_ = false;
  // Machine description for `auto`; "" if there is none.
  std::string machineFile_;
  // Levels of the machine, outermost first; empty: those that the communicator detects.
  Hierarchy levels_;
};

// Price of a step at rates with levels; a collective is priced by its best algorithm.
double priceOfStep(const RouteStep& step, Index elementBytes, const LinkRates& rates) {
  if (step.collective)
    if (const auto collective =
            priceAsCollective(step.from, step.to, elementBytes, rates, Sampling::Sampled))
      return collective->seconds;
  return priceOfExchange(step.from, step.to, elementBytes, rates, Sampling::Sampled).seconds;
}

double priceOfRoute(const Route& route, Index elementBytes, const LinkRates& rates) {
  double seconds = 0;
  for (const RouteStep& step : route)
    seconds += priceOfStep(step, elementBytes, rates);
  return seconds;
}

// Returns the first of several programs that reduces over the hierarchy. A single program is not
// checked here, because its use reports a complete error.
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

SumByProgram::SumByProgram() : levels_(parseLevels(options().getString("", "machine_levels"))) {
  const std::string text = options().getString("", "reduction");
  const bool isFlat = options().getChoice("", "reduction_order") == "flat";
  if (text == "auto") {
    // The route adds in the order of coordinates, as "flat" requires.
    automatic_ = !isFlat;
    machineFile_ = machineFileOption();
  } else if (text != "route" && text != "nccl") {
    if (isFlat)
      throw Error(TENON_ERR_ARG,
                  fmt::format("-tenon_reduction_order is flat, but the program '{}' of "
                              "-tenon_reduction adds on its levels; leave one of them out",
                              text));
    programs_ = parsePrograms(text);
  }
}

// Programs of the user apply only to sums that leave the whole sum on each rank. With `auto`, a
// program is considered only if the route mode is auto too (a route that the user has requested is
// not replaced), and if the machine has several levels. If nodes have different numbers of ranks,
// offer() is called as well, to record in views why no program is used.
bool SumByProgram::appliesTo(const ReductionTask& sum) const {
  if (!automatic_)
    return sum.change && sum.change->goal == SumGoal::All;
  const bool hasNodes = sum.comm->ranksPerNode() < sum.comm->size();
  const bool hasLevels =
      !machineFile_.empty() || !levels_.empty() || !sum.policy.rates.levels.empty() || hasNodes;
  return sum.policy.mode == RouteMode::Auto && hasLevels &&
         (sum.change || !waysToPartSums(sum.from, sum.to).empty());
}

std::string SumByProgram::agreedText(const ReductionTask& sum) const {
  std::string choiceText =
      machineFile_.empty() ? "auto" : fmt::format("auto on machine '{}'", machineFile_);
  if (!automatic_) {
    std::vector<std::string> texts;
    for (const Program& program : programs_)
      texts.push_back(describe(program));
    choiceText = fmt::format("{}", fmt::join(texts, "; "));
  }
  return fmt::format("; reduction by {} on levels [{}], {} ranks a node", choiceText,
                     fmt::join(levels_, ","), sum.comm->ranksPerNode());
}

// Returns rates on the levels by which ranks are numbered: those of the machine file, or of the
// policy, or assumed ones for the levels of the option or the nodes.
LinkRates SumByProgram::ratesFor(const ReductionTask& sum) const {
  const int ranks = sum.comm->size();
  if (!machineFile_.empty()) {
    const Machine machine = machineForRanks(machineFile_, ranks);
    if (!levels_.empty() && levels_ != machine.sizes())
      throw Error(TENON_ERR_ARG,
                  fmt::format("-tenon_machine_levels is {}, but machine '{}' of "
                              "-tenon_machine_file has the levels {}; set only one of them",
                              fmt::join(levels_, ","), machine.name(),
                              fmt::join(machine.sizes(), ",")));
    return ratesOf(machine, sum.policy.rates);
  }
  if (!levels_.empty())
    return withAssumedNodes(sum.policy.rates.onLevel(sum.policy.rates.levels.size()), levels_);
  const Index perNode = sum.comm->ranksPerNode();
  if (!sum.policy.rates.levels.empty() || perNode == 0 || perNode == ranks)
    return sum.policy.rates;
  return withAssumedNodes(sum.policy.rates, {ranks / perNode, perNode});
}

// Chooses the cheapest program if it costs less than the route on the same levels.
void SumByProgram::chooseByPrice(Choice& choice, const ReductionTask& sum,
                                 const LinkRates& rates) const {
  const Index elementBytes = dataTypeSize(sum.type);
  const Layout& whole = sum.change->isTransposed ? sum.to : sum.from;
  auto best =
      cheapestPlan(std::move(choice.plan), static_cast<double>(mostElements(whole) * elementBytes));
  if (!best)
    return;
  const double route = priceOfRoute(sum.route, elementBytes, rates);
  choice.taken = best->seconds < route;
  choice.seconds = best->seconds;
  choice.plan = std::move(best->plan);
  choice.why = fmt::format("-tenon_reduction auto: {}; the best program is predicted at {:.3g} us, "
                           "the route at {:.3g} us",
                           choice.taken ? "by a program" : "by the route", 1e6 * choice.seconds,
                           1e6 * route);
}

Choice SumByProgram::choose(const ReductionTask& sum) const {
  Choice choice;
  const LinkRates rates = ratesFor(sum);
  if (automatic_ && rates.levels.empty()) {
    choice.why =
        "-tenon_reduction auto: by the route, since the ranks of a node do not follow each "
        "other, or nodes have different numbers of them; number ranks node by node, or set "
        "-tenon_machine_levels or -tenon_machine_file";
    return choice;
  }
  // A user's program runs on the levels of the option, also those that do not separate ranks.
  const Hierarchy levels = levels_.empty() ? levelsOf(rates, sum.comm->size()) : levels_;
  try {
    choice.plan = levelsOfSum(sum.from.grid(), *sum.change, levels, rates);
  } catch (const Error& error) {
    // Ranks that do not fit the levels are an error for a program that the user requested; `auto`
    // has an alternative, and reports why it uses it.
    if (!automatic_)
      throw;
    choice.why = "-tenon_reduction auto: by the route, since " + error.text();
    return choice;
  }
  // Each group is one rank: there is nothing to sum.
  if (choice.plan.hierarchy.empty())
    return choice;
  if (automatic_) {
    chooseByPrice(choice, sum, rates);
  } else {
    choice.plan.program = fittingProgram(programs_, choice.plan.hierarchy);
    choice.taken = true;
  }
  return choice;
}

// Chooses the cheapest sequence of steps if it costs less than the route, whose sums also use
// programs.
ReductionOffer SumByProgram::offerInSteps(const ReductionTask& sum) const {
  const LinkRates rates = ratesFor(sum);
  const Index elementBytes = dataTypeSize(sum.type);
  SumPrices prices(rates, sum.comm->size());
  SumRoute best = cheapestSumRoute(
      sum.from, sum.to, elementBytes, prices, [&](const Layout& from, const Layout& to) {
        return priceOfExchange(from, to, elementBytes, rates, Sampling::Sampled).seconds;
      });
  double routeSeconds = 0;
  for (const RouteStep& step : sum.route) {
    const double seconds = priceOfStep(step, elementBytes, rates);
    routeSeconds +=
        std::min(seconds, prices.seconds(step.from, step.to, elementBytes).value_or(seconds));
  }
  if (best.steps.size() == 1 || best.seconds >= routeSeconds)
    return {};
  return {.make = {},
          .sent = {},
          .steps = std::move(best.steps),
          .seconds = best.seconds,
          .why = fmt::format("-tenon_reduction auto: sums and the rest in steps, predicted at "
                             "{:.3g} us; the route at {:.3g} us",
                             1e6 * best.seconds, 1e6 * routeSeconds)};
}

ReductionOffer SumByProgram::offer(const ReductionTask& sum) const {
  if (!sum.change)
    return offerInSteps(sum);
  const Choice choice = choose(sum);
  ReductionOffer offer{.make = {}, .steps = {}, .seconds = choice.seconds, .why = choice.why};
  if (choice.taken) {
    offer.make = [sum, plan = choice.plan] {
      return makeRef<ReductionOp>(sum.comm, sum.from, sum.to, sum.type, plan, sum.carrier);
    };
    offer.sent = [sum, plan = choice.plan](int rank, Role role) {
      return sentInSteps(
          scheduledSteps(plan, sum.from, sum.to, *sum.change, dataTypeSize(sum.type), rank),
          *sum.change, rank, role);
    };
  }
  return offer;
}

namespace {

ReductionMethodRef sumByProgram() {
  auto method = std::make_shared<const SumByProgram>();
  return method->isWanted() ? method : nullptr;
}

constexpr ReductionMethodRow kReductionMethods[] = {sumByProgram, sumByNccl};

} // namespace

void registerReductionMethods() noexcept {
  setReductionMethods(kReductionMethods);
}

} // namespace tenon
