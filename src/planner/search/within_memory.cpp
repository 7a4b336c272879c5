// SPDX-License-Identifier: BSD-2-Clause
// Repeats a search until its plan fits into memory as a whole (within_memory.hpp). Errors of later
// searches name limits that the user has not set, so they are not passed on.
#include "planner/search/within_memory.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

namespace {

// The plan of a search whose limit is that of a sum over layers; none if no plan is within it.
std::optional<FoundPlan> planWithinSum(const CostModel& model, SearchTask task, double limit) {
  task.memoryLimit = limit;
  try {
    return findPlan(model, task);
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_MEMORY_LIMIT)
      throw;
    return std::nullopt;
  }
}

// The fastest plan that recomputes layers until it fits.
struct RecomputingPlan {
  std::optional<FoundPlan> plan;
  double leastBytes = std::numeric_limits<double>::infinity(); // of the candidates
};

// Tries the candidates from the plan `unlimited` to the limit, each of which is within less memory
// and slower. `best` is the fastest plan that fits without recomputation.
RecomputingPlan fastestRecomputing(const CostModel& model, const SearchTask& task,
                                   const FoundPlan& unlimited, std::optional<FoundPlan> best) {
  constexpr double kExponents[] = {0, 1. / 3, 2. / 3, 1}; // of M in B^(1-e) M^e (header)
  RecomputingPlan fastest{.plan = std::move(best)};
  std::vector<std::vector<int>> tried;
  for (double exponent : kExponents) {
    std::optional<FoundPlan> one = unlimited;
    if (exponent > 0)
      one = planWithinSum(model, task,
                          std::pow(unlimited.bytes, 1 - exponent) *
                              std::pow(task.memoryLimit, exponent));
    if (!one)
      break;
    const bool isKnown = std::ranges::find(tried, one->parallelizations) != tried.end();
    if (isKnown || (fastest.plan && one->comparedSeconds() >= fastest.plan->comparedSeconds()))
      continue;
    tried.push_back(one->parallelizations);
    const bool fits = recomputeWithin(model, task.memoryLimit, *one);
    fastest.leastBytes = std::min(fastest.leastBytes, one->bytes);
    if (fits && (!fastest.plan || one->comparedSeconds() < fastest.plan->comparedSeconds()))
      fastest.plan = std::move(one);
  }
  return fastest;
}

} // namespace

FoundPlan planWithinMemory(const CostModel& model, const SearchTask& task) {
  constexpr int kMaxSearches = 8; // each takes as long as a plan without a limit
  FoundPlan found = findPlan(model, task);
  double limit = task.memoryLimit;
  for (int search = 1;; ++search) {
    const double excess = found.bytes - task.memoryLimit;
    if (excess <= 0)
      return found;
    limit -= excess;
    std::optional<FoundPlan> next;
    if (search < kMaxSearches && limit > 0)
      next = planWithinSum(model, task, limit);
    if (!next)
      throw Error(
          TENON_ERR_MEMORY_LIMIT,
          fmt::format("the memory limit is {} for each process, but the plans that were "
                      "found need at least {} more. Raise the limit, or use a smaller batch",
                      sizeText(std::llround(task.memoryLimit)), sizeText(std::llround(excess))));
    found = *std::move(next);
  }
}

FoundPlan recomputingPlanWithinMemory(const CostModel& model, const SearchTask& task) {
  SearchTask unlimitedTask = task;
  unlimitedTask.memoryLimit = 0;
  const FoundPlan unlimited = findPlan(model, unlimitedTask);
  if (unlimited.bytes <= task.memoryLimit)
    return unlimited;
  std::optional<FoundPlan> best;
  std::optional<Error> none;
  try {
    best = planWithinMemory(model, task);
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_MEMORY_LIMIT)
      throw;
    none = error;
  }
  RecomputingPlan found = fastestRecomputing(model, task, unlimited, std::move(best));
  if (!found.plan)
    throw Error(none->code(),
                fmt::format("{}. With layers that compute again for the adjoint what they wrote, "
                            "the plans that were found need {}",
                            none->text(), sizeText(std::llround(found.leastBytes))),
                none->where());
  FoundPlan& plan = *found.plan;
  plan.gap = std::max(plan.gap, plan.seconds / unlimited.seconds * (1 + unlimited.gap) - 1);
  return std::move(plan);
}

} // namespace tenon
