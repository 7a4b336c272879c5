// SPDX-License-Identifier: BSD-2-Clause
// Failures during the measurement by which a cuDNN convolution selects its implementation: a
// candidate that cannot run, or has not enough memory, is excluded, whereas a lack of memory for a
// graph or a lost device is an error. The tests link a stand-in for CUDA and its libraries, which
// simulates the failures; each test runs in a child process, since a failure changes the state of
// the process.
#include "kernels/convolution/convolution.hpp"
#include "kernels/draw.hpp"
#include "standin/calls.hpp"
#include "standin/costs.hpp"
#include "standin/failures.hpp"
#include "standin/in_child.hpp"
#include "sys/options/options.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>

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

// The engines of cuDNN with numbers below this get a simulated time (standin/costs.hpp).
constexpr int kEngines = 200;

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
        for (int engine = 0; engine < kEngines; ++engine)
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
    for (int engine = 0; engine < kEngines; ++engine)
      tenonStandinCost(("engine " + std::to_string(engine)).c_str(), 1e-6);
    // First products are slow (1 s), then they take no time and are selected.
    const Index ofEngines = scratchOf(16, 1);
    EXPECT_GT(scratchOf(12, 0), ofEngines);
  });
}

// The number of plans and products that a measurement executes, each of which takes a millisecond,
// but with the bias `ofBias` seconds. `text` receives the description of what was chosen.
std::uint64_t executionsWith(double ofBias, std::string* text = nullptr) {
  std::uint64_t executions = 0;
  const Measured measured = measuredAfter([&] {
    tenonStandinCost("product", 1e-3);
    for (int engine = 0; engine < kEngines; ++engine) {
      const std::string name = "engine " + std::to_string(engine);
      tenonStandinCost(name.c_str(), 1e-3);
      tenonStandinCost((name + " with a bias").c_str(), ofBias);
    }
    executions = tenonStandinCalls().libraries;
  });
  EXPECT_EQ(measured.code, TENON_SUCCESS) << measured.text;
  if (text)
    *text = measured.text;
  return tenonStandinCalls().libraries - executions;
}

// Of a kind of graphs whose first engine takes ten times as long as the others, the second and
// third engine are not tried, which would be executed twice each.
TEST(DeviceAutotuning, LeavesOutEnginesOfAKindThatIsSlow) {
  std::FILE* const file = std::tmpfile();
  for (const double ofBias : {1e-3, 1e-2})
    inChild([=] {
      const std::uint64_t executions = executionsWith(ofBias);
      std::fwrite(&executions, sizeof executions, 1, file);
      std::fflush(file);
    });
  std::uint64_t executions[2] = {};
  std::rewind(file);
  ASSERT_EQ(std::fread(executions, sizeof executions[0], 2, file), 2u);
  std::fclose(file);
  // Three engines are executed three times each; now one is, twice.
  EXPECT_EQ(executions[0] - executions[1], 7u) << executions[0];
}

// Without time only the first way of the first pass is measured.
TEST(DeviceAutotuning, EndsWithItsTime) {
  inChild([] {
    options().set("-tenon_device_plans_seconds", "0");
    std::string text;
    EXPECT_EQ(executionsWith(1e-3, &text), 3u) << text;
    EXPECT_TRUE(has(text, "not all candidates measured: the time of -tenon_device_plans_seconds"))
        << text;
  });
}

// A later run reads the times of an earlier one, and measures nothing.
TEST(DeviceAutotuning, AreReadFromAFile) {
  const std::string file = "device_plan_times." + std::to_string(getpid());
  std::remove(file.c_str());
  const auto withFile = [&](bool measures) {
    inChild([=] {
      options().set("-tenon_device_plans_file", file);
      std::string text;
      // With the bias engines are faster than without (1e-3), and are therefore selected.
      EXPECT_EQ(executionsWith(1e-4, &text) > 0, measures) << text;
      EXPECT_TRUE(has(text, " with the bias; adjoints")) << text;
    });
  };
  withFile(true);
  withFile(false);
  std::ifstream written(file);
  std::string line, another;
  EXPECT_TRUE(std::getline(written, line));
  EXPECT_FALSE(std::getline(written, another)) << another;
  // The times of other devices and libraries are not used: here the first character of the key is
  // changed, which follows the number of the format and a tab.
  std::string ofOther = line;
  ofOther.replace(2, 1, "another ");
  std::ofstream(file) << ofOther << '\n';
  withFile(true);
  // A line that was not completed is measured again, and the next one does not continue it.
  for (const std::size_t missing : {std::size_t(1), line.size() - 1}) {
    std::ofstream(file) << line.substr(0, line.size() - missing);
    withFile(true);
    withFile(false);
  }
  for (const char* wrong : {"times", "1\tkey .", "1\tkey\t12 x .", "1\tkey\t ."})
    inChild([=] {
      std::ofstream(file) << line << '\n' << wrong << '\n';
      options().set("-tenon_device_plans_file", file);
      const Measured measured = measuredAfter([] {});
      EXPECT_EQ(measured.code, TENON_ERR_FILE) << wrong;
      EXPECT_TRUE(has(measured.text, "line 2 of 'device_plan_times")) << measured.text;
    });
  inChild([] {
    options().set("-tenon_device_plans_file", "there/is/no/such/folder");
    const Measured measured = measuredAfter([] {});
    EXPECT_EQ(measured.code, TENON_ERR_FILE);
    EXPECT_TRUE(has(measured.text, "cannot write 'there/is/no/such/folder'")) << measured.text;
  });
  std::remove(file.c_str());
}

} // namespace
} // namespace tenon::test
