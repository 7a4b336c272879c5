// SPDX-License-Identifier: BSD-2-Clause
// Tests of cuDNN's graphs (kernels/cuda/dnn_graph.hpp) on the stand-in for CUDA. DnnGraph.* check
// which engines and plans Tenon's options allow, and results with rounding, copies and epilogues,
// against Tenon's reference convolution on the host. StandinCudnn.* plant one mistake each in a
// convolution that is right otherwise: the real library reports it, the stand-in ends the program,
// or the values differ from the reference. The graphs that Tenon itself makes are tested in
// tests/kernels/device_convolution_test.cpp.
#include "kernels/convolution_cases.hpp"
#include "kernels/cuda/dnn_plan.hpp"
#include "kernels/on_device.hpp"
#include "standin/refused.hpp"
#include "sys/bfloat16.hpp"
#include "sys/options/options.hpp"
#include "sys/traps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenon::test {
namespace {

using cuda::ConvolutionGraph;
using cuda::ConvolutionKind;

// A convolution of float64 with two groups, uneven padding, a stride and a dilation. Its padding of
// -1 omits the first row of the input.
ConvolutionShape exampleShape() {
  return {2, 4, 6, {2, {9, 8}, {4, 5}, {3, 3}, {2, 1}, {1, 2}, {-1, 1}}, 2};
}
constexpr Index kCrop = 8; // cells of the first row, which the graph skips by its pointer to x

ConvolutionGraph exampleGraph(ConvolutionKind kind, double beta) {
  return {.kind = kind,
          .type = CUDNN_DATA_DOUBLE,
          .x = {{2, 4, 8, 8}, {4 * 72, 72, 8, 1}},
          .w = {{6, 2, 3, 3}, {18, 9, 3, 1}},
          .y = {{2, 6, 4, 5}, {120, 20, 5, 1}},
          .padLow = {0, 1},
          .padHigh = {1, 0},
          .stride = {2, 1},
          .dilation = {1, 2},
          .beta = beta};
}

struct Example {
  Draw draw{41};
  Arrays<double> host = drawArrays<double>(draw, exampleShape());
  KernelContext& at = *deviceContext();
  DeviceCopy<double> x{at, host.x.data(), Index(host.x.size())},
      w{at, host.w.data(), Index(host.w.size())}, y{at, host.y.data(), Index(host.y.size())};

