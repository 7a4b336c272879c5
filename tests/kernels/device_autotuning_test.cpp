// SPDX-License-Identifier: BSD-2-Clause
// Failures during the measurement by which a cuDNN convolution selects its implementation: a
// candidate that cannot run, or has not enough memory, is excluded, whereas a lack of memory for a
// graph or a lost device is an error. The tests link a stand-in for CUDA and its libraries, which
// simulates the failures; each test runs in a child process, since a failure changes the state of
// the process.
#include "kernels/convolution/convolution.hpp"
#include "kernels/draw.hpp"
#include "standin/costs.hpp"
#include "standin/failures.hpp"
#include "standin/in_child.hpp"

#include <string>

namespace tenon::test {
namespace {

// The error of a measurement, with its text; or, on success, the description of the selected
// implementations.
struct Measured {
  TenonErrorCode code;
  std::string text;
};

// The shape is large enough to be measured, and it has a bias.
const ConvolutionShape kShape{
    .batch = 2,
    .inChannels = 12,
    .outChannels = 12,
    .window = {.rank = 2, .in = {32, 32}, .out = {30, 30}, .kernel = {3, 3}},
    .hasBias = true};

// Measures a convolution after plan() has set up the stand-in's failures; the first plans have been
// created before.
template <class Plan>
Measured measuredAfter(Plan plan) {
  const auto context = std::make_shared<KernelContext>(Space::Device);
  const auto convolution = makeConvolution<float>(kShape, Backend::Auto, context);
  Autotuner& tuner = *convolution->autotuner();
  plan();
  const Error error = errorOf([&] { tuner.choose(tuner.measure()); });
  tenonStandinFail("");
  return {error.code(),
          error.code() == TENON_SUCCESS ? convolution->implementation() : error.text()};
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

TEST(DeviceAutotuning, FailWhereThereIsNoMemoryForAGraphOrAPlan) {
  // graph:N and plan:N let the creation of the N-th graph or plan fail from here on: the first
  // lists of engines, the graph with the bias, and the first plan in addition to the existing ones.
  for (const char* which : {"graph:1", "graph:2", "graph:*", "plan:1", "plan:4"})
    inChild([=] {
      const Measured measured = measuredAfter([=] { tenonStandinFail(which); });
      EXPECT_EQ(measured.code, TENON_ERR_MEMORY) << which << ": " << measured.text;
    });
}

TEST(DeviceAutotuning, FailWhereTheDeviceIsLost) {
  inChild([] {
    const Measured measured = measuredAfter([] { tenonStandinFail("kernel:1"); });
    EXPECT_EQ(measured.code, TENON_ERR_LIBRARY) << measured.text;
  });
}

TEST(DeviceAutotuning, LeaveOutWaysThatCannotRun) {
  inChild([] {
    const Measured measured = measuredAfter([] { tenonStandinFail("cudnnBackendExecute:*"); });
    EXPECT_EQ(measured.code, TENON_SUCCESS);
    EXPECT_TRUE(has(measured.text, "measured: im2col+gemm; adjoints im2col+gemm")) << measured.text;
    EXPECT_FALSE(has(measured.text, "not all candidates")) << measured.text;
  });
}

// cuBLAS needs a workspace of 32 MiB, and the arrays of the measurement need half a megabyte. With
// 8 MiB of device memory only the products fail, with 100 KiB there is no measurement.
TEST(DeviceAutotuning, SayThatAWayHadNoMemory) {
  for (const auto& [bytes, first] : {std::pair{8 << 20, "measured: engine"}, {100 << 10, "graph"}})
    inChild([bytes = bytes, first = first] {
      const Measured measured = measuredAfter([=] {
        for (int engine = 0; engine < 200; ++engine)
          tenonStandinCost(("engine " + std::to_string(engine)).c_str(), 1e-3);
        tenonStandinBytes(bytes);
      });
      EXPECT_EQ(measured.code, TENON_SUCCESS) << measured.text;
      EXPECT_EQ(measured.text.find(first), 0) << measured.text;
      EXPECT_TRUE(has(measured.text, "; not all candidates measured: ")) << measured.text;
    });
}

// The context keeps the scratch memory of the selected candidates only, here the engines. The
// products that were measured too have columns there.
TEST(DeviceAutotuning, GiveBackTheScratchOfCandidates) {
  inChild([] {
    const auto context = std::make_shared<KernelContext>(Space::Device);
    const auto scratchOf = [&](Index channels, double secondsOfProducts) {
      ConvolutionShape shape = kShape;
      shape.inChannels = shape.outChannels = channels;
      const auto convolution = makeConvolution<float>(shape, Backend::Auto, context);
      tenonStandinCost("product", secondsOfProducts);
      Autotuner& tuner = *convolution->autotuner();
      tuner.choose(tuner.measure());
      EXPECT_EQ(has(convolution->implementation(), "im2col"), secondsOfProducts == 0)
          << convolution->implementation();
      return context->scratchBytes();
    };
    for (int engine = 0; engine < 200; ++engine)
      tenonStandinCost(("engine " + std::to_string(engine)).c_str(), 1e-6);
    const Index ofEngines = scratchOf(16, 1);
    EXPECT_GT(scratchOf(12, 0), ofEngines);
  });
}

} // namespace
} // namespace tenon::test
