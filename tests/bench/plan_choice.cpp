// SPDX-License-Identifier: BSD-2-Clause
// Compares the predictions and choices of plans with measured steps: LeNet-5, a small AlexNet and a
// residual network in float64, trained on all ranks. The rates of the machine are measured first,
// as by `tenon bench -machine_out`. Then it prints for each network:
//
//   predicted / measured   of all layers and phases of a step: of a plan by the rates of the
//                          machine, and of a second plan by rates fitted to steps of the first
//   chosen / best          the time of a step of the plan, and the best time of it and 12 plans
//                          with forced parallelizations, in turns: all layers on batch, output
//                          channels, input channels or rows as far as possible, the plan with the
//                          second-best choice for one layer, and random parallelizations
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/plan_choice [batch [rounds [report]]]
#include "bench/planned_training.hpp"
#include "plan/machine_measurement.hpp"
#include "support/networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace tenon::bench {
namespace {

// Forced plans; steps before the measured ones; turns of the comparison of a plan with its
// predictions; rounds of the measurement of the machine.
constexpr int kForced = 12, kWarm = 3, kTurns = 5, kMachineRounds = 15;
constexpr Index kClasses = 10; // of the labels

struct Subject {
  const char* name;
  Shape sample;
  Ref<Layer> (*make)(const CommPtr&);
};

using Parallelizations = std::map<std::string, std::string>;

class PlanChoice {
public:
  PlanChoice(CommPtr comm, Machine machine, Subject subject, Index batch, int rounds, bool reports)
      : comm_(std::move(comm)), machine_(std::move(machine)), subject_(std::move(subject)),
        batch_(batch), rounds_(rounds), reports_(reports) {}

  void run() {
    PlannedTraining first(planOf({}), kClasses, "adam");
    const FoundPlan chosen = first.plan().found();
    warm(first);
    const auto byMachine = first.compared(Measurement::kPasses, kTurns);
    const OwnRates fitted = first.plan().calibrated();
    const std::string report = first.plan().report();
    const Ref<LayerPlan> again = planOf({});
    again->setRates(fitted);
    PlannedTraining second(again, kClasses, "adam");
    warm(second);
    const auto byFit = second.compared(Measurement::kPasses, kTurns);
    if (comm_->rank() == 0) {
      fmt::print("\n{}, batch {}: {}\n", subject_.name, batch_, wordsOf(chosen));
      fmt::print("  {:<34} {:>10} {:>10} {:>6}\n", "", "predicted", "measured", "ratio");
      print("rates of the machine", byMachine, 1.5);
      if (reports_)
        fmt::print("{}", report);
      print("fitted rates, another run", byFit, 1.2);
      if (wordsOf(second.plan().found()) != wordsOf(chosen))
        fmt::print("  by fitted rates another plan: {}\n", wordsOf(second.plan().found()));
    }
    if (comm_->size() > 1)
      race(chosen);
  }

private:
  Ref<LayerPlan> planOf(const Parallelizations& parallelizations) const {
    const auto plan = makeRef<LayerPlan>(subject_.make(comm_), batch_);
    plan->set("input_shape", subject_.sample);
    plan->setMachine(machine_);
    for (const auto& [layer, parallelization] : parallelizations)
      plan->fix(layer, parallelization);
    return plan;
  }

  static void warm(PlannedTraining& training) { training.secondsOfSteps(kWarm); }

  static void print(const char* rates, const PlannedTraining::Compared& compared, double target) {
    const double off = std::max(compared.ratio(), 1 / compared.ratio());
    fmt::print("  {:<34} {:>7.3f} ms {:>7.3f} ms {:>6.2f}  within {}: {}\n", rates,
               1e3 * compared.predicted, 1e3 * compared.measured, compared.ratio(), target,
               off <= target ? "yes" : "no");
  }

  // The plan with the second-best choice for a single layer.
  std::map<std::string, std::vector<std::string>>
  legalParallelizations(const FoundPlan& chosen) const {
    std::map<std::string, std::vector<std::string>> legal;
    for (const PlannedLayer& layer : chosen.layers)
      for (const char* parallelization : {"n", "o", "i", "h", "w"}) {
        try {
          planOf({{layer.name, parallelizationOnAll(parallelization)}})->search();
          legal[layer.name].push_back(parallelizationOnAll(parallelization));
        } catch (const Error&) { // the layer has no such parallelization
        }
      }
    return legal;
  }

  // One label on all axes; 2^k ranks have k axes.
  std::string parallelizationOnAll(const std::string& label) const {
    int axes = 0;
    for (int ranks = comm_->size(); ranks > 1; ranks /= 2)
      ++axes;
    return axes < 2 ? label
                    : fmt::format("{}{}{}", label, axes, label == "h" || label == "w" ? "-" : "");
  }