  // Runs the graph and returns y (forward) or the gradient of w.
  std::vector<double> run(const ConvolutionGraph& graph, Index crop = kCrop) {
    cuda::ConvolutionRun run(graph);
    Buffer workspace(run.workspaceBytes(), "a test's workspace", at.memory());
    run.run(at, x.data() + crop, w.data(), y.data(), workspace.data<void>());
    std::vector<double> result = graph.kind == ConvolutionKind::Forward ? host.y : host.w;
    (graph.kind == ConvolutionKind::Forward ? y : w).fetch(result.data());
    return result;
  }
  std::vector<double> expectedForward() {
    std::vector<double> result = host.y;
    makeConvolution<double>(exampleShape(), Backend::Reference)
        ->forward(host.x.data(), host.w.data(), nullptr, result.data(), false);
    return result;
  }
  std::vector<double> expectedWeights() {
    std::vector<double> result = host.w;
    makeConvolution<double>(exampleShape(), Backend::Reference)
        ->adjointWeights(host.x.data(), host.y.data(), result.data(), nullptr);
    return result;
  }
};

void expectRefusedByLibrary(const ConvolutionGraph& graph) {
  const Error error = errorOf([&] { cuda::ConvolutionPlan plan(graph); });
  EXPECT_EQ(error.code(), TENON_ERR_LIBRARY) << error.text();
  EXPECT_NE(error.text().find("CUDNN_STATUS_"), std::string::npos) << error.text();
}

// A convolution of float32 with 64 channels, for which cuDNN has many engines.
ConvolutionGraph wideGraph(ConvolutionKind kind) {
  const cuda::ArrayBox image{{4, 64, 28, 28}, {64 * 784, 784, 28, 1}};
  return {.kind = kind,
          .type = CUDNN_DATA_FLOAT,
          .x = image,
          .w = {{64, 64, 3, 3}, {576, 9, 3, 1}},
          .y = image,
          .padLow = {1, 1},
          .padHigh = {1, 1},
          .stride = {1, 1},
          .dilation = {1, 1},
          .beta = 1};
}

// A convolution of float32: two samples of 9 x 8 cells, kernels of 3 x 3, output of the same
// extent.
ConvolutionGraph smallGraph(ConvolutionKind kind, Index inputs, Index outputs, Index groups,
                            double beta) {
  const Index of = inputs / groups;
  return {.kind = kind,
          .type = CUDNN_DATA_FLOAT,
          .x = {{2, inputs, 9, 8}, {inputs * 72, 72, 8, 1}},
          .w = {{outputs, of, 3, 3}, {of * 9, 9, 3, 1}},
          .y = {{2, outputs, 9, 8}, {outputs * 72, 72, 8, 1}},
          .padLow = {1, 1},
          .padHigh = {1, 1},
          .stride = {1, 1},
          .dilation = {1, 1},
          .beta = beta};
}

// Returns the descriptor that is the value of an attribute.
cuda::Descriptor partOf(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                        cudnnBackendDescriptorType_t type) {
  cuda::Descriptor part(type);
  cudnnBackendDescriptor_t handle = part.get();
  Index count = 0;
  EXPECT_EQ(cuda::dnn().cudnnBackendGetAttribute(from, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                                 &count, &handle),
            CUDNN_STATUS_SUCCESS);
  return part;
}

// Whether the engine of a plan has this note, a property of its arithmetic.
bool hasNote(const cuda::ConvolutionPlan& plan, cudnnBackendNumericalNote_t note) {
  const auto configuration = partOf(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  const auto engine =
      partOf(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  Index count = 0;
  EXPECT_EQ(cuda::dnn().cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                 CUDNN_TYPE_NUMERICAL_NOTE, Index(notes.size()),
                                                 &count, notes.data()),
            CUDNN_STATUS_SUCCESS);
  return std::find(notes.begin(), notes.begin() + count, note) != notes.begin() + count;
}

} // namespace

// For float32 on an H200, cuDNN suggests engines with TF32 first; they are used only if allowed.
TEST(DnnGraph, TakesTensorCoresOnlyWhereAllowed) {
  for (ConvolutionKind kind :
       {ConvolutionKind::Forward, ConvolutionKind::AdjointData, ConvolutionKind::AdjointWeights}) {
    ConvolutionGraph graph = wideGraph(kind);
    const cuda::ConvolutionPlan exact(graph);
    EXPECT_FALSE(hasNote(exact, CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
    EXPECT_FALSE(hasNote(exact, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
    graph.mayUseTf32 = true;
    EXPECT_TRUE(hasNote(cuda::ConvolutionPlan(graph), CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
  }
}

// cuDNN 9.19 lists no engines with these notes for an H200.
TEST(DnnGraph, TakesWhatRoundsMoreOnlyWhereAllowed) {
  for (cudnnBackendNumericalNote_t note :
       {CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_WINOGRAD,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13}) {
    ConvolutionGraph graph = wideGraph(ConvolutionKind::Forward);
    EXPECT_FALSE(cuda::allows(graph, note));
    graph.mayUseTf32 = true;
    EXPECT_TRUE(cuda::allows(graph, note));
    EXPECT_TRUE(cuda::allows(exampleGraph(ConvolutionKind::Forward, 0), note)) << "float64";
  }
  EXPECT_FALSE(
      cuda::allows(wideGraph(ConvolutionKind::Forward), CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
}

// The options change the plan that cuDNN suggests first, which is visible by the size of its
// workspace. (A plan to be measured has none before it is selected.)
TEST(DnnGraph, AllowsWhatTheOptionsDo) {
  options().set("-tenon_device_plans", "heuristic");
  const ConvolutionShape wide{4, 64, 64, {2, {28, 28}, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}};
  const auto workspaceWith = [&](const char* option, const char* value) {
    options().set(option, value);
    const auto context = std::make_shared<KernelContext>(Space::Device);
    makeConvolution<float>(wide, Backend::Cudnn, context);
    options().set(option, "false");
    return context->scratchBytes();
  };
  const Index exact = workspaceWith("-tenon_device_tf32", "false");
  EXPECT_NE(workspaceWith("-tenon_device_tf32", "true"), exact);
  EXPECT_NE(workspaceWith("-tenon_device_nondeterministic", "true"), exact);
  options().set("-tenon_device_plans", "measured");
}

TEST(DnnGraph, SharesPlansOfEqualGraphs) {
  ConvolutionGraph graph = wideGraph(ConvolutionKind::Forward);
  const auto first = cuda::planOf(graph);
  EXPECT_EQ(cuda::planOf(graph), first);
  graph.beta = 0;
  EXPECT_NE(cuda::planOf(graph), first);
}

// A plan for arrays that are aligned to 16 bytes reads 16 bytes at once. ConvolutionRun uses
// another plan for arrays that are not.
TEST(DnnGraph, TakesArraysAtOtherMultiplesToo) {
  ConvolutionGraph graph = wideGraph(ConvolutionKind::Forward);
  graph.x = graph.y = {{1, 64, 8, 8}, {64 * 64, 64, 8, 1}};
  graph.mayUseTf32 = true;
  graph.alignment = 16;
  cuda::ConvolutionRun run(graph);
  KernelContext context(Space::Device);
  const auto made = [&](Index bytes) {
    Buffer buffer(bytes, "a test's array", context.memory());
    buffer.setZero();
    return buffer;
  };
  const auto bytesOf = [](const cuda::ArrayBox& box) { return 4 * box.extent[0] * box.strides[0]; };
  Buffer x = made(bytesOf(graph.x) + 4), w = made(bytesOf(graph.w)), y = made(bytesOf(graph.y) + 4),
         workspace = made(run.workspaceBytes());
  for (Index shift : {0, 1})
    EXPECT_NO_THROW(run.run(context, x.data<float>() + shift, w.data<float>(),
                            y.data<float>() + shift, workspace.data<void>()))
        << shift;
  context.stream().synchronise();
}

// Inputs are rounded to bfloat16, and the result is rounded once, before it is added to the output
// if beta is 1. The reference is the convolution of rounded inputs in float32.
TEST(DnnGraph, RoundsToBFloat16) {
  const ConvolutionShape shape{2, 16, 8, {2, {9, 8}, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}};
  Draw draw(43);
  const auto rounded = [](std::vector<float> values) {
    for (float& value : values)
      value = valueOf(toBFloat16(value));
    return values;
  };
  const auto x = draw.reals<float>(2 * 16 * 72, -1, 1), w = draw.reals<float>(8 * 16 * 9, -1, 1),
             y = draw.reals<float>(2 * 8 * 72, -1, 1), ofX = rounded(x), ofW = rounded(w),
             ofY = rounded(y);
  const auto reference = makeConvolution<float>(shape, Backend::Reference);
  KernelContext& at = *deviceContext();
  for (const auto kind :
       {ConvolutionKind::Forward, ConvolutionKind::AdjointData, ConvolutionKind::AdjointWeights})
    for (const double beta : {0.0, 1.0}) {
      ConvolutionGraph graph = smallGraph(kind, 16, 8, 1, beta);
      graph.staging = cuda::Staging::BFloat16;
      DeviceCopy<float> dx(at, x.data(), Index(x.size())), dw(at, w.data(), Index(w.size())),
          dy(at, y.data(), Index(y.size()));
      cuda::ConvolutionRun run(graph);
      Buffer workspace(run.workspaceBytes(), "a test's workspace", at.memory());
      run.run(at, dx.data(), dw.data(), dy.data(), workspace.data<void>());
      std::vector<float> got, sums, before;
      if (kind == ConvolutionKind::Forward) {
        got = sums = before = y;
        dy.fetch(got.data());
        reference->forward(ofX.data(), ofW.data(), nullptr, sums.data(), false);
      } else if (kind == ConvolutionKind::AdjointData) {
        got = sums = before = x;
        dx.fetch(got.data());
        reference->adjointData(ofW.data(), ofY.data(), sums.data());
      } else {
        got = before = w;
        sums.assign(w.size(), 0);
        dw.fetch(got.data());
        reference->adjointWeights(ofX.data(), ofY.data(), sums.data(), nullptr);
      }
      double most = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double lost = got[i] - beta * before[i] - sums[i];
        ASSERT_LE(std::abs(lost), std::ldexp(std::abs(sums[i]), -8) + 1e-5) << i;
        most = std::max(most, std::abs(lost));
      }
      EXPECT_GT(most, 1e-4) << "nothing was rounded";
    }
}

// A plan that copies its arrays to storage with the channels last has the same results as one
// without copies: with a batch, two groups, an epilogue, and beta = 1.
TEST(DnnGraph, CopiesWithChannelsLast) {
  Draw draw(44);
  const auto x = draw.integers<float>(2 * 24 * 72), w = draw.integers<float>(20 * 12 * 9),
             y = draw.integers<float>(2 * 20 * 72), b = draw.integers<float>(20);
  KernelContext& at = *deviceContext();
  for (const auto kind :
       {ConvolutionKind::Forward, ConvolutionKind::AdjointData, ConvolutionKind::AdjointWeights})
    for (const auto& [beta, epilogue] : {std::pair{0.0, cuda::Epilogue::None},
                                         {1.0, cuda::Epilogue::None},
                                         {0.0, cuda::Epilogue::Bias},
                                         {0.0, cuda::Epilogue::BiasAndRelu}}) {
      if (epilogue != cuda::Epilogue::None && kind != ConvolutionKind::Forward)
        continue;
      std::vector<float> results[2];
      for (const auto staging : {cuda::Staging::None, cuda::Staging::ChannelsLast}) {
        ConvolutionGraph graph = smallGraph(kind, 24, 20, 2, beta);
        graph.epilogue = epilogue;
        graph.staging = staging;
        DeviceCopy<float> dx(at, x.data(), Index(x.size())), dw(at, w.data(), Index(w.size())),
            dy(at, y.data(), Index(y.size())), db(at, b.data(), Index(b.size()));
        cuda::ConvolutionRun run(graph);
        Buffer workspace(run.workspaceBytes(), "a test's workspace", at.memory());
        run.run(at, dx.data(), dw.data(), dy.data(), workspace.data<void>(),
                epilogue == cuda::Epilogue::None ? nullptr : db.data());
        auto& got = results[static_cast<int>(staging)];
        got = kind == ConvolutionKind::Forward ? y : kind == ConvolutionKind::AdjointData ? x : w;
        (kind == ConvolutionKind::Forward       ? dy
         : kind == ConvolutionKind::AdjointData ? dx
                                                : dw)
            .fetch(got.data());
      }
      EXPECT_EQ(results[1], results[0]);
      EXPECT_NE(results[0], kind == ConvolutionKind::Forward       ? y
                            : kind == ConvolutionKind::AdjointData ? x
                                                                   : w);
    }
}

// The rectifier keeps NaN.
TEST(DnnGraph, AppliesABiasAndARectifier) {
  Example example;
  example.host.w[0] = std::nan("");
  DeviceCopy<double> w(example.at, example.host.w.data(), Index(example.host.w.size())),
      b(example.at, example.host.b.data(), Index(example.host.b.size()));
  ConvolutionGraph graph = exampleGraph(ConvolutionKind::Forward, 0);
  graph.epilogue = cuda::Epilogue::BiasAndRelu;
  cuda::ConvolutionRun run(graph);
  Buffer workspace(run.workspaceBytes(), "a test's workspace", example.at.memory());
  run.run(example.at, example.x.data() + kCrop, w.data(), example.y.data(), workspace.data<void>(),
          b.data());
  std::vector<double> got = example.host.y, want = example.host.y;
  example.y.fetch(got.data());
  makeConvolution<double>(exampleShape(), Backend::Reference)
      ->forward(example.host.x.data(), example.host.w.data(), example.host.b.data(), want.data(),
                false);
  Index cut = 0, lost = 0;
  const NoTraps noTraps; // comparing with NaN raises an invalid operation
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]))
      ASSERT_TRUE(std::isnan(got[i])) << i;
    else
      ASSERT_EQ(got[i], std::max(want[i], 0.0)) << i;
    cut += want[i] < 0;
    lost += std::isnan(want[i]);
  }
  EXPECT_GT(cut, 0);
  EXPECT_GT(lost, 0);
}

TEST(StandinCudnn, RightGraphsAreRight) {
  Example example;
  EXPECT_EQ(example.run(exampleGraph(ConvolutionKind::Forward, 0)), example.expectedForward());
  Example other;
  EXPECT_EQ(other.run(exampleGraph(ConvolutionKind::AdjointWeights, 1)), other.expectedWeights());
}

TEST(StandinCudnn, LibraryRefusesAnOutputOfAnotherShape) {
  ConvolutionGraph graph = exampleGraph(ConvolutionKind::Forward, 0);
  graph.y.extent[3] += 1;
  expectRefusedByLibrary(graph);
}

TEST(StandinCudnn, LibraryRefusesWeightsOfAllGroups) {
  ConvolutionGraph graph = exampleGraph(ConvolutionKind::AdjointData, 0);
  graph.w.extent[1] = 3;
  expectRefusedByLibrary(graph);
}

TEST(StandinCudnn, LibraryRefusesNegativePadding) {
  ConvolutionGraph graph = exampleGraph(ConvolutionKind::Forward, 0);
  graph.x = {{2, 4, 9, 8}, {4 * 72, 72, 8, 1}};
  graph.padLow[0] = -1;
  expectRefusedByLibrary(graph);
}

TEST(StandinCudnn, ExchangedPaddingsGiveWrongValues) {
  Example example;
  ConvolutionGraph graph = exampleGraph(ConvolutionKind::Forward, 0);
  std::swap(graph.padLow, graph.padHigh);
  EXPECT_NE(example.run(graph), example.expectedForward());
}

TEST(StandinCudnn, ForgottenSumGivesWrongValues) {
  Example example;
  EXPECT_NE(example.run(exampleGraph(ConvolutionKind::AdjointWeights, 0)),
            example.expectedWeights());
}

TEST(StandinCudnn, ForgottenCropGivesWrongValues) {
  Example example;
  EXPECT_NE(example.run(exampleGraph(ConvolutionKind::Forward, 0), 0), example.expectedForward());
}

TEST(StandinCudnn, DefaultStreamIsRefused) {
  Example example;
  KernelContext context(Stream::wrap(nullptr));
  cuda::ConvolutionRun run(exampleGraph(ConvolutionKind::Forward, 0));
  Buffer workspace(run.workspaceBytes(), "a test's workspace", example.at.memory());
  EXPECT_EXIT(run.run(context, example.x.data() + kCrop, example.w.data(), example.y.data(),
                      workspace.data<void>()),
              refusedByStandin, "default stream");
}

TEST(StandinCudnn, ShortArrayIsRefused) {
  Example example;
  EXPECT_EXIT(example.run(exampleGraph(ConvolutionKind::Forward, 0), kCrop + 1), refusedByStandin,
              "beyond device memory");
}

TEST(StandinCudnn, ArrayOfTheHostIsRefused) {
  Example example;
  cuda::ConvolutionRun run(exampleGraph(ConvolutionKind::Forward, 0));
  Buffer workspace(run.workspaceBytes(), "a test's workspace", example.at.memory());
  EXPECT_EXIT(run.run(example.at, example.host.x.data() + kCrop, example.w.data(), example.y.data(),
                      workspace.data<void>()),
              refusedByStandin, "array of cuDNN");
}

TEST(StandinCudnn, MissingWorkspaceIsAnError) {
  ConvolutionGraph graph = wideGraph(ConvolutionKind::AdjointWeights);
  graph.mayUseTf32 = true; // engines with TF32 need one
  cuda::ConvolutionRun run(graph);
  ASSERT_GT(run.workspaceBytes(), 0);
  Example example;
  expectError(errorOf([&] {
                run.run(example.at, example.x.data(), example.w.data(), example.y.data(), nullptr);
              }),
              TENON_ERR_LIBRARY, {"NULL_POINTER", "workspace"});
}

} // namespace tenon::test
