// SPDX-License-Identifier: BSD-2-Clause
// Times one-process float32 steps (TenonLayerApply and TenonLayerApplyAdjoint) of convolution,
// pooling and affine layers, compared with oneDNN called directly for the same shapes
// (onednn_peer.hpp), in the same run in random turns. The values of both are compared before
// anything is timed. The ratios of the medians are printed at the end.
//
//   OMP_NUM_THREADS=1 tests/bench/layer_step
#include "bench/onednn_peer.hpp"
#include "comm/session/session.hpp"
#include "dtensor/fill.hpp"
#include "kernels/base/library_info.hpp"
#include "support/layers.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::bench {
namespace {

constexpr int kRepetitions = 31;
constexpr double kSeconds = 0.02; // of one repetition
constexpr double kTarget = 1.05;

// A layer with its tensors on one process.
struct TenonStep {
  TenonStep(Ref<Layer> given, const Shape& shape) : layer(std::move(given)) {
    const CommPtr comm = layer->comm();
    const Layout input(
        {.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
    layer->setUp(input);
    const Layout output = layer->outputLayout(input);
    x = makeRef<DTensor>(comm, input, TENON_FLOAT32);
    y = makeRef<DTensor>(comm, output, TENON_FLOAT32);
    dx = makeRef<DTensor>(comm, input.dual(), TENON_FLOAT32);
    dy = makeRef<DTensor>(comm, output.dual(), TENON_FLOAT32);
    fillUniform(*x, /*seed=*/1, /*stream=*/1, -1, 1);
    fillUniform(*dy, /*seed=*/1, /*stream=*/2, -1, 1);
    std::uint64_t stream = 3;
    for (const auto& p : layer->parameters()) {
      fillUniform(p->value(), /*seed=*/1, ++stream, -0.1, 0.1);
      p->valueChanged();
    }
  }
  void run() {
    layer->apply(*x, *y);
    layer->applyAdjoint(*dy, dx.get());
  }
  Ref<Layer> layer;
  Ref<DTensor> x, y, dx, dy;
};

std::vector<float> valuesOf(const DTensor& x) {
  return {x.data<float>(), x.data<float>() + x.localElements()};
}

// Arrays for oneDNN, with the same input values, and memory for its results.
StepArrays arraysOf(TenonStep& step) {
  StepArrays a{valuesOf(*step.x),  {}, {}, valuesOf(*step.y),
               valuesOf(*step.dx), {}, {}, valuesOf(*step.dy)};
  const auto parameters = step.layer->parameters();
  if (parameters.size() == 2) {
    a.w = a.dw = valuesOf(parameters[0]->value());
    a.b = a.db = valuesOf(parameters[1]->value());
  }
  return a;
}

void compare(const std::string& what, const std::vector<float>& got,
             const std::vector<float>& want) {
  double difference = 0, scale = 1e-30;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference = std::max(difference, std::abs(double(got[i]) - double(want[i])));
    scale = std::max(scale, std::abs(double(want[i])));
  }
  if (got.size() != want.size() || !(difference <= 1e-4 * scale))
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("{} differs from oneDNN's by {} of {}", what, difference, scale));
}

void compareAll(const std::string& name, TenonStep& step, Peer& peer, const StepArrays& a) {
  step.layer->zeroGradients();
  step.run();
  peer.step();
  compare("output of " + name, valuesOf(*step.y), a.y);
  compare("input gradient of " + name, valuesOf(*step.dx), a.dx);
  const auto parameters = step.layer->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    compare(parameters[i]->name() + " gradient of " + name, valuesOf(parameters[i]->gradient()),
            i == 0 ? a.dw : a.db);
}

template <class Case, class OneDnn>
void add(const std::string& name, Ref<Layer> layer, const Shape& shape, const Case& c) {
  const auto step = std::make_shared<TenonStep>(std::move(layer), shape);
  const auto arrays = std::make_shared<StepArrays>(arraysOf(*step));
  const auto peer = std::make_shared<OneDnn>(c, *arrays);
  compareAll(name, *step, *peer, *arrays);
  auto time = [](const std::string& who, auto run) {
    benchmark::RegisterBenchmark(who.c_str(),
                                 [=](benchmark::State& state) {
                                   for (auto _ : state)
                                     run();
                                 })
        ->Repetitions(kRepetitions)
        ->MinTime(kSeconds)
        ->ReportAggregatesOnly()
        ->UseRealTime();
  };
  time(name + "/tenon", [step] { step->run(); });
  time(name + "/onednn", [peer, arrays] { peer->step(); });
}

void addConvolution(const CommPtr& comm, const ConvolutionCase& c) {
  const Window window{.kernel = c.kernel, .padLow = c.padding, .padHigh = c.padding};
  add<ConvolutionCase, PeerConvolution>(
      fmt::format("convolution {}x{}x{}x{} to {}, {}x{}", c.batch, c.in, c.height, c.width, c.out,
                  c.kernel, c.kernel),
      test::newConv(comm, c.in, c.out, std::vector<Window>(2, window)),
      {c.batch, c.in, c.height, c.width}, c);
}

void addPooling(const CommPtr& comm, const PoolingCase& c) {
  const Window window{.kernel = c.kernel, .stride = c.kernel};
  add<PoolingCase, PeerPooling>(
      fmt::format("{} pooling {}x{}x{}x{}, {}x{}", c.isMax ? "max" : "average", c.batch, c.channels,
                  c.height, c.width, c.kernel, c.kernel),
      test::newPooling(comm, c.isMax ? PoolingMode::Max : PoolingMode::AverageIncludePad,
                       std::vector<Window>(2, window)),
      {c.batch, c.channels, c.height, c.width}, c);
}

void addAffine(const CommPtr& comm, const AffineCase& c) {
  add<AffineCase, PeerAffine>(fmt::format("affine {}x{} to {}", c.batch, c.in, c.out),
                              test::newAffine(comm, c.in, c.out), {c.batch, c.in}, c);
}

// A reporter of Google Benchmark that also stores the medians.
class Ratios : public benchmark::ConsoleReporter {
public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.aggregate_name == "median") {
        const std::string& name = run.run_name.function_name;
        const std::size_t slash = name.rfind('/');
        medians_[name.substr(0, slash)][name.substr(slash + 1)] = run.GetAdjustedRealTime();
      }
  }
  void Finalize() override {
    fmt::print("{:<46} {:>10} {:>10} {:>7}\n", "step, median time in us", "Tenon", "oneDNN",
               "ratio");
    for (auto& [name, times] : medians_) {
      const double ratio = times["tenon"] / times["onednn"];
      fmt::print("{:<46} {:>10.1f} {:>10.1f} {:>7.3f}{}\n", name, times["tenon"] / 1e3,
                 times["onednn"] / 1e3, ratio, ratio > kTarget ? "  above the target" : "");
    }
  }

