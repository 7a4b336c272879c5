// SPDX-License-Identifier: BSD-2-Clause
// What a measurement of the ways of a convolution takes for a way that is not there, and what for
// an error: lack of memory and a lost device.
#include "kernels/convolution/convolution.hpp"
#include "kernels/draw.hpp"
#include "standin/costs.hpp"
#include "standin/failures.hpp"
#include "standin/in_child.hpp"

#include <string>

namespace tenon::test {
namespace {

struct Measured {
  TenonErrorCode code;
  std::string says;
};

// Large enough to be measured, with a bias.
const ConvolutionShape kShape{
    .batch = 2,
    .inChannels = 12,
    .outChannels = 12,
    .window = {.rank = 2, .in = {32, 32}, .out = {30, 30}, .kernel = {3, 3}},
    .hasBias = true};

// After plan(), once the first plans are made.
template <class Plan>
Measured measuredAfter(Plan plan) {
  const auto context = std::make_shared<KernelContext>(Space::Device);
  const auto convolution = makeConvolution<float>(kShape, Backend::Auto, context);
  Autotuner& trials = *convolution->autotuner();
  plan();
  const Error error = errorOf([&] { trials.choose(trials.measure()); });
  tenonStandinFail("");
  return {error.code(),
          error.code() == TENON_SUCCESS ? convolution->implementation() : error.text()};
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

TEST(DeviceAutotuning, FailWhereThereIsNoMemoryForAGraphOrAPlan) {
  // The first lists of engines, the graph with the bias, and the first plan beside those that are
  // made.
  for (const char* which : {"graph:1", "graph:2", "graph:*", "plan:1", "plan:4"})
    inChild([=] {
      const Measured found = measuredAfter([=] { tenonStandinFail(which); });
      EXPECT_EQ(found.code, TENON_ERR_MEMORY) << which << ": " << found.says;
    });
}

TEST(DeviceAutotuning, FailWhereTheDeviceIsLost) {
  inChild([] {
    const Measured found = measuredAfter([] { tenonStandinFail("kernel:1"); });
    EXPECT_EQ(found.code, TENON_ERR_LIBRARY) << found.says;
  });
}

TEST(DeviceAutotuning, LeaveOutWaysThatCannotRun) {
  inChild([] {
    const Measured found = measuredAfter([] { tenonStandinFail("cudnnBackendExecute:*"); });
    EXPECT_EQ(found.code, TENON_SUCCESS);
    EXPECT_TRUE(has(found.says, "measured: im2col+gemm; adjoints im2col+gemm")) << found.says;
    EXPECT_FALSE(has(found.says, "not all candidates")) << found.says;
  });
}

// The products' library wants 32 MiB, and the arrays of the measurement half a megabyte.
TEST(DeviceAutotuning, SayThatAWayHadNoMemory) {
  for (const auto& [bytes, first] : {std::pair{8 << 20, "measured: engine"}, {100 << 10, "graph"}})
    inChild([bytes = bytes, first = first] {
      const Measured found = measuredAfter([=] {
        for (int engine = 0; engine < 200; ++engine)
          tenonStandinCost(("engine " + std::to_string(engine)).c_str(), 1e-3);
        tenonStandinBytes(bytes);
      });
      EXPECT_EQ(found.code, TENON_SUCCESS) << found.says;
      EXPECT_EQ(found.says.find(first), 0) << found.says;
      EXPECT_TRUE(has(found.says, "; not all candidates measured: ")) << found.says;
    });
}

} // namespace
} // namespace tenon::test
