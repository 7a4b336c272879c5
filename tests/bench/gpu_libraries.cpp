// SPDX-License-Identifier: BSD-2-Clause
// Part of the benchmark gpu: layers compared with calls of NVIDIA's libraries for the same work.
// For convolutions: cuDNN against matrix products by cuBLAS; the plan of cuDNN that Tenon takes
// against all plans that it lists; convolutions with a bias and a rectifier, and with other number
// formats. Also: launches of kernels against the runtime's call, Fourier layers by cuFFT against
// cuBLAS.
#include "bench/gpu.hpp"
#include "bench/gpu_launch.hpp"
#include "bench/handles.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/cuda/dnn_plan.hpp"
#include "support/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

namespace tenon::bench {
namespace {

using cuda::ConvolutionKind;
using test::world;

constexpr TenonDataType kTypes[] = {TENON_FLOAT32, TENON_FLOAT64};

const char* nameOfType(TenonDataType type) {
  return type == TENON_FLOAT32 ? "float32" : "float64";
}

struct ConvolutionCase {
  const char* name;
  Index batch, channels, extent;
  int dims;

  // Kernels of three elements, with the padding that keeps the extent.
  std::vector<Window> windows() const {
    return std::vector<Window>(std::size_t(dims), {.kernel = 3, .padLow = 1, .padHigh = 1});
  }
  Shape shape() const {
    Shape all{batch, channels};
    all.insert(all.end(), std::size_t(dims), extent);
    return all;
  }
  cuda::ConvolutionGraph graph(ConvolutionKind kind, TenonDataType type) const {
    const std::vector<Index> ones(std::size_t(dims), 1);
    Shape taps{channels, channels};
    taps.insert(taps.end(), std::size_t(dims), 3);
    return {.kind = kind,
            .type = type == TENON_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
            .x = dense(shape()),
            .w = dense(taps),
            .y = dense(shape()),
            .padLow = ones,
            .padHigh = ones,
            .stride = ones,
            .dilation = ones,
            .beta = kind == ConvolutionKind::AdjointWeights ? 1.0 : 0.0};
  }

private:
  static cuda::ArrayBox dense(const Shape& extent) {
    cuda::ArrayBox box{extent, Shape(extent.size(), 1)};
    for (std::size_t d = extent.size() - 1; d-- > 0;)
      box.strides[d] = box.strides[d + 1] * extent[d + 1];
    return box;
  }
};

std::vector<ConvolutionCase> convolutionCases() {
  return {{"conv2d", sized(32, 1), sized(64, 2), sized(128, 6), 2},
          {"conv3d", sized(2, 1), sized(32, 2), sized(64, 6), 3}};
}

void measureBackends(const ConvolutionCase& c, TenonDataType type) {
  double forward[2], both[2];
  for (int b = 0; b < 2; ++b) {
    Pass pass(test::newConv(world(), c.channels, c.channels, c.windows()), alone(c.shape()), type,
              b == 0 ? "cudnn" : "gemm");
    forward[b] = secondsOf([&] { pass.forward(); });
    both[b] = secondsOf([&] { pass.both(); });
  }
  const std::string name = fmt::format("{}_{}", c.name, nameOfType(type));
  printRow(name + " forward by cuDNN", "by columns and cuBLAS", forward[0] / forward[1],
           "decides auto");
  printRow(name + " with adjoint by cuDNN", "by columns and cuBLAS", both[0] / both[1],
           "decides auto");
  printTime(name + "_forward", forward[0]);
  printTime(name + "_both", both[0]);
}

// Plans that need a larger workspace are not timed.
constexpr Index kWorkspaceLimit = Index(4) << 30;

struct PlanTimes {
  double fastest = std::numeric_limits<double>::infinity();
  Index timed = 0, failed = 0, large = 0, slow = 0; // numbers of plans
};

// A plan whose first call takes more than kSlow times as long as the fastest one so far is not
// timed further: cuDNN lists some that take a hundred times as long.
constexpr double kSlow = 5;

// Times the plans by timed(plan, turns). A plan that fails at run time is only counted.
template <class Timed>
PlanTimes timesOf(const std::vector<std::shared_ptr<const cuda::ConvolutionPlan>>& plans,
                  const Timed& timed) {
  PlanTimes times;
  for (const auto& plan : plans) {
    if (cuda::ConvolutionRun(plan).workspaceBytes() > kWorkspaceLimit) {
      ++times.large;
      continue;
    }
    try {
      if (timed(plan, 1) > kSlow * times.fastest) {
        ++times.slow;
        continue;
      }
      times.fastest = std::min(times.fastest, timed(plan, 0));
      ++times.timed;
    } catch (const Error& error) {
      ++times.failed;
      fmt::print("a plan failed: {}\n", error.what());
    }
  }
  return times;
}

// Compares the plan that layers take with the fastest of all plans with the same arithmetic.
void measurePlans(const ConvolutionCase& c, TenonDataType type) {
  struct Kind {
    ConvolutionKind kind;
    const char* name;
  };
  for (const Kind& k : {Kind{ConvolutionKind::Forward, "forward"},
                        Kind{ConvolutionKind::AdjointData, "adjoint in x"},
                        Kind{ConvolutionKind::AdjointWeights, "adjoint in w"}}) {
    const cuda::ConvolutionGraph graph = c.graph(k.kind, type);
    const auto x = made(alone(c.shape()), type), y = made(alone(c.shape()), type),
               w = made(alone(graph.w.extent), type);
    // turns = 1: one call after a first one; 0: the usual number.
    const auto timed = [&](std::shared_ptr<const cuda::ConvolutionPlan> plan, Index turns) {
      cuda::ConvolutionRun run(std::move(plan));
      Buffer workspace(run.workspaceBytes(), "workspace", device().memory());
      return secondsOf(
          [&] {
            run.run(device(), x->readAddress(), w->readAddress(), y->readAddress(),
                    workspace.data<void>());
          },
          1, turns);
    };
    const auto plans = cuda::allPlans(graph);
    const PlanTimes all = timesOf(plans, timed);
    const PlanTimes taken = timesOf({cuda::planOf(graph)}, timed);
    printRow(
        fmt::format("fastest of {} plans, {}_{} {}", all.timed, c.name, nameOfType(type), k.name),
        "the plan that is taken", all.fastest / taken.fastest, ">= 0.95");
    if (all.failed + all.large + all.slow > 0)
      fmt::print(
          "of {} plans {} failed, {} need more than 4 GiB, and {} are slower than {} times the "
          "fastest\n",
          plans.size(), all.failed, all.large, all.slow, kSlow);
  }
}

// Compares graphs with an epilogue (bias and rectifier), in TF32, in bfloat16, and on copies with
// the channels last, with the convolution alone.
void measureForms(const ConvolutionCase& c, TenonDataType type) {
  cuda::ConvolutionGraph graph = c.graph(ConvolutionKind::Forward, type);
  const auto x = made(alone(c.shape()), type), y = made(alone(c.shape()), type),
             w = made(alone(graph.w.extent), type), b = made(alone({c.channels}), type);
  const auto seconds = [&](cuda::Epilogue epilogue, cuda::Staging staging) {
    graph.epilogue = epilogue;
    graph.staging = staging;
    cuda::ConvolutionRun run(graph);
    Buffer workspace(run.workspaceBytes(), "workspace", device().memory());
    return secondsOf([&] {
      run.run(device(), x->readAddress(), w->readAddress(), y->readAddress(),
              workspace.data<void>(),
              epilogue == cuda::Epilogue::None ? nullptr : b->readAddress());
    });
  };
  using enum cuda::Staging;
  constexpr auto kNothing = cuda::Epilogue::None, kAll = cuda::Epilogue::BiasAndRelu;
  const std::string name = fmt::format("{}_{}", c.name, nameOfType(type));
  const double exact = seconds(kNothing, None);
  printRow(name + " with a bias and a rectifier", "alone", seconds(kAll, None) / exact, "<= 1.1");
  if (type == TENON_FLOAT64)
    return;
  graph.mayUseTf32 = true;
  graph.alignment = 16;
  const double rounded = seconds(kNothing, None);
  printRow(name + " in TF32", "without", rounded / exact, "decides");
  printRow(name + " in TF32, copied with channels last", "as cuDNN copies",
           seconds(kNothing, ChannelsLast) / rounded, "decides");
  printRow(name + " in bfloat16", "in TF32", seconds(kNothing, BFloat16) / rounded, "decides");
}

} // namespace

// An operation on one element: the time that the host needs to queue a kernel.
void measureLaunch() {
  const auto x = made(alone({1}), TENON_FLOAT32), y = made(alone({1}), TENON_FLOAT32);
  const double launch = secondsOf([&] { axpby(1, *x, 1, *y); }, 1000);
  const double bare = secondsOf([&] { launchNothing(device().stream()); }, 1000);
  printRow("queueing axpby of one cell", "cudaLaunchKernel", launch / bare, "<= 1.3");
}

void printDevice() {
  cuda::dnn().cudnnGetVersion();
  cuda::Descriptor described(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  const int number = Device::get().number();
  described.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &number);
  described.finalize("the description of the device");
  std::string text(std::size_t(1) << 16, '\0');
  Index count = 0;
  if (cuda::dnn().cudnnBackendGetAttribute(
          described.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
          static_cast<Index>(text.size()), &count, text.data()) == CUDNN_STATUS_SUCCESS)
    fmt::print("device {}\n", text.c_str());
}

void measureConvolutions() {
  for (const ConvolutionCase& c : convolutionCases())
    for (const TenonDataType type : kTypes) {
      measureBackends(c, type);
      measurePlans(c, type);
      measureForms(c, type);
    }
}

// Fourier layers with all modes of a dimension, and with few.
void measureFourier() {
  const Index extent = sized(256, 8);
  for (const Index modes : {extent / 2, sized(16, 2)})
    for (const TenonDataType type : kTypes) {
      double both[2];
      for (int b = 0; b < 2; ++b) {
        const auto layer = test::newLayer(world(), "spectralconv");
        layer->set("in_channels", Index(32));
        layer->set("out_channels", Index(32));
        layer->set("modes", std::vector<Index>{modes, modes});
        Pass pass(layer, alone({sized(16, 1), 32, extent, extent}), type,
                  b == 0 ? "cufft" : "gemm");
        both[b] = secondsOf([&] { pass.both(); });
      }
      printRow(fmt::format("{} modes of {} by cuFFT, {}", modes, extent, nameOfType(type)),
               "by cuBLAS", both[0] / both[1], "decides auto");
    }
}

void measureAffine() {
  const Index n = sized(4096, 8);
  for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
    Pass pass(test::newAffine(world(), n, n), alone({n, n}), type, "auto");
    printTime(fmt::format("affine_{}_forward", nameOfType(type)),
              secondsOf([&] { pass.forward(); }));
    printTime(fmt::format("affine_{}_both", nameOfType(type)), secondsOf([&] { pass.both(); }));
  }
}

} // namespace tenon::bench