private:
  std::map<std::string, std::map<std::string, double>> medians_; // ns
};

void run() {
  fmt::print("oneDNN {}, BLAS {}, {} thread(s), float32, {} repetitions, target {}\n",
             oneDnnVersion(), blasInfo().kernel, computeThreads(), kRepetitions, kTarget);
  const CommPtr comm = Communicator::of(MPI_COMM_SELF);
  for (const ConvolutionCase& c :
       {ConvolutionCase{256, 1, 6, 28, 28, 5, 2}, ConvolutionCase{256, 6, 16, 14, 14, 5, 0},
        ConvolutionCase{32, 16, 32, 32, 32, 3, 1}, ConvolutionCase{8, 64, 64, 56, 56, 3, 1},
        ConvolutionCase{8, 128, 256, 28, 28, 1, 0}})
    addConvolution(comm, c);
  for (const PoolingCase& c :
       {PoolingCase{256, 6, 28, 28, 2, true}, PoolingCase{256, 16, 10, 10, 2, true},
        PoolingCase{8, 64, 56, 56, 2, true}, PoolingCase{8, 64, 56, 56, 2, false},
        PoolingCase{8, 64, 57, 57, 3, true}})
    addPooling(comm, c);
  for (const AffineCase& c :
       {AffineCase{256, 400, 120}, AffineCase{256, 120, 84}, AffineCase{256, 1024, 1024}})
    addAffine(comm, c);
  Ratios ratios;
  benchmark::RunSpecifiedBenchmarks(&ratios);
  benchmark::ClearRegisteredBenchmarks();
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<char*> arguments(argv, argv + argc);
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  arguments.insert(arguments.begin() + 1, interleave);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  int code = 0;
  try {
    tenon::bench::run();
  } catch (const tenon::Error& error) {
    fmt::print(stderr, "layer_step: {}\n", error.text());
    code = 1;
  }
  tenon::Communicator::freeAll();
  MPI_Finalize();
  return code;
}