  std::vector<Parallelizations> forcedParallelizations(const FoundPlan& chosen) const {
    const auto legal = legalParallelizations(chosen);
    std::vector<Parallelizations> all;
    std::set<std::string> known = {wordsOf(chosen)};
    const auto add = [&](const Parallelizations& parallelizations) {
      if (static_cast<int>(all.size()) == kForced)
        return;
      try {
        const Ref<LayerPlan> plan = planOf(parallelizations);
        if (known.insert(wordsOf(plan->search())).second)
          all.push_back(parallelizations);
      } catch (const Error&) { // not together
      }
    };
    for (const char* label : {"n", "o", "i", "h"}) {
      Parallelizations parallelizations;
      for (const auto& [layer, own] : legal) {
        const bool can = std::ranges::find(own, parallelizationOnAll(label)) != own.end();
        parallelizations[layer] = can ? parallelizationOnAll(label) : own.front();
      }
      add(parallelizations);
    }
    Parallelizations own;
    for (const PlannedLayer& layer : chosen.layers)
      own[layer.name] = layer.labels;
    for (const PlannedLayer& layer : chosen.layers) {
      Parallelizations parallelizations = own;
      parallelizations[layer.name] = layer.runnerUp;
      if (!layer.runnerUp.empty() && all.size() < 8)
        add(parallelizations);
    }
    for (std::uint64_t draw = 0; static_cast<int>(all.size()) < kForced && draw < 1000; ++draw) {
      Parallelizations parallelizations;
      std::uint64_t number = 0;
      for (const auto& [layer, legalOnes] : legal)
        parallelizations[layer] = legalOnes[static_cast<std::size_t>(
            uniformAt(draw, 7, Index(number++)) * double(legalOnes.size()))];
      add(parallelizations);
    }
    return all;
  }

  void race(const FoundPlan& chosen) {
    std::vector<std::unique_ptr<PlannedTraining>> runs;
    std::vector<Parallelizations> all = {{}};
    for (const Parallelizations& parallelizations : forcedParallelizations(chosen))
      all.push_back(parallelizations);
    for (const Parallelizations& parallelizations : all) {
      runs.push_back(std::make_unique<PlannedTraining>(planOf(parallelizations), kClasses, "adam"));
      warm(*runs.back());
    }
    std::vector<std::vector<double>> seconds(runs.size());
    for (int round = 0; round < rounds_; ++round)
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::size_t r = (i + std::size_t(round)) % runs.size();
        seconds[r].push_back(runs[r]->secondsOfSteps(kStepsOfATurn));
      }
    if (comm_->rank() != 0)
      return;
    fmt::print("  {:<10} {:>10} {:>10} {:>10}  parallelizations\n", "plan", "predicted", "median",
               "least");
    std::vector<double> medians, leasts;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      medians.push_back(medianOf(seconds[r]));
      leasts.push_back(*std::ranges::min_element(seconds[r]));
      fmt::print("  {:<10} {:>7.3f} ms {:>7.3f} ms {:>7.3f} ms  {}\n",
                 r == 0 ? "chosen" : fmt::format("forced {}", r),
                 1e3 * runs[r]->plan().found().seconds, 1e3 * medians[r], 1e3 * leasts[r],
                 wordsOf(runs[r]->plan().found()));
    }
    printRatio("medians", medians);
    printRatio("least", leasts);
  }

  static void printRatio(const char* what, const std::vector<double>& seconds) {
    const double ratio = seconds.front() / *std::min_element(seconds.begin() + 1, seconds.end());
    fmt::print("  chosen / best of {} forced, {}: {:.3f}, within 1.1: {}\n", seconds.size() - 1,
               what, ratio, ratio <= 1.1 ? "yes" : "no");
  }

  static constexpr int kStepsOfATurn = 3;

  CommPtr comm_;
  Machine machine_;
  Subject subject_;
  Index batch_;
  int rounds_;
  bool reports_;
};

void run(Index batch, int rounds, bool reports) {
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  const Machine machine = measuredMachine(comm, Space::Host, kMachineRounds).machine;
  if (comm->rank() == 0)
    fmt::print("{}", machine.draw());
  for (const Subject& subject : {Subject{"lenet5", {1, 28, 28}, test::lenet5},
                                 Subject{"small_alexnet", {3, 34, 34}, test::smallAlexNet},
                                 Subject{"residual", {1, 8, 8}, test::residual}})
    PlanChoice(comm, machine, subject, batch, rounds, reports).run();
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(
      "plan_choice", argc, argv, [](int count, char** parallelizations) {
        tenon::bench::run(count > 1 ? std::atoi(parallelizations[1]) : 64,
                          count > 2 ? std::atoi(parallelizations[2]) : 21, count > 3);
      });
}
